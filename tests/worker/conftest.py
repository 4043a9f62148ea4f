"""Prod is below its guarantee and asks; Test is above its own and fills the node."""

import pytest

from engine.model.queue_tree import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests.builders import ask, node, pod, queue, tree
from tests.worker.watch import Watch

TREE = tree({"prod": queue("4", delay_ms=1), "test": queue("2", delay_ms=1)})


def add_cluster(shape: QueueTree = TREE, *, terms: Terms | None = None, **settings: object) -> Cluster:
    """A cluster with a published tree, enforced."""
    hierarchy = Hierarchy.objects.create(name="main")
    publish(hierarchy=hierarchy, tree=shape, author=None, reason="test", terms=terms)
    hierarchy.refresh_from_db()
    return Cluster.objects.create(**{"name": "east", "hierarchy": hierarchy, "mode": "enforce", **settings})


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is acted on."""
    return add_cluster()


@pytest.fixture
def watch() -> Watch:
    """A full node: Test holds all four cores over a guarantee of two, Prod asks for one under its four."""
    pods = [pod(f"test-{number}", queue="test", node="n1", app="test") for number in range(4)]
    return Watch(node("n1", 4), pods, ask("prod-0", queue="prod"))
