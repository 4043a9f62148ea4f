"""Nodes with their pods as passes store them: a row for each, written where it became another one."""

from typing import Any

import msgspec
import pytest
from django.db import transaction

from engine.model.objects import Node, Pod, Taint
from engine.model.snapshot.node_listing import ListedNode
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.nodes import services
from scheduler_admin.nodes.models import NodePods
from scheduler_admin.worker import passes
from scheduler_admin.worker.cluster_removal import remove_cluster
from tests.builders import ask, node, pod
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is only watched."""
    return add_cluster(mode="observe")


def run(watch: Watch) -> None:
    """A pass."""
    Cluster.objects.update(owned_until=None)
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)  # type: ignore[arg-type]


def rows() -> dict[str, NodePods]:
    """Name -> row of each node."""
    return {row.name: row for row in NodePods.objects.nodes()}


def facts(name: str) -> ListedNode:
    """What is stored of a node."""
    return msgspec.json.decode(rows()[name].facts, type=ListedNode)


def names(name: str) -> list[str]:
    """The pods that are stored of a node."""
    return [one.name for one in services.pods_in(rows()[name].pods)]


def two() -> Watch:
    """Two nodes, one with two pods."""
    return Watch(node("n1", 4), node("n2", 4), pod("a", queue="prod", node="n1"), pod("b", queue="prod", node="n1"))


def change(watch: Watch, name: str, **facts: Any) -> None:
    """Something becomes of a pod."""
    found: Pod = next(one for one in watch.state.pods.values() if one.name == name)
    watch.state.pods[found.uid] = msgspec.structs.replace(found, **facts)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all rows that are written from here on."""
    found: list[str] = []
    write = services.write

    def noting(cluster: Cluster, some: list[NodePods], gone: Any) -> str:
        found.extend(row.name for row in some)
        return write(cluster, some, gone)

    monkeypatch.setattr(services, "write", noting)
    return found


@pytest.mark.usefixtures("cluster")
def test_a_pass_stores_every_node_with_its_pods() -> None:
    """Also the one that is empty."""
    run(two())
    assert {name: names(name) for name in rows()} == {"n1": ["a", "b"], "n2": []}
    assert (facts("n1").used["cpu"], facts("n1").allocatable["cpu"], facts("n1").pods) == (2000, 4000, 2)


@pytest.mark.usefixtures("cluster")
def test_nothing_is_written_where_nothing_changed(written: list[str]) -> None:
    """And then only the node where something did."""
    watch = two()
    run(watch)
    run(watch)
    del written[:]
    run(watch)
    assert written == []
    change(watch, "b", terminating=True)
    run(watch)
    assert written == ["n1"]
    assert facts("n1").leaving == 1


@pytest.mark.usefixtures("cluster")
def test_a_change_of_a_node_is_news() -> None:
    """A page that shows it refreshes itself."""
    watch = two()
    run(watch)
    run(watch)
    before = ClusterStatus.objects.get().news
    watch.state.nodes["n2"] = node("n2", 4, unschedulable=True, taints=(Taint("node.kubernetes.io/unschedulable"),))
    run(watch)
    assert ClusterStatus.objects.get().news == before + 1
    assert facts("n2").unschedulable
    run(watch)
    assert ClusterStatus.objects.get().news == before + 1


@pytest.mark.usefixtures("cluster")
def test_a_node_that_is_gone_goes() -> None:
    """But not while pods say that they are on it."""
    watch = two()
    run(watch)
    del watch.state.nodes["n1"], watch.state.nodes["n2"]
    run(watch)
    assert set(rows()) == {"n1"}
    assert not facts("n1").there
    watch.state.pods.clear()
    run(watch)
    assert rows() == {}


@pytest.mark.usefixtures("cluster")
def test_pods_without_a_node_are_kept_by_their_application() -> None:
    """They are no node's, and go to one when they are bound."""
    watch = Watch(node("n1", 4), ask("new", queue="prod", app="web", namespace="shop"))
    run(watch)
    [part] = NodePods.objects.exclude(name="n1")
    assert [one.name for one in services.pods_in(part.pods)] == ["new"]
    assert (part.name.startswith("/"), part.facts) == (True, "")
    change(watch, "new", node="n1", unschedulable_ms=None)
    run(watch)
    assert [row.name for row in NodePods.objects.all()] == ["n1"]
    assert names("n1") == ["new"]


@pytest.mark.usefixtures("cluster")
def test_another_worker_writes_only_what_differs(written: list[str]) -> None:
    """It reads what is there, and takes away what is no more."""
    run(two())
    run(two())
    del written[:]
    later = two()
    change(later, "a", started_ms=1)
    del later.state.nodes["n2"]
    run(later)
    assert written == ["n1"]
    assert set(rows()) == {"n1"}


@pytest.mark.usefixtures("cluster")
def test_a_pass_that_came_to_nothing_is_made_up_for() -> None:
    """What this process believes to be stored is held against what is."""
    watch = two()
    run(watch)
    run(watch)
    change(watch, "b", priority=7)
    with transaction.atomic():
        run(watch)
        transaction.set_rollback(True)
    assert [one.priority for one in services.pods_in(rows()["n1"].pods)] == [0, 0]
    run(watch)
    assert [one.priority for one in services.pods_in(rows()["n1"].pods)] == [0, 7]


def test_nothing_is_left_of_a_cluster_that_is_removed(cluster: Cluster) -> None:
    """Its nodes go with it."""
    run(two())
    remove_cluster(cluster=cluster, actor=None, reason="moved", with_history=True)
    assert not NodePods.objects.exists()


@pytest.mark.usefixtures("cluster")
def test_a_read_is_as_it_was_written() -> None:
    """Amounts, queue and application of each pod."""
    run(Watch(Node(name="n1", allocatable={"cpu": 4000}), pod("a", queue="prod", node="n1", app="web", priority=5)))
    [one] = services.pods_in(rows()["n1"].pods)
    assert (one.queue, one.application, one.priority, one.node) == ("root.prod", "web", 5, "n1")
    assert one.requests["cpu"] == 1000
