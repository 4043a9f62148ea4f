"""What YuniKorn preempts becomes a decision, as what kube-scheduler preempts does: once, whole, followed to its end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from engine.cluster.watching.yunikorn import YuniKornReading
from engine.formats.yunikorn.rest import read_queues
from engine.model.objects import Pod, Preempted
from engine.observation.evictions import decode
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, queue, tree
from tests.cluster.yunikorn import queue as wire
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("4"), "b": queue("2"), "c": queue()})


def says(watch: Watch, victim: str, *, ago: float = 5, **about: Any) -> None:
    """YuniKorn's word on a victim: for web of tenant-1, unless something else is said."""
    at_ms = int((datetime.now(UTC) - timedelta(seconds=ago)).timestamp() * 1000)
    told = about or {"ask_uid": "uid-web", "ask_application": "app-web", "ask_queue": "root.tenant-1.a"}
    event = Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=at_ms, **told)
    watch.state.yunikorn[f"event-{victim}"] = event


def running(name: str, on: str = "n1", **settings: Any) -> Pod:
    return pod(name, node=on, scheduler="yunikorn", **settings)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def watch() -> Watch:
    """YuniKorn schedules here: one core of n1 and one of n2 are to go for web."""
    web = ask("web", queue="tenant-1.a", cpu=2, app="app-web", scheduler="yunikorn")
    pods = [running("b-0", queue="b"), running("b-1", "n2", queue="b"), running("b-2", queue="b")]
    watch = Watch(node("n1", 2), node("n2", 2), pods, web)
    watch.put(running("b-0", queue="b", terminating=True), running("b-1", "n2", queue="b", terminating=True))
    return watch


def observed() -> Decision:
    """The one decision that is not the engine's."""
    return Decision.objects.exclude(source="engine").get()


def test_a_preemption_by_yunikorn_is_a_decision(cluster: Cluster, watch: Watch):
    """Ask, victims wherever they ran, and what of the tree it went against."""
    says(watch, "b-0")
    says(watch, "b-1")
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.source, row.outcome, row.reason, row.node) == ("yunikorn", "preempt", "yunikorn", "")
    assert (row.ask_name, row.ask_queue, row.ask_application) == ("web", "root.tenant-1.a", "app-web")
    assert [(one.name, one.node, one.state) for one in row.victims.all()] == [
        ("b-0", "n1", "evicted"),
        ("b-1", "n2", "evicted"),
    ]
    assert row.detail == "fence guarantee"


def test_it_is_recorded_once_and_a_late_word_on_another_victim_joins_it(cluster: Cluster, watch: Watch):
    """Though that one ran elsewhere."""
    says(watch, "b-0")
    run_pass(cluster=cluster, watch=watch)
    assert observed().node == "n1"
    says(watch, "b-1")
    for _ in range(2):
        watch.settled.clear()
        run_pass(cluster=cluster, watch=watch)
    assert (observed().node, [one.name for one in observed().victims.all()]) == ("", ["b-0", "b-1"])


def test_it_is_followed_to_its_end(cluster: Cluster, watch: Watch):
    """Its victims exit, its ask is bound."""
    says(watch, "b-0")
    says(watch, "b-1")
    run_pass(cluster=cluster, watch=watch)
    watch.gone("b-0", "b-1")
    watch.bound("web", "n2")
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", "bound")


def test_what_goes_for_a_lowered_max_is_a_decision_without_an_ask(cluster: Cluster, watch: Watch):
    """Each queue's is one of its own, closed once its victims have gone."""
    says(watch, "b-0", over_max="root.b")
    says(watch, "b-1", over_max="root.b")
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.ask_name, row.ask_queue, row.reason, row.victims.count()) == ("", "", "lowered-max", 2)
    assert decode(row.document).over_max == "root.b"
    watch.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", "")


def test_two_lowered_maxes_at_once_are_two_decisions(cluster: Cluster, watch: Watch):
    """Also where the second is heard of a pass later."""
    says(watch, "b-0", over_max="root.b")
    run_pass(cluster=cluster, watch=watch)
    says(watch, "b-1", over_max="root")
    run_pass(cluster=cluster, watch=watch)
    rows = Decision.objects.exclude(source="engine").order_by("pk")
    assert [decode(row.document).over_max for row in rows] == ["root.b", "root"]


def reading(at_ms: int, guaranteed: int) -> YuniKornReading:
    """What YuniKorn says of c, which has no guarantee here."""
    said = wire("root", wire("root.c", guaranteedResource={"vcore": guaranteed}))
    return YuniKornReading(at_ms, read_queues(msgspec.json.encode(said)))


def test_where_its_figures_differ_is_kept_until_it_is_asked_again(cluster: Cluster, watch: Watch):
    """Held against ours of the pass that first had them: usage moves on, and what it said does not."""
    watch.yunikorn = reading(1_767_268_800_000, 3_000)
    run_pass(cluster=cluster, watch=watch)
    status = ClusterStatus.objects.get()
    assert status.yunikorn_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    told = {"queue": "root.c", "aspect": "guaranteed", "resource": "cpu", "ours": "", "theirs": "3"}
    assert told in status.yunikorn_differs
    news = status.news
    watch.gone("b-2")
    run_pass(cluster=cluster, watch=watch)
    status.refresh_from_db()
    assert told in status.yunikorn_differs
    watch.yunikorn = reading(1_767_268_830_000, 0)
    run_pass(cluster=cluster, watch=watch)
    status.refresh_from_db()
    assert told not in status.yunikorn_differs
    assert status.news > news
    watch.yunikorn = None
    run_pass(cluster=cluster, watch=watch)
    status.refresh_from_db()
    assert (status.yunikorn_at, status.yunikorn_differs) == (None, [])


def test_a_long_list_of_differences_is_kept_short(cluster: Cluster, watch: Watch):
    """It is for people to read."""
    many = wire("root", *(wire(f"root.q{number}") for number in range(300)))
    watch.yunikorn = YuniKornReading(1, read_queues(msgspec.json.encode(many)))
    run_pass(cluster=cluster, watch=watch)
    assert len(ClusterStatus.objects.get().yunikorn_differs) == 200
