"""What people rely on of a pass: it decides, stores first, acts only where it may, and never twice."""

import msgspec
import pytest
import time_machine

from engine.audit import Invariant, InvariantCheck
from engine.cluster.watching.listing import ReflectorSettings
from engine.model.objects import DisruptionBudget, Requirement
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards import breakers
from scheduler_admin.decisions.models import Decision, Victim
from tests.builders import ask, node, pod, queue, rewrite, tree
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_an_ask_below_its_guarantee_gets_a_pod_evicted_and_is_followed_to_its_end(
    cluster: Cluster, watch: Watch
) -> None:
    """A decision is stored, its node reserved, its victim judged and evicted, and closed when the ask is bound."""
    run(cluster, watch)
    row = preemption()
    [victim] = row.victims.all()
    assert row.state == Decision.State.WAITING
    assert watch.actuator.did == ["reserve n1 prod-0", f"judge {victim.name}", f"evict {victim.name}"]
    watch.gone(victim.name)
    watch.bound("prod-0", "n1")
    run(cluster, watch)
    row.refresh_from_db()
    assert (row.state, row.ending) == (Decision.State.CLOSED, Decision.Ending.BOUND)
    assert row.victims.get().state == Victim.State.EXITED
    assert [step.kind for step in row.steps.all()] == [
        "seen", "decided", "reserved", "evicted", "exited", "released", "closed",
    ]  # fmt: skip


def test_it_tells_what_queues_lend_of_their_guarantees(cluster: Cluster, watch: Watch) -> None:
    """Test holds two cores beyond its guarantee, which Prod is guaranteed and does not use."""
    run(cluster, watch)
    queues = ClusterStatus.objects.get().queues
    assert queues["root.prod"]["lent"] == {"cpu": 2000}
    assert "lent" not in queues["root.test"]


def test_an_open_decision_is_not_decided_again(cluster: Cluster, watch: Watch) -> None:
    """While its victims exit, an ask has one decision and its victims one eviction."""
    run(cluster, watch, times=3)
    assert Decision.objects.filter(outcome="preempt").count() == 1
    assert len(watch.actuator.evicted) == 1


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_without_enforce_the_same_decision_is_stored_and_nothing_is_done(mode: str, watch: Watch) -> None:
    """Observe and advise store what would be done, touch nothing, and hold no lease."""
    cluster = add_cluster(mode=mode)
    run(cluster, watch, times=2)
    row = preemption()
    assert (row.state, row.mode, row.count) == (Decision.State.RECORDED, mode, 2)
    assert watch.actuator.did == []
    assert watch.leading is False


def test_dry_and_live_runs_take_the_same_decision_bytes(watch: Watch) -> None:
    """The mode never changes what is decided."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False):
        run(add_cluster(mode="observe"), watch)
        noted = preemption().document
        Decision.objects.all().delete()
        Cluster.objects.update(mode="enforce")
        watch.leading = True
        run(Cluster.objects.get(), watch)
        assert preemption().document == noted


def test_an_ask_that_simply_fits_leaves_no_row(cluster: Cluster, watch: Watch) -> None:
    """Pods on their way to a node are not history."""
    watch.put(node("n2", 4))
    run(cluster, watch)
    assert not Decision.objects.exists()


def test_a_plan_that_breaks_a_law_is_stored_as_refused_and_not_carried_out(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit has the last word."""
    broken = (InvariantCheck(law=Invariant.GUARANTEE, holds=False, sums=()),)
    monkeypatch.setattr("engine.planning.scheduling_pass.Auditor.judge", lambda *_args: broken)
    run(cluster, watch, times=2)
    row = preemption()
    assert (row.state, row.ending, row.count) == (Decision.State.CLOSED, Decision.Ending.REJECTED, 2)
    assert watch.actuator.did == []


def test_a_cluster_in_which_nothing_changes_is_not_stale() -> None:
    """A kind without news gives its sign of life when its watch ends, and that is soon enough."""
    settings = ReflectorSettings()
    assert settings.watch_s + settings.idle_margin_s < breakers.STALE_S


def test_a_picture_that_is_stale_or_incomplete_is_not_acted_on(cluster: Cluster, watch: Watch) -> None:
    """No decision from what may no longer be true; the page says why and since when, and it recovers by itself."""
    watch.watcher.staleness_s = 31.0
    run(cluster, watch)
    assert not Decision.objects.exists()
    status = ClusterStatus.objects.get()
    assert status.error == "The API server has gone silent."
    assert status.error_since is not None
    watch.watcher.staleness_s = 0.1
    run(cluster, watch)
    status.refresh_from_db()
    assert status.error == ""
    assert Decision.objects.exists()


def test_a_policy_that_is_not_there_yet_is_told_on_the_page(watch: Watch) -> None:
    """A revision of another policy decides nothing and says so."""
    cluster = add_cluster(tree({"prod": queue("4")}))
    rewrite(cluster.hierarchy.revisions.all(), policy="later")
    run(cluster, watch)
    assert ClusterStatus.objects.get().error == "Unknown policy later."


def test_a_pod_with_an_endless_owner_stops_no_pass(cluster: Cluster, watch: Watch) -> None:
    """Kubernetes does not limit the name of an owner; PostgreSQL refuses what is longer than its column."""
    endless = "Job/" + "x" * 5000
    renamed = [msgspec.structs.replace(one, application_label="") for one in watch.state.pods.values()]
    watch.put([msgspec.structs.replace(one, controller=f"{endless}{one.name[:4]}") for one in renamed])
    run(cluster, watch)
    row = preemption()
    assert len(row.ask_application) == len(row.ask_controller) == 300
    assert {len(victim.application) for victim in row.victims.all()} == {300}


def test_a_decision_that_is_held_takes_nothing_from_the_asks_after_it(cluster: Cluster, watch: Watch) -> None:
    """One ask's disruption budget does not starve its neighbours: the guarantee is theirs until something is done."""
    budget = DisruptionBudget(
        namespace="ns", name="keep", allowed=0, expressions=(Requirement("tier", "In", ("kept",)),)
    )
    kept = pod("kept", queue="test", node="n2", cpu=4, labels={"tier": "kept"})
    watch.put(
        node("n2", 4),
        kept,
        budget,
        ask("prod-0", queue="prod", cpu=4, unschedulable_ms=1),
        ask("prod-1", queue="prod", unschedulable_ms=2),
    )
    watch.put([pod(f"test-{number}", queue="test", node="n1", priority=999) for number in range(3)])
    run(cluster, watch)
    first, second = Decision.objects.filter(outcome="preempt").order_by("ask_name")
    assert (first.hold, second.hold) == ("disruption-budget", "")
    assert second.state == Decision.State.WAITING
