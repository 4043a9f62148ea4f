"""Namespaces, claims and volumes: followed like all else, and where they may not be read, nothing of them is known."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ConnectionFailure
from engine.cluster.timing import BackOff
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.tables import (
    ARBITRATED,
    CLAIMS,
    COMPOSITE_GROUPS,
    EVERY,
    KUEUE,
    NAMESPACES,
    PLACING,
    PREEMPTED,
    QUOTAS,
    SCHEDULING_GROUPS,
    SHARING,
    TABLES,
    VOLCANOS,
    VOLUMES,
    WatchedKind,
)
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.objects import Requirement
from tests.cluster.doubles import Answer, Asked, ManualClock, Scripted, scripted
from tests.controlplane.anycluster import AnyCluster, real
from tests.controlplane.plane import ControlPlane
from tests.controlplane.volumes import add_claim, add_volume
from tests.waiting import PATIENCE_S, wait_for

PREEMPTION = {
    "reason": "Preempted",
    "reportingComponent": "default-scheduler",
    "involvedObject": {"kind": "Pod", "namespace": "a", "name": "v", "uid": "uid-v"},
    "message": "Preempted by pod uid-c on node n1",
    "eventTime": "2026-01-01T00:00:00.000000Z",
}
CONFIG = {
    "data": {
        "controller_manager_config.yaml": "fairSharing: {}",
        "volcano-scheduler.conf": "tiers: [{plugins: [{name: proportion}]}]",
    }
}
ONE = {"metadata": {"name": "one", "namespace": "a", "uid": "u", "resourceVersion": "5"}, **PREEMPTION, **CONFIG}
"""Of whatever kind it is read as."""
EVENTS = {
    "reason=Informational": {**ONE, "message": "Preempted by uid-c from application app-1 in root.prod"},
    "reason=Evict": {**ONE, "message": "Pod is evicted, because of reclaim"},
}
"""Those of YuniKorn and Volcano."""


def back_off() -> BackOff:
    return BackOff(0.001, 0.01)


def serving(
    table: WatchedKind, told: Callable[[Asked], tuple[int, str, str] | None], *, ends: bool = False
) -> Callable[[Asked, Answer], None]:
    """A cluster with one object of each kind. Of one kind ``told`` says which requests fail; its watches may end."""

    def script(asked: Asked, answer: Answer) -> None:
        mine = asked.path == table.path and not asked.query.keys().isdisjoint({"watch", "limit"})
        if mine and (failure := told(asked)):
            return answer.status(*failure)
        if "watch" not in asked.query:
            items = [EVENTS.get(asked.query.get("fieldSelector", "").partition(",")[0], ONE)]
            return answer.json(200, {"metadata": {"resourceVersion": "10"}, "items": items})
        answer.begin()
        return answer.wait(0.01) if mine and ends else answer.hang()

    return script


@contextlib.contextmanager
def closing(watcher: ClusterWatcher) -> Iterator[ClusterWatcher]:
    """Let it watch until the block ends."""
    watcher.start()
    try:
        yield watcher
    finally:
        assert watcher.stop(), "a thread did not stop"


@contextlib.contextmanager
def watching(
    script: Callable[[Asked, Answer], None], clock: ManualClock | None = None
) -> Iterator[tuple[ClusterWatcher, Scripted]]:
    """A watcher on a server that does what the script says."""
    settings = ReflectorSettings(shortest_watch_s=0)
    with scripted(script) as server:
        made = ClusterWatcher(server.connection(), back_off=back_off, settings=settings, clock=clock)
        with closing(made) as watcher:
            yield watcher, server


FORBIDDEN = (403, "Forbidden", "it is forbidden")
SICK = (500, "", "etcd is away")


@pytest.fixture
def watcher(connection: Connection) -> Iterator[ClusterWatcher]:
    """A watcher that is synced."""
    with closing(ClusterWatcher(connection, back_off=back_off)) as watcher:
        assert watcher.wait_synced(PATIENCE_S)
        yield watcher


def test_namespaces_are_followed(cluster: AnyCluster, watcher: ClusterWatcher):
    """With their labels, the one that every namespace has among them."""
    name, other = cluster.namespace, f"{cluster.namespace}-b"
    label = {"kubernetes.io/metadata.name": name}
    assert watcher.state().namespaces[name].labels == label
    assert "kube-system" in watcher.state().namespaces
    cluster.change("namespaces", name, lambda one: one["metadata"]["labels"].update(team="a"))
    wait_for(lambda: watcher.state().namespaces[name].labels == {**label, "team": "a"}, "its label is seen")
    cluster.create("namespaces", {"metadata": {"name": other}})
    wait_for(lambda: other in watcher.state().namespaces, "another is seen")
    cluster.delete("namespaces", other)
    wait_for(lambda: other not in watcher.state().namespaces, "it is gone")


def test_a_claim_is_followed_until_it_is_bound_and_gone(cluster: AnyCluster, watcher: ClusterWatcher):
    """On its way out it counts as not bound: a pod that comes now does not get it."""
    key, waits = (cluster.namespace, "c"), (cluster.namespace, "waits")
    add_claim(cluster, "waits", volume="none")
    wait_for(lambda: waits in watcher.state().claims, "it is seen")
    assert (watcher.state().claims[waits].volume, watcher.state().claims[waits].exclusive) == ("", False)
    alone = {"accessModes": ["ReadWriteOncePod"]}
    add_volume(cluster, "v", **alone)
    add_claim(cluster, "c", volume="v", **alone)
    wait_for(lambda: key in watcher.state().claims and watcher.state().claims[key].volume == "v", "it is bound")
    assert watcher.state().claims[key].exclusive
    cluster.change("persistentvolumeclaims", "c", lambda one: one["metadata"].update(finalizers=["example.com/hold"]))
    cluster.delete("persistentvolumeclaims", "c")
    wait_for(lambda: watcher.state().claims[key].volume == "", "it is on its way out")
    cluster.change("persistentvolumeclaims", "c", lambda one: one["metadata"].pop("finalizers"))
    wait_for(lambda: key not in watcher.state().claims, "it is gone")
    assert waits in watcher.state().claims


def test_a_volume_is_followed(cluster: AnyCluster, watcher: ClusterWatcher):
    """With the nodes that can reach it."""
    add_volume(cluster, "v", node="n1", labels={"topology.kubernetes.io/zone": "a__b"})
    found = wait_for(lambda: watcher.state().volumes.get("v"), "it is seen")
    (term,) = found.node_affinity
    assert term.expressions == (Requirement("kubernetes.io/hostname", "In", ("n1",)),)
    assert found.zones == (Requirement("topology.kubernetes.io/zone", "In", ("a", "b")),)
    cluster.change("persistentvolumes", "v", lambda one: one["metadata"].pop("labels"))
    wait_for(lambda: watcher.state().volumes["v"].zones == (), "its label is gone")
    cluster.delete("persistentvolumes", "v")
    wait_for(lambda: "v" not in watcher.state().volumes, "it is gone")


def test_what_changed_while_nobody_listened_is_seen_on_coming_back(cluster: AnyCluster):
    """All watches are cut off at first; what came, changed and went meanwhile is told once they are resumed."""
    add_volume(cluster, "goes")
    add_claim(cluster, "goes")
    connection = cluster.connection()
    stream, cut, one_by_one = connection.stream, {table.path for table in PLACING}, threading.Lock()

    def meanwhile(path: str) -> None:
        if path == NAMESPACES.path:
            cluster.change("namespaces", cluster.namespace, lambda one: one["metadata"]["labels"].update(team="b"))
        elif path == CLAIMS.path:
            cluster.delete("persistentvolumeclaims", "goes")
            add_claim(cluster, "comes")
        else:
            cluster.delete("persistentvolumes", "goes")
            add_volume(cluster, "comes", node="n1")

    def broken(path: str, **more: Any) -> Any:
        if path in cut:
            cut.remove(path)
            with one_by_one:
                meanwhile(path)
            raise ConnectionFailure("cut off")
        return stream(path, **more)

    connection.stream = broken  # type: ignore[method-assign]
    with closing(ClusterWatcher(connection, back_off=back_off)) as watcher:
        wait_for(lambda: watcher.state().claims.keys() == {(cluster.namespace, "comes")}, "the claims are as they are")
        wait_for(lambda: watcher.state().volumes.keys() == {"comes"}, "so are the volumes")
        labelled = lambda: watcher.state().namespaces[cluster.namespace].labels.get("team")  # noqa: E731
        wait_for(lambda: labelled() == "b", "and the namespaces")


@pytest.mark.parametrize("table", PLACING, ids=lambda table: table.kind)
def test_what_may_not_be_read_is_done_without(table: WatchedKind):
    """The rest is read, the reason is told beside, and nothing of that kind is known."""
    with watching(serving(table, lambda _asked: FORBIDDEN)) as (watcher, _):
        assert watcher.wait_synced(PATIENCE_S)
        health = wait_for(lambda: watcher.health().missing and watcher.health(), "it is told")
        assert (health.synced, health.errors, health.missing) == (True, (), {table.kind: "it is forbidden"})
        assert [one.kind for one in health.kinds] == [one.kind for one in (*TABLES, *PLACING) if one is not table]
        unknown = lambda: [one.kind for one in EVERY if not one.column(watcher.state())]  # noqa: E731
        wait_for(lambda: unknown() == [table.kind], "all else is known")


def test_where_lists_are_allowed_and_watches_are_not_only_the_watch_is_tried_again():
    """As under the role of before, for namespaces: known and not known would take turns."""
    allowed, watches = threading.Event(), []

    def told(asked: Asked) -> tuple[int, str, str] | None:
        if "watch" not in asked.query:
            return None
        watches.append(asked)
        return None if allowed.is_set() else FORBIDDEN

    with watching(serving(NAMESPACES, told)) as (watcher, server):
        wait_for(lambda: len(watches) > 3, "it is tried again")
        assert watcher.health().missing == {"Namespace": "it is forbidden"}
        assert watcher.state().namespaces == {}
        lists = [asked for asked in server.asked if asked.path == NAMESPACES.path and "limit" in asked.query]
        assert len(lists) == 1
        allowed.set()
        wait_for(lambda: watcher.state().namespaces and not watcher.health().missing, "what may be read is read")


def test_what_may_not_be_read_any_more_is_forgotten():
    """A claim that was bound may be gone by now."""
    forbidden = threading.Event()
    with watching(serving(CLAIMS, lambda _asked: FORBIDDEN if forbidden.is_set() else None, ends=True)) as (watcher, _):
        wait_for(lambda: watcher.state().claims, "the claims are read")
        assert watcher.health().missing == {}
        forbidden.set()
        wait_for(lambda: not watcher.state().claims, "they are forgotten")
        wait_for(lambda: watcher.health().missing == {CLAIMS.kind: "it is forbidden"}, "why is told")
        assert watcher.state().volumes
        forbidden.clear()
        wait_for(lambda: watcher.state().claims and not watcher.health().missing, "they are read again")


def test_preemptions_that_were_seen_stay_known_where_events_are_forbidden_since():
    """They happened, whoever may read of them now."""
    forbidden = threading.Event()
    script = serving(PREEMPTED, lambda _asked: FORBIDDEN if forbidden.is_set() else None, ends=True)
    with watching(script) as (watcher, _):
        wait_for(lambda: watcher.state().preempted, "one is seen")
        forbidden.set()
        wait_for(lambda: watcher.health().missing == {"Event": "it is forbidden"}, "why is told")
        assert watcher.state().preempted


@pytest.mark.parametrize("table", PLACING, ids=lambda table: table.kind)
def test_trouble_of_another_kind_counts_as_for_any_other(table: WatchedKind):
    """That a server is sick doesn't say that it may not be read: until it is, nothing is decided."""
    with watching(serving(table, lambda _asked: SICK)) as (watcher, _):
        wait_for(lambda: watcher.health().errors == (f"{table.kind}: etcd is away",), "it is told")
        wait_for(
            lambda: all(one.synced for one in watcher.health().kinds if one.kind != table.kind), "all else is read"
        )
        health = watcher.health()
        assert (health.synced, health.staleness_s, health.missing) == (False, None, {})


