"""A tree under policy priority is carried out like any other, and told in its own words."""

from datetime import timedelta

import pytest
import time_machine

from engine.model.decision import decode
from engine.model.objects import DisruptionBudget, Requirement
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import Pass
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests.builders import ask, node, pod
from tests.worker.conftest import TREE
from tests.worker.execution_scenes import first, run, victims_of
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is acted on by priority alone."""
    hierarchy = Hierarchy.objects.create(name="main")
    terms = Terms(policy="priority", dialect="kube-scheduler")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=terms)
    hierarchy.refresh_from_db()
    return Cluster.objects.create(name="east", hierarchy=hierarchy, mode="enforce")


def full(*pods: object, cpu: int = 2) -> Watch:
    """A full node, and an ask of the higher priority 500 for two of its cores, or more."""
    return Watch(node("n1", 4), *pods, ask("urgent", queue="prod", cpu=cpu, priority=500))


def leaving_and_running() -> Watch:
    """Of two victims one is on its way out, and only the other has to be told."""
    return full(
        pod("leaving", queue="test", node="n1", cpu=1, priority=1, terminating=True, labels={"app": "leaving"}),
        pod("running", queue="test", node="n1", cpu=3, priority=1),
        cpu=4,
    )


def test_the_least_important_pods_are_evicted_whatever_the_guarantees_say(cluster: Cluster) -> None:
    """Test is at its guarantee, yet its pods go; those of higher priority stay."""
    watch = full(
        *(pod(f"low-{number}", queue="test", node="n1", priority=number) for number in range(2)),
        *(pod(f"high-{number}", queue="prod", node="n1", priority=900) for number in range(2)),
    )
    row = first(watch)
    assert sorted(victims_of(row)) == ["low-0", "low-1"]
    assert sorted(watch.actuator.evicted) == ["low-0", "low-1"]
    assert all(check["holds"] for check in row.laws)


def test_what_is_told_speaks_of_priorities(cluster: Cluster) -> None:
    """No word of guarantees, which played no part."""
    watch = full(pod("low", queue="test", node="n1", cpu=4, priority=1))
    run(watch)
    told = " ".join(message for _, message in watch.actuator.said)
    assert "to make room for a pod with a higher priority than its 1." in told
    assert "guarantee" not in told


def test_a_victim_that_is_on_its_way_out_is_not_told_twice(cluster: Cluster) -> None:
    """It counts for the room that is waited for, and gets no second eviction."""
    watch = leaving_and_running()
    row = first(watch)
    assert [one.pod.name for one in decode(row.document).victims] == ["leaving", "running"]
    assert watch.actuator.evicted == ["running"]
    assert row.state == Decision.State.WAITING
    assert victims_of(row) == ["running"]


def test_while_a_victim_leaves_a_decision_is_one_row_and_not_one_for_each_pass(cluster: Cluster) -> None:
    """What is only shown, pass after pass, does not fill the history."""
    Cluster.objects.update(mode="observe")
    row = run(leaving_and_running(), times=3)
    assert (Decision.objects.count(), row.count) == (1, 3)


def test_only_those_that_are_told_to_go_count_as_evictions(cluster: Cluster) -> None:
    """Neither is a limit reached by a pod that leaves by itself, nor does a pass count it."""
    Cluster.objects.update(evictions_per_pass=1)
    watch = leaving_and_running()
    covering = (Requirement("app", "In", ("leaving",)),)
    watch.put(DisruptionBudget(namespace="ns", name="nobody", expressions=covering, allowed=0))
    row = first(watch)
    assert (row.hold, watch.actuator.evicted) == ("", ["running"])
    assert Pass.objects.get().evictions == 1


def all_leaving() -> Watch:
    """Room comes by itself, and is kept for the ask."""
    return full(pod("leaving", queue="test", node="n1", cpu=4, priority=1, terminating=True))


def test_where_all_leave_already_the_room_is_kept_and_nobody_evicted(cluster: Cluster) -> None:
    """And nothing that is told speaks of evictions."""
    watch = all_leaving()
    row = first(watch)
    assert row.state == Decision.State.WAITING
    assert watch.actuator.evicted == []
    assert [told.partition(". ")[0] for _, told in watch.actuator.said] == [
        "Terminating pods already make room for urgent on n1, so no pod is evicted for it"
    ]


def test_where_nobody_would_be_evicted_advice_says_nothing(cluster: Cluster) -> None:
    """No room could be made that is not made anyway."""
    Cluster.objects.update(mode="advise", publish=True)
    watch = all_leaving()
    run(watch)
    assert watch.actuator.said == []


@pytest.mark.parametrize(("stays", "ending"), [(True, "timed-out"), (False, "capacity-taken")])
def test_the_room_was_taken_only_if_all_have_left(cluster: Cluster, stays: bool, ending: str) -> None:
    """Past the deadline a pod that hangs is told from room that others took."""
    watch = all_leaving()
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        row = first(watch)
        if not stays:
            watch.gone("leaving")
        clock.shift(timedelta(days=1))
        run(watch)
    row.refresh_from_db()
    assert row.ending == ending
