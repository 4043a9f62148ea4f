"""What was decided is held against its laws again before anybody goes: the cluster may have changed meanwhile."""

import pytest
import time_machine

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult, OperationOutcome, Result
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.queues.services.hierarchies import publish
from tests.builders import ask, pod, queue, tree
from tests.worker.execution_scenes import first, run, victims_of
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def watch(watch: Watch) -> Watch:
    """Prod asks for two cores: two pods of Test have to go."""
    watch.put(ask("prod-0", queue="prod", cpu=2))
    return watch


def test_a_victim_that_was_held_back_is_held_against_the_laws_again(cluster: Cluster, watch: Watch) -> None:
    """Of two victims the second waits for a budget; meanwhile its queue comes down to its guarantee: it stays."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
        row = first(watch)
        taken, held = victims_of(row)
        watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
        watch.actuator.evicting[held] = EvictionResult(outcome=EvictionOutcome.HELD, budget=True, retry_after_s=10)
        run(watch)
        watch.actuator.evicting.clear()
        others = [name for name in (f"test-{number}" for number in range(4)) if name not in (taken, held)]
        watch.gone(taken, others[0])
        clock.shift(11)
        sent = len(watch.actuator.evicted)
        run(watch)
        row.refresh_from_db()
        assert (row.ending, row.steps.last().note) == (Decision.Ending.BLOCKED, "law guarantee")
        assert len(watch.actuator.evicted) == sent
        assert row.victims.get(name=held).state == Victim.State.SPARED


def test_an_intent_that_would_break_a_law_by_now_is_not_carried_out(cluster: Cluster, watch: Watch) -> None:
    """Stored, then held up: meanwhile its victims' queue came down to its guarantee."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    watch.gone(*{f"test-{number}" for number in range(4)} - set(victims_of(row)))
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    watch.put(pod("system", queue="system", node="n1", cpu=2))
    run(watch)
    row.refresh_from_db()
    assert (row.ending, row.steps.last().note) == (Decision.Ending.SUPERSEDED, "law guarantee")
    assert watch.actuator.evicted == []


def test_nobody_goes_when_others_took_the_rest_of_the_room_before_the_node_was_kept(
    cluster: Cluster, watch: Watch
) -> None:
    """One pod and a free core would have done. The ask doesn't cool down: it is decided for anew by the next pass."""
    watch.gone("test-3")
    watch.actuator.before_reserving = lambda: watch.put(pod("newcomer", queue="system", node="n1"))
    row = first(watch)
    assert len(victims_of(row)) == 1
    assert (row.ending, row.steps.last().note) == (Decision.Ending.SUPERSEDED, "law fits")
    assert watch.actuator.evicted == []
    assert "release n1" in watch.actuator.did
    watch.gone("newcomer")
    watch.actuator.before_reserving = lambda: None
    assert run(watch).state == Decision.State.WAITING


def test_nobody_goes_whom_room_that_fell_free_meanwhile_lets_stay(cluster: Cluster, watch: Watch) -> None:
    """Two pods had to go; one that is no victim ends by itself before the node is kept."""
    staying = {"test-0", "test-1", "test-2", "test-3"}

    def one_ends() -> None:
        chosen = victims_of(Decision.objects.filter(outcome="preempt").latest("pk"))
        watch.gone(min(staying - set(chosen)))

    watch.actuator.before_reserving = one_ends
    row = first(watch)
    assert (row.ending, row.steps.last().note) == (Decision.Ending.SUPERSEDED, "law minimal")
    assert watch.actuator.evicted == []


def test_an_intent_is_held_against_the_tree_of_now(cluster: Cluster, watch: Watch) -> None:
    """A fence that was published meanwhile holds for what was decided before it."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    fenced = tree({"prod": queue("4", delay_ms=1, fence=True), "test": queue("2", delay_ms=1)})
    publish(hierarchy=cluster.hierarchy, tree=fenced, author=None, reason="keep prod to itself")
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.SUPERSEDED
    assert watch.actuator.evicted == []
