"""A cluster read once: with nothing but GET, within its time, and with the right that is missing by name."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import UnreachableError
from engine.cluster.errors import ClusterError, SettingsError
from engine.cluster.inspection.scan import MissingRightsError, scan_cluster
from engine.observation.discovery import propose
from tests.cluster.doubles import Answer, Asked, scripted
from tests.controlplane import kueue
from tests.controlplane.anycluster import AnyCluster, real
from tests.controlplane.plane import ControlPlane
from tests.waiting import PATIENCE_S

EMPTY = {"metadata": {"resourceVersion": "1"}, "items": []}


def read(cluster: AnyCluster) -> Any:
    return scan_cluster(cluster.entrance.settings())


def refused(script: Callable[[Asked, Answer], bool], *, limit_s: float = PATIENCE_S) -> ClusterError:
    """What is said when a server does this; it answers everything else as an empty cluster would."""

    def serve(asked: Asked, answer: Answer) -> None:
        if script(asked, answer):
            return
        if "watch" in asked.query:
            answer.begin()
        else:
            answer.json(200, EMPTY)

    with scripted(serve) as server, pytest.raises(ClusterError) as caught:
        scan_cluster(ConnectionSettings(address=server.address), limit_s=limit_s)
    return caught.value


def test_what_is_there_is_read_and_nothing_is_sent_but_get(cluster: AnyCluster):
    """Nodes, pods, classes, budgets, quotas; by list, and a watch that is tried and closed."""
    cluster.add_node()
    cluster.add_pod("a", node="n1")
    cluster.create("poddisruptionbudgets.policy", {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}})
    hard = {"requests.cpu": "4", "memory": "8Gi", "limits.cpu": "9", "count/pods": "3", "requests.nvidia.com/gpu": "1"}
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    scoped = {"hard": {"cpu": "1"}, "scopes": ["NotTerminating"]}
    cluster.create("resourcequotas", {"metadata": {"name": "s"}, "spec": scoped})
    found = read(cluster)
    assert [one.name for one in (*found.nodes, *found.pods, *found.budgets)] == ["n1", "a", "b"]
    assert found.quotas[0].requests == {"cpu": 4000, "memory": 8 * 2**30, "nvidia.com/gpu": 1}
    assert [one.requests for one in found.quotas[1:]] == [{}]
    assert (found.unread, found.odd) == ((), ())
    assert cluster.namespace in found.namespaces
    assert "policy" in found.groups
    assert found.version
    assert {record.verb for record in cluster.audit} <= {"get", "list", "watch"}


def test_long_lists_come_page_by_page(cluster: AnyCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.cluster.inspection.scan._PAGE", 2)
    for number in range(5):
        cluster.add_pod(f"p{number}")
    assert len(read(cluster).pods) == 5


def test_yunikorns_tree_is_read_where_yunikorn_runs(cluster: AnyCluster):
    """One ConfigMap, and only there."""
    cluster.add_pod("yunikorn-scheduler-1")
    data = {"queues.yaml": "partitions: []"}
    cluster.create("configmaps", {"metadata": {"name": "yunikorn-configs"}, "data": data})
    assert read(cluster).yunikorn == "partitions: []"


def test_kueues_queues_are_read_where_they_are_served(cluster: AnyCluster):
    """As one text, which is imported as if somebody had sent it."""
    assert read(cluster).kueue == ""
    kueue.install_queues(cluster)
    assert read(cluster).kueue == ""
    kueue.make(cluster, kueue.three("default"))
    found = propose(read(cluster))
    assert (found.origin, found.tree.leaves) == ("kueue", ("root.company.research",))


@pytest.mark.controlplane
def test_an_account_without_a_right_is_told_which(plane: ControlPlane):
    """As a real API server refuses it: what is needed stops it, what is not is left out."""
    verbs = ["get", "list", "watch"]
    most = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": verbs},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": verbs},
    ]
    budgets = {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": verbs}
    nodes = {"apiGroups": [""], "resources": ["nodes"], "verbs": verbs}
    with real(plane) as cluster:
        limited = cluster.account(*most, {**nodes, "verbs": ["list"]})
        with pytest.raises(MissingRightsError) as refused:
            scan_cluster(limited)
    assert refused.value.missing == (
        "watch nodes",
        "list poddisruptionbudgets.policy",
        "watch poddisruptionbudgets.policy",
    )
    with real(plane) as cluster:
        found = scan_cluster(cluster.account(*most, nodes, budgets))
        unread = {"configmaps", "events", "namespaces", "persistentvolumeclaims", "persistentvolumes", "resourcequotas"}
        unread |= {
            f"{one}.kueue.x-k8s.io"
            for one in ("workloads", "resourceflavors", "clusterqueues", "cohorts", "localqueues")
        }
        unread |= {f"{one}.scheduling.volcano.sh" for one in ("queues", "podgroups")} | {"podgroups.scheduling.k8s.io"}
        unread |= {f"{one}.kube-arbitrator.incubator.k8s.io" for one in ("consumers", "allocations")}
        both = {f"{verb} {resource}" for verb in ("list", "watch") for resource in unread}
        assert set(found.unread) == both


def test_every_missing_right_is_named_at_once():
    """Verb and resource, and all that is needed."""

    def script(asked: Asked, answer: Answer) -> bool:
        forbidden = asked.path.endswith("/nodes") or (asked.path.endswith("budgets") and "watch" in asked.query)
        if forbidden:
            answer.status(403, "Forbidden", 'User "ci" cannot list resource')
        return forbidden

    error = refused(script)
    assert isinstance(error, MissingRightsError)
    assert error.missing == ("list nodes", "watch nodes", "watch poddisruptionbudgets.policy")
    assert "list and watch priorityclasses.scheduling.k8s.io" in str(error)
    assert "deploy/observe.yaml" in str(error)


def test_what_can_be_done_without_is_done_without():
    """Volumes, Events, namespaces, quotas, the list of API groups."""

    def serve(asked: Asked, answer: Answer) -> None:
        if asked.path.endswith(
            ("/events", "/namespaces", "/persistentvolumes", "/resourcequotas", "/apis", "/version")
        ):
            answer.status(403, "Forbidden", "no")
        elif "watch" in asked.query:
            answer.begin()
        else:
            answer.json(200, EMPTY)

    with scripted(serve) as server:
        found = scan_cluster(ConnectionSettings(address=server.address))
    both = [f"{verb} {resource}" for resource in ("persistentvolumes", "events") for verb in ("list", "watch")]
    namespaces = ["list namespaces", "watch namespaces", "watch resourcequotas"]
    assert found.unread == (*both, *namespaces, "get version", "list resourcequotas", "get apis")


@pytest.mark.parametrize(("code", "message"), [(401, "Unauthorized"), (403, 'User "system:anonymous" cannot list')])
def test_credentials_that_do_not_hold_are_told_as_such(code: int, message: str):
    """Not as a right that is missing: nobody was signed in."""
    error = refused(lambda asked, answer: answer.status(code, "x", message) or True)
    assert isinstance(error, UnreachableError)
    assert not isinstance(error, MissingRightsError)
    assert "does not accept the credentials" in str(error)


def test_something_else_that_answers_is_no_api_server():
    error = refused(lambda asked, answer: answer.json(200, b"<html>") or True)
    assert "not as a Kubernetes API" in str(error)


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(UnreachableError, match=r"http://127\.0\.0\.1:9 cannot be reached: no server responds"):
        scan_cluster(ConnectionSettings(address="http://127.0.0.1:9"))


def test_a_server_that_never_answers_is_given_up():
    error = refused(lambda asked, answer: answer.hang() or True, limit_s=1)
    assert "Reading the cluster took longer than" in str(error) or "cannot be reached" in str(error)


def test_settings_that_can_not_be_used_are_told(tmp_path: Any):
    with pytest.raises(SettingsError):
        scan_cluster(ConnectionSettings(kubeconfig_path=str(tmp_path / "none")))
