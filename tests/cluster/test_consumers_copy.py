"""Consumers are one text, read and written back as Kueue's objects are: what differs, and nobody is forced."""

from collections.abc import Iterator

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.inspection.scan import scan_cluster
from engine.cluster.sync.copies import ClusterCopy, FieldConflictError, Rewrite
from engine.cluster.sync.object_copies import read_objects, write_objects
from engine.formats import parented_objects
from engine.formats.arbitrator import consumers
from engine.formats.arbitrator.consumers import FAMILY
from engine.model.queue_tree import Queue, QueueTree
from engine.observation.discovery import propose
from tests.builders import amounts
from tests.controlplane import anycluster, arbitration
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane

pytestmark = pytest.mark.controlplane


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        yield cluster


@pytest.fixture
def connection(real: AnyCluster) -> Connection:
    return real.connection()


def seen(connection: Connection) -> ClusterCopy:
    found = read_objects(FAMILY, connection)
    assert found is not None
    return found


def asked(before: ClusterCopy, tree: QueueTree) -> Rewrite:
    return Rewrite(onto=before.version, before=before.text, text=consumers.write(before.text, tree).text)


def changed(tree: QueueTree, path: str, **fields: object) -> QueueTree:
    queues = {**tree.queues, path: Queue(path=path, **{"namespaces": tree[path].namespaces, **fields})}  # type: ignore[arg-type]
    return QueueTree(queues.values())


def test_where_they_are_not_served_is_no_copy(connection: Connection) -> None:
    assert read_objects(FAMILY, connection) is None


def test_a_cluster_is_connected_with_the_tree_that_its_consumers_say(real: AnyCluster) -> None:
    """And a leaf for each namespace whose pods have none yet."""
    arbitration.install(real)
    arbitration.add_consumer(real, hard={"requests.cpu": "4"}, reserved={"cpu": "1"}, weight=2)
    found = propose(scan_cluster(real.entrance.settings()))
    assert found.origin == "consumers"
    leaf = found.tree[f"root.{real.namespace}"]
    assert (leaf.namespaces, leaf.max, leaf.guaranteed) == ((real.namespace,), amounts("4"), amounts("1"))


def test_a_tree_is_written_to_them_and_what_it_gives_up_is_taken_away(real: AnyCluster, connection: Connection) -> None:
    """Key by key, whoever wrote it: others' limits stay."""
    arbitration.install(real)
    arbitration.add_consumer(real, hard={"requests.cpu": "4", "requests.memory": "1Gi", "limits.cpu": "9"})
    path, before = f"root.{real.namespace}", seen(connection)
    tree = consumers.read(before.text).tree
    made = asked(before, changed(tree, path, max={"cpu": 4000}, guaranteed={"cpu": 500}))
    written = write_objects(FAMILY, connection, made)
    spec = real.send("GET", arbitration.path(real.namespace, "consumers", "defaults"))["spec"]
    assert spec == {"hard": {"requests.cpu": "4", "limits.cpu": "9"}, "reserved": {"requests.cpu": "500m"}}
    assert write_objects(FAMILY, connection, made) == written


def test_what_somebody_applied_is_not_taken_over_unless_that_is_confirmed(
    real: AnyCluster, connection: Connection
) -> None:
    arbitration.install(real)
    body = {
        "apiVersion": consumers.VERSION,
        "kind": "Consumer",
        "metadata": {"name": "defaults"},
        "spec": {"hard": {"requests.cpu": "4"}},
    }
    at = f"{arbitration.path(real.namespace, 'consumers', 'defaults')}?fieldManager=argocd"
    assert real.raw("PATCH", at, body, "application/apply-patch+yaml")[0] == 201
    before = seen(connection)
    wanted = changed(consumers.read(before.text).tree, f"root.{real.namespace}", max={"cpu": 9000})
    with pytest.raises(FieldConflictError) as told:
        write_objects(FAMILY, connection, asked(before, wanted))
    assert [one.field for one in told.value.conflicts] == [".spec.hard.requests.cpu"]


def test_a_leaf_that_the_tree_has_more_gets_its_consumer_in_its_namespace(
    real: AnyCluster, connection: Connection
) -> None:
    arbitration.install(real)
    leaf = Queue(path=f"root.{real.namespace}", namespaces=(real.namespace,), max={"cpu": 2000})
    write_objects(FAMILY, connection, asked(seen(connection), QueueTree([parented_objects.IMPLIED_ROOT, leaf])))
    found = real.send("GET", arbitration.path(real.namespace, "consumers"))["items"]
    assert [(one["metadata"]["name"], one["spec"]) for one in found] == [
        (real.namespace, {"hard": {"requests.cpu": "2"}})
    ]
