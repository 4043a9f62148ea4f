"""A decision for a group is carried out whole: all nodes are kept before anybody goes, or none is."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import msgspec
import pytest
import time_machine
from django.utils import timezone

from engine.cluster.acting.outcomes import EvictionResult, OperationOutcome, PodRef, Result
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring import meters
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.sentences import evicted_in_vain
from tests.builders import ask, node, pod, pod_group, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.execution_scenes import Death, dying, first, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is acted on: Prod has a guarantee, and Test has none."""
    return add_cluster(tree({"prod": queue("6", delay_ms=1), "test": queue(delay_ms=1)}))


@pytest.fixture
def watch() -> Watch:
    """Two nodes full of pods of Test; a gang of three pods of Prod waits, two of which fit on the first node."""
    watch = Watch(
        [node("n1", 4), node("n2", 2)],
        [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)],
        pod("test-2", queue="test", node="n2", cpu=2),
        pod_group("gang", at_once=3, priority=10),
    )
    watch.put([member(number) for number in range(3)])
    return watch


def member(number: int) -> object:
    """A pending pod of the gang."""
    return ask(
        f"gang-{number}", queue="prod", cpu=2, priority=10, scheduling_group="gang", app="train", created_ms=number
    )


def told(row: Decision, kind: Step.Kind) -> list[str]:
    """What the steps of a kind note, in order."""
    return list(row.steps.filter(kind=kind).order_by("pk").values_list("note", flat=True))


def test_all_nodes_are_kept_before_the_first_pod_goes(cluster: Cluster, watch: Watch) -> None:
    """Each for its own pods: those of one node share its taint."""
    row = first(watch)
    did = watch.actuator.did
    assert [call for call in did if call.startswith("reserve")] == [
        "reserve n1 gang-0",
        "reserve n1 gang-1",
        "reserve n2 gang-2",
    ]
    assert max(map(did.index, (call for call in did if call.startswith("reserve")))) < min(
        map(did.index, (call for call in did if call.startswith("judge")))
    )
    assert watch.actuator.owners == {"n1": {"uid-gang-0"}, "n2": {"uid-gang-2"}}
    assert (row.ask_group, row.state, told(row, Step.Kind.RESERVED)) == ("gang", Decision.State.WAITING, ["n1", "n2"])
    assert sorted(watch.actuator.evicted) == ["test-0", "test-1", "test-2"]
    assert {name for name, _message in watch.actuator.said} >= {"gang-0", "gang-1", "gang-2"}


@pytest.mark.parametrize(
    ("answer", "ending"), [(OperationOutcome.TAKEN, "blocked"), (OperationOutcome.BOUND, "superseded")]
)
def test_one_node_that_cant_be_kept_frees_all(
    answer: OperationOutcome, ending: str, cluster: Cluster, watch: Watch
) -> None:
    """And nobody goes."""
    watch.actuator.reserving_on["n2"] = Result(outcome=answer, sentence="as it is")
    row = first(watch)
    assert row.ending == ending
    assert watch.actuator.evicted == []
    assert [call for call in watch.actuator.did if call.startswith("release")] == ["release n1", "release n2"]


def test_no_clear_answer_for_one_node_is_tried_again_by_the_next_pass(cluster: Cluster, watch: Watch) -> None:
    """The others stay kept meanwhile, and the sweep leaves them alone."""
    watch.actuator.reserving_on["n2"] = Result(outcome=OperationOutcome.RETRY)
    assert first(watch).state == Decision.State.PLANNED
    assert watch.actuator.swept[-1] == {"uid-gang-0", "uid-gang-2"}
    watch.actuator.reserving_on.clear()
    assert run(watch).state == Decision.State.WAITING


