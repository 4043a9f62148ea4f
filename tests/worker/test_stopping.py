"""Whoever stops evictions in the middle of a hundred sees at most one more."""

from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta

import pytest
import time_machine

from engine.cluster.acting.outcomes import EvictionResult, PodRef
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.services.hierarchies import publish
from scheduler_admin.worker import passes
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

MANY = 30
BEGUN = datetime.fromisoformat("2026-01-05T11:59:00+00:00")
TREE = tree({"prod": queue("100", delay_ms=1), "lab.test": queue(delay_ms=1)})
Clock = time_machine.Traveller


@pytest.fixture
def clock() -> Iterator[Clock]:
    """A minute before noon, on a Monday."""
    with time_machine.travel(BEGUN, tick=False) as found:
        yield found


@pytest.fixture
def cluster(db: None, clock: Clock) -> Cluster:
    """Budgets as wide as can be."""
    fields = ("pass", "minute", "queue", "namespace", "node")
    return add_cluster(TREE, **{f"evictions_per_{field}": MANY for field in fields})


@pytest.fixture
def watch() -> Watch:
    """One ask of Prod for which a hundred pods of Test have to go."""
    pods = [pod(f"test-{number}", queue="lab.test", node="n1", app="test") for number in range(MANY)]
    return Watch(node("n1", MANY), pods, ask("prod-0", queue="prod", cpu=MANY))


def run(watch: Watch) -> None:
    """One pass over the cluster as it now stands in the database."""
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)


def _window(cluster: Cluster, kind: str, begins: time, ends: time, at: str = "") -> None:
    settings = {"queue": at, "weekdays": list(WEEKDAYS), "zone": "UTC", "reason": "peak", "by": "olga"}
    Window.objects.create(cluster=cluster, kind=kind, begins=begins, ends=ends, **settings)


STOPS: dict[str, Callable[[Cluster, Clock], object]] = {
    "all clusters paused": lambda _, __: pause(cluster=None, actor=None, reason="incident"),
    "the cluster paused": lambda cluster, _: pause(cluster=cluster, actor=None, reason="incident"),
    "the ask's queue paused": lambda cluster, _: pause(
        cluster=cluster, actor=None, reason="incident", queue="root.prod"
    ),
    "a queue above the victims' paused": lambda cluster, _: pause(
        cluster=cluster, actor=None, reason="incident", queue="root.lab"
    ),
    "a deny window put in": lambda cluster, _: _window(cluster, "deny", time(11), time(13)),
    "an allow window put in for another time": lambda cluster, _: _window(
        cluster, "allow", time(1), time(2), "root.lab"
    ),
    "a deny window that begins": lambda _, clock: clock.shift(timedelta(minutes=1)),
    "enforce limited to another part": lambda _, __: Cluster.objects.update(enforce_queues=["root.prod"]),
    "the mode": lambda _, __: Cluster.objects.update(mode="advise"),
}


@pytest.mark.parametrize("how", STOPS)
def test_at_most_one_more_goes_also_after_a_restart(cluster: Cluster, watch: Watch, clock: Clock, how: str) -> None:
    """Flipped while half of them are sent: the one on its way may go, no other, whoever takes over."""
    if how == "a deny window that begins":
        _window(cluster, "deny", time(12), time(13))
    evict = watch.actuator.evict

    def flipping(victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        result = evict(victim, dry_run=dry_run, again=again)
        if len(watch.actuator.evicted) == MANY // 2:
            STOPS[how](cluster, clock)
        return result

    watch.actuator.evict = flipping  # type: ignore[method-assign]
    run(watch)
    assert len(watch.actuator.evicted) == MANY // 2
    restarted = Watch(list(watch.state.nodes.values()), list(watch.state.pods.values()))
    run(restarted)
    assert restarted.actuator.evicted == []


def test_what_was_stopped_goes_on_from_where_it_was(cluster: Cluster, watch: Watch) -> None:
    """Paused before the first eviction and resumed: each pod is evicted once."""
    pause(cluster=cluster, queue="root.lab", actor=None, reason="a look")
    run(watch)
    assert Decision.objects.get(outcome="preempt").hold == "queue-paused"
    Pause.objects.all().delete()
    run(watch)
    assert sorted(watch.actuator.evicted) == sorted(f"test-{number}" for number in range(MANY))


def test_a_pause_of_another_queue_holds_nothing_up(cluster: Cluster, watch: Watch) -> None:
    """Only its own subtree stands still."""
    fenced = tree({"prod": queue("100", delay_ms=1), "lab.test": queue(delay_ms=1), "lab.tests": queue()})
    publish(hierarchy=cluster.hierarchy, tree=fenced, author=None, reason="a third queue")
    cluster.refresh_from_db()
    pause(cluster=cluster, queue="root.lab.tests", actor=None, reason="a look")
    run(watch)
    assert len(watch.actuator.evicted) == MANY
