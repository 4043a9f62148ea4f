"""The room that is made for an ask is its own until it runs there: from the first of several victims to the last."""

from collections.abc import Iterator

import pytest
import time_machine
from django.utils import timezone

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.model.decision import NodeReason
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.decisions import read
from tests.builders import ask, daemonset_ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.execution_scenes import first, run, victims_of
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
GRACES_S = (60, 300, 600, 30)
"""Of the four pods of Test on n1, which take their time."""


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A moment that moves only when told to."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def cluster(db: None, clock: time_machine.Traveller) -> Cluster:
    """Prod is promised all that there is."""
    return add_cluster(tree({"prod": queue("12", delay_ms=1), "test": queue("1", delay_ms=1)}))


@pytest.fixture
def watch() -> Watch:
    """Prod wants three of the four cores of n1, so three pods of Test have to go."""
    running = [
        pod(f"test-{number}", queue="test", node="n1", app="test", grace_s=grace_s)
        for number, grace_s in enumerate(GRACES_S)
    ]
    return Watch(node("n1", 4), running, ask("prod-0", queue="prod", cpu=3))


def full_node(name: str) -> list[object]:
    """A node that another pod of Test fills."""
    return [node(name, 1), pod(f"test-{name}", queue="test", node=name, app="test")]


def of(asker: str) -> Decision:
    """What was decided last for an ask."""
    return Decision.objects.filter(ask_name=asker).latest("pk")


def passed_over(row: Decision) -> dict[str, NodeReason]:
    """The nodes that a decision tells of, and why they were passed over."""
    decision = read(row)
    assert decision is not None
    return {verdict.node: verdict.reason for verdict in decision.trace.nodes}


def test_nothing_else_is_placed_or_made_room_for_there_until_all_victims_are_gone_and_the_ask_runs(
    cluster: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """Whoever comes meanwhile is told that the node is reserved, though more and more of it is free."""
    row = first(watch)
    leaving = victims_of(row)
    assert len(leaving) == 3
    watch.put(ask("prod-1", queue="prod"), daemonset_ask("prod-2", on="n1", queue="prod"))
    watch.put(ask("low", queue="prod", priority=-5))
    for name in [*leaving, ""]:
        run(watch)
        others = [of("prod-1"), of("prod-2"), of("low")]
        assert [other.outcome for other in others] == ["no-candidate"] * 3
        assert [passed_over(other) for other in others] == [{"n1": NodeReason.RESERVED}] * 3
        clock.shift(60)
        if name:
            watch.gone(name)
    row.refresh_from_db()
    assert row.state == Decision.State.WAITING
    assert watch.actuator.evicted == leaving
    assert "release n1" not in watch.actuator.did
    watch.bound("prod-0", "n1")
    run(watch)
    row.refresh_from_db()
    assert (row.ending, watch.actuator.did[-1]) == (Decision.Ending.BOUND, "release n1")


def test_another_ask_gets_other_room_meanwhile(cluster: Cluster, watch: Watch) -> None:
    """A node beside it is neither kept nor counted on."""
    run(watch)
    watch.put(full_node("n2"), ask("prod-1", queue="prod"))
    run(watch)
    assert (of("prod-1").node, victims_of(of("prod-1"))) == ("n2", ["test-n2"])
    assert [call for call in watch.actuator.did if call.startswith("reserve")] == [
        "reserve n1 prod-0",
        "reserve n2 prod-1",
    ]


def test_what_is_free_elsewhere_is_no_reason_to_touch_the_kept_node(cluster: Cluster, watch: Watch) -> None:
    """The next ask fits there, and nobody goes for it."""
    run(watch)
    evicted = list(watch.actuator.evicted)
    watch.put(node("n2", 1), ask("prod-1", queue="prod"))
    run(watch)
    assert not Decision.objects.filter(ask_name="prod-1").exists(), "it is simply on its way"
    assert watch.actuator.evicted == evicted


@pytest.mark.parametrize("ending", ["pod-gone", "bound-elsewhere", "timed-out", "capacity-taken"])
def test_once_it_ends_the_room_is_for_everybody(
    ending: str, cluster: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """The ask is gone, runs elsewhere, or its time is over: with victims left, or with all of them gone."""
    row = first(watch)
    names = victims_of(row)
    watch.gone(*(names if ending == "capacity-taken" else names[:2]))
    watch.put(ask("prod-1", queue="prod", cpu=2))
    match ending:
        case "pod-gone":
            watch.gone("prod-0")
        case "bound-elsewhere":
            watch.put(node("n9", 3))
            watch.bound("prod-0", "n9")
        case _:
            clock.shift(max(GRACES_S) + cluster.bind_margin_s + 1)
    run(watch)
    row.refresh_from_db()
    assert row.ending == ending
    assert watch.actuator.did[-1] == "release n1"
    assert not Decision.objects.filter(ask_name="prod-1", outcome="preempt").exists(), "two cores of n1 are free"


def test_a_victim_that_was_held_back_has_its_own_grace_all_the_same(
    cluster: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """A disruption budget lets it go late; those before it would have gone in vain if the node were given back then."""
    held = EvictionResult(outcome=EvictionOutcome.HELD, retry_after_s=1, budget=True)
    watch.actuator.evicting["test-2"] = held
    row = first(watch)
    clock.shift(max(GRACES_S))
    watch.actuator.evicting.clear()
    run(watch)
    watch.gone(*(name for name in victims_of(row) if name != "test-2"))
    clock.shift(max(GRACES_S))
    run(watch)
    row.refresh_from_db()
    assert row.state == Decision.State.WAITING
    assert watch.actuator.terms.until_ms == int(row.deadline.timestamp() * 1000)
    watch.gone("test-2")
    watch.bound("prod-0", "n1")
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.BOUND


def test_a_node_is_kept_for_a_decision_that_a_restored_database_does_not_know(cluster: Cluster, watch: Watch) -> None:
    """While its ask waits; not where its decision is known to have ended, nor for an ask that is gone."""
    uid = run(watch).ask_uid
    forgotten = watch.actuator.forgotten
    Decision.objects.all().delete()
    assert forgotten({uid, "gone"}) == {uid}
    ended = {"cluster": cluster, "ask_uid": uid, "state": "closed", "outcome": "preempt"}
    now = timezone.now()
    Decision.objects.create(**ended, ending="rejected", first_seen=now, last_seen=now)
    assert forgotten({uid}) == {uid}
    Decision.objects.create(**ended, ending="timed-out", first_seen=now, last_seen=now)
    assert forgotten({uid}) == set()
