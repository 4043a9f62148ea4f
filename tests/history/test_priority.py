"""A tree under policy priority is carried out like any other, and told in its own words."""

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services import Terms, publish
from tests.builders import ask, node, pod
from tests.history.carried import first, run, victims_of
from tests.history.conftest import TREE
from tests.history.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is acted on by priority alone."""
    hierarchy = Hierarchy.objects.create(name="main")
    terms = Terms(policy="priority", dialect="kube-scheduler")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=terms)
    hierarchy.refresh_from_db()
    return Cluster.objects.create(name="east", hierarchy=hierarchy, mode="enforce")


def full(*pods: object) -> Watch:
    """A full node, and an ask of the higher priority 500 for two of its cores."""
    return Watch(node("n1", 4), *pods, ask("urgent", queue="prod", cpu=2, priority=500))


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
    assert "as a pod of the higher priority 500 needs the room" in told
    assert "guarantee" not in told


def test_a_victim_that_is_on_its_way_out_is_not_told_twice(cluster: Cluster) -> None:
    """It counts for the room that is waited for, and gets no second eviction."""
    watch = full(
        pod("leaving", queue="test", node="n1", cpu=1, priority=1, terminating=True),
        pod("running", queue="test", node="n1", cpu=3, priority=1),
    )
    row = first(watch)
    assert watch.actuator.evicted == ["running"]
    assert row.state == Decision.State.WAITING
    assert victims_of(row) == ["running"]
