"""Stale or sick input: nothing is evicted, it is told once, and it goes on by itself."""

from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.utils import timezone

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult, OperationOutcome, PodRef, Result
from engine.model.decision import Interlock
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.breakers import Writes, open_breakers
from scheduler_admin.clusters.safeguards.holds import holds_of
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import passes, tasks
from tests.builders import ask, node, pod
from tests.worker.watch import Watch, Watcher


def run(watch: Watch, times: int = 1) -> None:
    """Passes over the cluster as it now stands in the database."""
    for _ in range(times):
        passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)


def alerts() -> list[str]:
    """What was told, oldest first."""
    return [event.verb for event in AuditEvent.objects.filter(actor_name="engine").order_by("pk")]


def _not_ready(watch: Watch, sick: bool) -> None:
    found = [msgspec.structs.replace(one, ready=not (sick and one.name != "n1")) for one in watch.state.nodes.values()]
    watch.put(found)


def _gap(watch: Watch, sick: bool) -> None:
    watch.watcher.gap_s = 10.5 if sick else 0.0


def _skew(watch: Watch, sick: bool) -> None:
    watch.watcher.clock_skew_s = -31.0 if sick else 0.4


FAULTS: dict[str, Callable[[Watch, bool], None]] = {
    "nodes-not-ready": _not_ready,
    "watch-gap": _gap,
    "clock-skew": _skew,
}


@pytest.fixture
def watch(watch: Watch) -> Watch:
    """Two nodes more, so that most can be lost; Prod asks for two cores."""
    watch.put(node("n2", 1), pod("a", queue="test", node="n2"), node("n3", 1), pod("b", queue="test", node="n3"))
    watch.put(ask("prod-0", queue="prod", cpu=2))
    return watch


@pytest.mark.django_db
def test_nothing_is_done_to_another_cluster_in_place_of_ours(cluster: Cluster, watch: Watch) -> None:
    """Nothing is decided of what is there either; the page says why, and its lease is not held."""
    watch.watcher.stranger = "This is another cluster."
    run(watch, times=3)
    assert watch.actuator.did == []
    assert not watch.leading
    assert not Decision.objects.exists()
    assert ClusterStatus.objects.get().error == "This is another cluster."
    assert alerts() == ["cluster.unreadable"]
    watch.watcher.stranger, watch.leading = "", True
    run(watch)
    assert len(watch.actuator.evicted) == 2