def test_the_age_of_claims_counts_as_that_of_any_other_kind():
    """In trouble they make the picture old, and a gap; what was known of them stays meanwhile."""
    clock, sick = ManualClock(), threading.Event()
    script = serving(CLAIMS, lambda _asked: SICK if sick.is_set() else None, ends=True)
    with watching(script, clock) as (watcher, _):
        assert watcher.wait_synced(PATIENCE_S)
        sick.set()
        wait_for(lambda: watcher.health().errors, "it is told")
        clock.now_s += 42
        health = watcher.health()
        assert (health.staleness_s, health.gap_s, health.missing) == (42, 42, {})
        assert watcher.state().claims


@pytest.mark.controlplane
def test_an_account_of_before_goes_on_working(plane: ControlPlane):
    """On a real cluster, under the role as it was."""
    verbs = ["list", "watch"]
    rules = [
        {"apiGroups": [""], "resources": ["nodes", "pods", "events"], "verbs": verbs},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": verbs},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": verbs},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]},
    ]
    with real(plane) as cluster:
        connection = Connection(cluster.account(*rules))
        with closing(ClusterWatcher(connection, back_off=back_off)) as watcher:
            assert watcher.wait_synced(PATIENCE_S)
            since = {one.kind for one in (*PLACING, COMPOSITE_GROUPS, *KUEUE, SHARING, *VOLCANOS, *ARBITRATED, QUOTAS)}
            missing = wait_for(lambda: (found := watcher.health().missing).keys() == since and found, "all are told")
            assert 'cannot list resource "persistentvolumes"' in missing[VOLUMES.kind]
            assert 'cannot list resource "persistentvolumeclaims"' in missing[CLAIMS.kind]
            assert 'cannot watch resource "namespaces"' in missing[NAMESPACES.kind]
            assert watcher.health().errors == ()
            assert watcher.state().namespaces == {}