@pytest.mark.parametrize("call", range(9))
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_anywhere_is_continued(
    call: int, after: bool, cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before or after each of its nine calls, also between two reservations, each victim is evicted once."""
    accepted = dying(watch, monkeypatch, call=call, after=after)
    with pytest.raises(Death):
        run(watch)
    assert accepted == [] or call > 5
    run(watch, times=2)
    row = Decision.objects.get(outcome="preempt")
    assert (row.state, sorted(accepted)) == (Decision.State.WAITING, ["test-0", "test-1", "test-2"])


def test_it_has_come_about_once_enough_of_its_pods_run(cluster: Cluster, watch: Watch) -> None:
    """On their nodes; then all nodes are free again."""
    first(watch)
    watch.gone("test-0", "test-1", "test-2")
    watch.bound("gang-0", "n1")
    watch.bound("gang-1", "n1")
    assert run(watch).state == Decision.State.WAITING
    watch.bound("gang-2", "n2")
    row = run(watch)
    assert (row.state, row.ending) == (Decision.State.CLOSED, Decision.Ending.BOUND)
    assert told(row, Step.Kind.RELEASED) == ["n1", "n2"]
    assert {victim.state for victim in row.victims.all()} == {Victim.State.EXITED}


def test_a_pod_that_runs_elsewhere_ends_it(cluster: Cluster, watch: Watch) -> None:
    """Too few of the others are left."""
    first(watch)
    watch.put(node("n3", 4))
    watch.bound("gang-1", "n3")
    run(watch)
    assert Decision.objects.earliest("pk").ending == Decision.Ending.BOUND_ELSEWHERE
    assert [call for call in watch.actuator.did if call.startswith("release")] == ["release n1", "release n2"]


def test_a_pod_that_is_deleted_ends_it(cluster: Cluster, watch: Watch) -> None:
    """The group is not complete any more."""
    first(watch)
    watch.gone("gang-2")
    assert Decision.objects.get(outcome="preempt").state == Decision.State.WAITING
    run(watch)
    assert Decision.objects.earliest("pk").ending == Decision.Ending.POD_GONE


def test_a_node_that_is_lost_frees_the_others(cluster: Cluster, watch: Watch) -> None:
    """They would be kept in vain."""
    first(watch)
    del watch.state.nodes["n2"]
    row = run(watch)
    assert (row.ending, told(row, Step.Kind.CLOSED)) == (Decision.Ending.BLOCKED, ["node n2"])
    assert "release n1" in watch.actuator.did


def test_its_pods_are_not_decided_again_while_it_is_open(cluster: Cluster, watch: Watch) -> None:
    """Nor is what is kept for them given to others."""
    first(watch)
    watch.put(ask("late", queue="prod", cpu=2, priority=50))
    run(watch, times=2)
    assert Decision.objects.filter(outcome="preempt", ask_group="gang").count() == 1
    assert not Decision.objects.filter(ask_name="late", outcome="preempt").exists()


def test_a_group_of_more_nodes_than_may_be_kept_is_held(cluster: Cluster, watch: Watch) -> None:
    """And says so."""
    Cluster.objects.update(reserved_nodes=1)
    row = first(watch)
    assert (row.state, row.hold) == (Decision.State.ON_HOLD, "reserved-nodes")
    Cluster.objects.update(reserved_nodes=2)
    assert run(watch).state == Decision.State.WAITING


def test_after_it_was_in_vain_the_whole_group_cools_down(cluster: Cluster, watch: Watch) -> None:
    """Whichever of its pods is the first then."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        row = first(watch)
        clock.shift(timedelta(hours=1))
        run(watch)
        row.refresh_from_db()
        assert row.ending == Decision.Ending.TIMED_OUT
        watch.gone("gang-0")
        watch.put(member(3))
        for name in ("test-0", "test-1", "test-2"):
            watch.put(msgspec.structs.replace(watch.state.pods[f"uid-{name}"], terminating=False))
        assert (run(watch).ask_name, run(watch).hold) == ("gang-1", "cool-down")


def test_a_node_that_is_replaced_by_another_of_its_name_frees_the_others(cluster: Cluster, watch: Watch) -> None:
    """It is not kept for anybody; what the worker may not have seen yet is no sign of that."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        first(watch)
        watch.put(node("n2", 2))
        assert run(watch).state == Decision.State.WAITING
        clock.shift(timedelta(seconds=11))
        row = run(watch)
    assert (row.ending, told(row, Step.Kind.CLOSED)) == (Decision.Ending.BLOCKED, ["node n2"])
    assert "release n1" in watch.actuator.did


def test_pods_of_a_group_that_is_given_up_lose_their_nominations(cluster: Cluster, watch: Watch) -> None:
    """Each to its own node; what is gone has none."""
    first(watch)
    watch.gone("gang-2")
    run(watch)
    assert watch.actuator.withdrawn == [("gang-0", "n1"), ("gang-1", "n1")]


def test_pods_of_a_group_that_starts_keep_what_the_scheduler_says_of_them(cluster: Cluster, watch: Watch) -> None:
    first(watch)
    watch.gone("test-0", "test-1", "test-2")
    for name, at in (("gang-0", "n1"), ("gang-1", "n1"), ("gang-2", "n2")):
        watch.bound(name, at)
    run(watch)
    assert watch.actuator.withdrawn == []


def test_what_was_evicted_in_vain_is_counted(
    cluster: Cluster, watch: Watch, django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]]
) -> None:
    """Once."""
    before = in_vain()
    with django_capture_on_commit_callbacks(execute=True):
        first(watch)
        watch.gone("gang-2")
        run(watch, times=2)
    row = Decision.objects.earliest("pk")
    assert (row.failed, evicted_in_vain(row, row.victims.all()), in_vain() - before) == (True, 3, 3)


def in_vain() -> float:
    """What the metric counts."""
    return meters.REGISTRY.get_sample_value("scheduler_admin_evictions_in_vain_total", {"cluster": "east"}) or 0


def test_a_victim_that_somebody_deletes_meanwhile_is_not_counted_as_evicted(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its room is the group's, but it did not go for it; it is waited for."""
    evict = watch.actuator.evict

    def deletes(victim: PodRef, **settings: Any) -> EvictionResult:
        if victim.name != "test-2" and not settings.get("dry_run"):
            watch.put(msgspec.structs.replace(watch.state.pods["uid-test-2"], terminating=True))
        return evict(victim, **settings)

    monkeypatch.setattr(watch.actuator, "evict", deletes)
    row = first(watch)
    assert (row.state, sorted(watch.actuator.evicted)) == (Decision.State.EVICTING, ["test-0", "test-1"])
    watch.gone("test-2")
    row = run(watch)
    victim = row.victims.get(name="test-2")
    assert (row.state, victim.state, victim.evicted_at) == (Decision.State.WAITING, Victim.State.EXITED, None)