@pytest.mark.django_db
def test_an_eviction_is_not_sent_once_the_api_server_is_another_clusters(cluster: Cluster, watch: Watch) -> None:
    """Found out in the middle of a decision: at most the one under way is sent."""
    real = watch.actuator.evict

    def evict(victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        watch.watcher.stranger = "" if dry_run else "This is another cluster."
        return real(victim, dry_run=dry_run, again=again)

    watch.actuator.evict = evict
    run(watch, times=3)
    assert len(watch.actuator.evicted) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_holds_every_decision_is_told_once_and_recovers_alone(
    fault: str, cluster: Cluster, watch: Watch
) -> None:
    """However many passes it lasts: no eviction, one alert, the page says why; then it goes on without anybody."""
    FAULTS[fault](watch, True)
    run(watch, times=5)
    assert watch.actuator.did == []
    assert Decision.objects.get(outcome="preempt").hold == fault
    (hold,) = holds_of(ClusterStatus.objects.get())
    assert (hold.interlock, hold.decisions) == (fault, 1)
    assert alerts() == ["breaker.open"]
    FAULTS[fault](watch, False)
    run(watch, times=2)
    assert len(watch.actuator.evicted) == 2
    assert alerts() == ["breaker.open", "breaker.close"]
    assert holds_of(ClusterStatus.objects.get()) == []


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [*FAULTS, "stale"])
def test_a_fault_in_the_middle_stops_before_the_next_eviction(fault: str, cluster: Cluster, watch: Watch) -> None:
    """What was begun waits where it is."""
    evict = watch.actuator.evict

    def failing(victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        if not dry_run:
            FAULTS.get(fault, _silent)(watch, True)
        return evict(victim, dry_run=dry_run, again=again)

    watch.actuator.evict = failing  # type: ignore[method-assign]
    run(watch, times=2)
    assert len(watch.actuator.evicted) == 1


def _silent(watch: Watch, sick: bool) -> None:
    watch.watcher.staleness_s = 31.0 if sick else 0.1


@pytest.mark.django_db
def test_a_cluster_that_falls_silent_is_told_once_too(cluster: Cluster, watch: Watch) -> None:
    """And that it is heard of again; that a worker begins to read is no alarm."""
    watch.watcher.synced = False
    run(watch, times=2)
    watch.watcher.synced = True
    run(watch)
    assert alerts() == []
    _silent(watch, True)
    run(watch, times=3)
    _silent(watch, False)
    run(watch, times=3)
    assert alerts() == ["cluster.unreadable", "cluster.readable"]


@pytest.mark.django_db
def test_passes_that_no_longer_begin_are_told_once_by_the_other_worker(cluster: Cluster, watch: Watch) -> None:
    """Not while they are on time, whatever they find; the next one takes it back."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        run(watch)
        clock.shift(30)
        tasks.check_heartbeats()
        assert alerts() == []
        for _ in range(3):
            clock.shift(1)
            tasks.check_heartbeats()
        assert alerts() == ["cluster.unreadable"]
        assert "stands still" in ClusterStatus.objects.get().error
        run(watch)
        tasks.check_heartbeats()
    assert alerts() == ["cluster.unreadable", "cluster.readable"]


@pytest.mark.django_db
def test_a_cluster_that_no_pass_ever_began_for_is_told_too(cluster: Cluster) -> None:
    """Once it has had the time; one without a tree has no passes."""
    tasks.check_heartbeats()
    assert alerts() == []
    Cluster.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    Cluster.objects.create(name="bare", created_at=timezone.now() - timedelta(minutes=1))
    tasks.check_heartbeats()
    assert alerts() == ["cluster.unreadable"]


@pytest.mark.django_db
def test_in_observe_no_breaker_alarms_anybody(cluster: Cluster, watch: Watch) -> None:
    """Where we do nothing there is nothing to hold back."""
    Cluster.objects.update(mode="observe")
    _not_ready(watch, True)
    run(watch)
    assert alerts() == []
    assert Decision.objects.get(outcome="preempt").hold == ""


@pytest.mark.parametrize(("sick", "nodes", "opens"), [(9, 20, False), (10, 20, True), (1, 2, True), (0, 0, False)])
def test_more_than_45_percent_of_nodes_not_ready(sick: int, nodes: int, opens: bool) -> None:
    """Just 45 % are still well."""
    found = [node(f"n{number}", ready=number >= sick) for number in range(nodes)]
    names = [hold.interlock for hold in open_breakers(Watcher(Watch().state).health(), found, Writes())]
    assert names == ([Interlock.NODES_NOT_READY] if opens else [])


@pytest.mark.parametrize(("skew", "opens"), [(30.0, False), (30.5, True), (-30.0, False), (-30.5, True), (None, False)])
def test_clocks_half_a_minute_apart(skew: float | None, opens: bool) -> None:
    """Either way; what is not known is no fault."""
    watcher = Watcher(Watch().state)
    watcher.clock_skew_s = skew
    assert bool(open_breakers(watcher.health(), [], Writes())) is opens


class Steady:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_writes_fail_from_five_failures_on_that_are_more_than_half() -> None:
    """A few that fail among many are none of it."""
    writes = Writes(Steady())
    for outcome in [OperationOutcome.DONE] * 4 + [EvictionOutcome.RETRY] * 4:
        writes.note(outcome)
    assert not writes.failing
    writes.note(EvictionOutcome.REFUSED)
    assert writes.failing
    assert writes.figures == {"failed": 5, "requests": 9}


def test_a_reservation_that_is_refused_is_enough() -> None:
    """Without that right nothing can come of any decision; the next success shows that it is back."""
    writes = Writes(Steady())
    writes.note(OperationOutcome.DONE)
    writes.note(OperationOutcome.REFUSED)
    assert writes.failing
    writes.note(EvictionOutcome.RETRY)
    assert writes.failing
    writes.note(OperationOutcome.DONE)
    assert not writes.failing


def test_answers_that_say_no_are_no_failures() -> None:
    """A disruption budget, or a pod that has gone, shows a server in good health."""
    writes = Writes(Steady())
    for outcome in [EvictionOutcome.HELD, EvictionOutcome.GONE, EvictionOutcome.BLOCKED, OperationOutcome.TAKEN] * 5:
        writes.note(outcome)
    assert writes.figures == {"failed": 0, "requests": 20}


def test_after_a_minute_one_may_try_and_its_success_is_enough() -> None:
    """Another failure makes it wait for a minute more."""
    clock = Steady()
    writes = Writes(clock)
    for _ in range(5):
        writes.note(EvictionOutcome.RETRY)
    assert not writes.may_try
    clock.now += 60
    assert writes.may_try
    writes.note(EvictionOutcome.RETRY)
    assert not writes.may_try
    clock.now += 60
    writes.note(EvictionOutcome.ACCEPTED)
    assert not writes.failing


def test_what_failed_long_ago_is_forgotten() -> None:
    """Without any request for five minutes it closes by itself."""
    clock = Steady()
    writes = Writes(clock)
    for _ in range(5):
        writes.note(EvictionOutcome.RETRY)
    clock.now += 300
    assert not writes.failing


@pytest.mark.django_db
def test_a_server_that_does_nothing_for_us_is_left_alone_and_tried_again(cluster: Cluster, watch: Watch) -> None:
    """After five failures one request a minute; once it works all goes on."""
    clock = Steady()
    watch.writes = Writes(clock)
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as wall:
        for _ in range(40):
            run(watch)
            wall.shift(timedelta(seconds=3))
            clock.now += 3
    tried = [call for call in watch.actuator.did if call.startswith("reserve")]
    assert len(tried) == 6  # five, and a minute later one
    assert alerts() == ["breaker.open"]
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    clock.now += 60
    run(watch, times=2)
    assert len(watch.actuator.evicted) == 2
    assert alerts() == ["breaker.open", "breaker.close"]


@pytest.mark.django_db
def test_a_trial_is_one_decision(cluster: Cluster, watch: Watch) -> None:
    """Of two asks one tries; the other is held back until that went well."""
    clock = Steady()
    watch.writes = Writes(clock)
    watch.put(ask("prod-1", queue="prod", cpu=1), node("n4", 1), pod("c", queue="test", node="n4"))
    for _ in range(5):
        watch.writes.note(EvictionOutcome.RETRY)
    clock.now += 60
    run(watch)
    assert sorted(Decision.objects.filter(outcome="preempt").values_list("hold", flat=True)) == ["", "failing-writes"]