def groups_at(version: str) -> Callable[[Asked, Answer], None]:
    """A cluster that serves the PodGroups of one version."""
    everything = serving(SCHEDULING_GROUPS, lambda _asked: None)

    def script(asked: Asked, answer: Answer) -> None:
        if asked.path.endswith("/podgroups") and "scheduling.k8s.io" in asked.path and version not in asked.path:
            answer.status(404, "NotFound", "the server could not find the requested resource")
        else:
            everything(asked, answer)

    return script


def test_groups_of_pods_are_followed_in_the_version_that_is_served():
    for version in ("v1beta1", "v1alpha3", "v1alpha2"):
        with watching(groups_at(version)) as (watcher, _):
            wait_for(lambda watcher=watcher: watcher.state().scheduling_groups, f"those of {version} are seen")
            assert watcher.health().groups_served


def test_where_no_groups_of_pods_are_served_none_are_missing_and_they_are_followed_once_they_are():
    """As in a cluster whose administrator turns them on later."""
    turned_on, served = threading.Event(), groups_at("v1beta1")

    def script(asked: Asked, answer: Answer) -> None:
        (served if turned_on.is_set() else groups_at("none"))(asked, answer)

    with watching(script) as (watcher, _):
        assert watcher.wait_synced(PATIENCE_S)
        wait_for(lambda: watcher.health().groups_served is False, "it is known that there are none")
        assert (watcher.health().missing, watcher.health().errors) == ({}, ())
        turned_on.set()
        wait_for(lambda: watcher.state().scheduling_groups, "they are seen")
        assert watcher.health().groups_served


def test_it_is_not_known_whether_groups_of_pods_are_served_where_they_may_not_be_read():
    with watching(serving(SCHEDULING_GROUPS, lambda _asked: FORBIDDEN)) as (watcher, _):
        wait_for(lambda: watcher.health().missing, "it is told")
        assert watcher.health().groups_served is None
