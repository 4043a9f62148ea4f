"""YuniKorn's ConfigMap is read with who wrote it, and written only onto the version that was seen."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import UnreachableError
from engine.cluster.inspection.refusals import ApiRefusedError, UnknownError
from engine.cluster.sync.config_map import KEY, read_config_map, write_config_map
from engine.cluster.sync.copies import MANAGER, ClusterCopy, CopyChangedError, Rewrite
from tests.cluster.doubles import Answer, Asked, scripted
from tests.controlplane import anycluster
from tests.controlplane.anycluster import AnyCluster, path_of
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import MERGE

CONFIG = "yunikorn-configs"
OLD, NEW = "partitions: []\n", "partitions:\n- name: default\n"


def put(cluster: AnyCluster, text: str = OLD, **more: str) -> None:
    """YuniKorn's chart makes it."""
    cluster.create("configmaps", {"metadata": {"name": CONFIG}, "data": {KEY: text, **more}})


def edit(cluster: AnyCluster, manager: str, data: dict[str, str | None]) -> None:
    """Somebody else changes it, as kubectl does."""
    path = f"{path_of('configmaps', cluster.namespace, CONFIG)}?fieldManager={manager}"
    code, answer = cluster.raw("PATCH", path, {"data": data}, MERGE)
    assert code == 200, answer


def read(cluster: AnyCluster, connection: Connection) -> ClusterCopy:
    found = read_config_map(connection, (cluster.namespace,))
    assert found is not None
    return found


def write(connection: Connection, seen: ClusterCopy) -> ClusterCopy:
    """Over what was seen, and is there."""
    return write_config_map(connection, seen, Rewrite(onto=seen.version, before=seen.text, text=NEW))


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        yield cluster


def test_what_is_there_is_read(cluster: AnyCluster, connection: Connection) -> None:
    """With the version of this very object."""
    put(cluster)
    found, meta = read(cluster, connection), cluster.get("configmaps", CONFIG)["metadata"]
    assert (found.namespace, found.text) == (cluster.namespace, OLD)
    assert found.version == f"{meta['uid']}/{meta['resourceVersion']}"


def test_the_first_namespace_that_has_one_is_taken(cluster: AnyCluster, connection: Connection) -> None:
    put(cluster)
    assert read_config_map(connection, ()) is None
    assert read_config_map(connection, ("default",)) is None
    found = read_config_map(connection, ("default", cluster.namespace))
    assert found is not None
    assert found.namespace == cluster.namespace


def test_another_form_of_configuration_is_no_copy(cluster: AnyCluster, connection: Connection) -> None:
    cluster.create("configmaps", {"metadata": {"name": CONFIG}, "data": {"log.level": "INFO"}})
    assert read_config_map(connection, (cluster.namespace,)) is None


def test_who_wrote_it_last_is_told_with_the_time(cluster: AnyCluster, connection: Connection) -> None:
    """Whoever wrote the queues: what else they hold is not the tree."""
    began = datetime.now(UTC).replace(microsecond=0)
    put(cluster)
    edit(cluster, "kubectl-edit", {KEY: NEW})
    edit(cluster, "somebody-else", {"log.level": "DEBUG"})
    found = read(cluster, connection)
    assert found.writer == "kubectl-edit"
    assert found.written_at is not None
    assert began <= found.written_at <= datetime.now(UTC)


def test_what_is_written_is_the_queues_alone(cluster: AnyCluster, connection: Connection) -> None:
    """By our own name; whatever else it holds stays."""
    put(cluster, **{"log.level": "INFO"})
    made = write(connection, read(cluster, connection))
    there = cluster.get("configmaps", CONFIG)
    assert there["data"] == {KEY: NEW, "log.level": "INFO"}
    assert made == read(cluster, connection)
    assert (made.text, made.writer) == (NEW, MANAGER)


def test_what_was_changed_meanwhile_is_left_as_it_is(cluster: AnyCluster, connection: Connection) -> None:
    """Whatever of it: what was confirmed is another version."""
    put(cluster)
    seen = read(cluster, connection)
    edit(cluster, "kubectl-edit", {"log.level": "DEBUG"})
    with pytest.raises(CopyChangedError):
        write(connection, seen)
    assert cluster.get("configmaps", CONFIG)["data"][KEY] == OLD


def test_one_that_is_gone_or_made_anew_is_another(cluster: AnyCluster, connection: Connection) -> None:
    put(cluster)
    seen = read(cluster, connection)
    cluster.delete("configmaps", CONFIG)
    with pytest.raises(CopyChangedError):
        write(connection, seen)
    put(cluster)
    with pytest.raises((CopyChangedError, ApiRefusedError)):
        write(connection, seen)
    assert cluster.get("configmaps", CONFIG)["data"][KEY] == OLD


@pytest.mark.controlplane
def test_a_right_that_is_missing_is_named(real: AnyCluster) -> None:
    """With the manifest that grants it."""
    put(real)
    reading = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    connection = Connection(real.account(reading))
    want = f"Missing permission: patch configmaps {CONFIG} in {real.namespace}. Apply deploy/apply-tree"
    with pytest.raises(ApiRefusedError, match=want):
        write(connection, read(real, connection))
    assert real.get("configmaps", CONFIG)["data"][KEY] == OLD


@pytest.mark.controlplane
def test_one_that_may_not_be_read_is_not_taken_for_none(real: AnyCluster) -> None:
    put(real)
    listing = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}
    with pytest.raises(ApiRefusedError, match="Missing permission: get configmaps"):
        read_config_map(Connection(real.account(listing)), (real.namespace,))


SEEN = ClusterCopy(namespace="yunikorn", text=OLD, version="u/1")


DENIED = 'admission webhook "yunikorn" denied the request: queue root.a is given twice'


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [
        (403, DENIED, ApiRefusedError),
        (422, "it is immutable", ApiRefusedError),
        (500, "etcd is away", UnreachableError),
    ],
)
def test_why_it_was_not_written_is_told(code: int, reason: str, told: type[Exception]) -> None:
    """As the API server, or YuniKorn's webhook behind it, says it."""

    def serve(asked: Asked, answer: Answer) -> None:
        if "selfsubjectaccessreviews" in asked.path:
            answer.json(201, {**asked.body, "status": {"allowed": True}})
        else:
            answer.status(code, message=reason)

    with scripted(serve) as server, pytest.raises(told, match=reason):
        write(server.connection(), SEEN)


def test_an_answer_that_does_not_come_is_no_refusal() -> None:
    """It may have been done."""
    with scripted(lambda _asked, answer: answer.reset()) as server, pytest.raises(UnknownError):
        write(server.connection(), SEEN)
