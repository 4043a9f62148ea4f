"""One kind followed on clusters of both kinds: what test_reflector has from a script, here as it comes."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ConnectionFailure
from engine.cluster.timing import BackOff
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.reflector import Reflector
from engine.cluster.watching.tables import PREEMPTED, TABLES, WatchedKind
from tests.cluster.test_reflector import Kept
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S, wait_for

PODS = next(table for table in TABLES if table.kind == "Pod")


@contextlib.contextmanager
def following(connection: Connection, table: WatchedKind, **settings: Any) -> Iterator[tuple[Kept, Reflector]]:
    sink = Kept()
    back_off = BackOff(first_s=0.001, longest_s=0.002)
    reflector = Reflector(connection, table, sink, settings=ReflectorSettings(**settings), back_off=back_off)
    reflector.start()
    try:
        wait_for(lambda: reflector.health.synced, "the first list")
        yield sink, reflector
    finally:
        reflector.stop()
        assert reflector.join(PATIENCE_S), "the thread did not stop"


def cut_off(cluster: AnyCluster, meanwhile: Callable[[], object]) -> Connection:
    """A connection whose first watch breaks at once; what happens before the next is up to the test."""
    connection = cluster.connection()
    stream, cuts = connection.stream, iter([meanwhile])

    def cut(*args: Any, **more: Any) -> Any:
        for happens in cuts:
            happens()
            raise ConnectionFailure("cut off")
        return stream(*args, **more)

    connection.stream = cut  # type: ignore[method-assign]
    return connection


def test_pages_make_one_list_and_changes_follow(cluster: AnyCluster):
    """Pods come, are bound and go, each once and in order."""
    for number in range(5):
        cluster.add_pod(f"p{number}")
    with following(cluster.connection(), PODS, page=2) as (sink, reflector):
        assert (sink.names, sink.lists) == ({f"p{number}" for number in range(5)}, 1)
        cluster.add_pod("late")
        cluster.bind("late", "n1")
        cluster.delete("pods", "p0", gracePeriodSeconds=0)
        wait_for(lambda: "p0" not in sink.names, "the pod is gone")
        assert {one.node for one in sink.pods.values() if one.name == "late"} == {"n1"}
        assert (sink.lists, reflector.health.odd) == (1, {})


def test_a_watch_that_was_cut_off_goes_on_where_it_was(cluster: AnyCluster):
    """What came and went meanwhile is told once it is resumed; nothing is listed again."""
    cluster.add_pod("stays")
    cluster.add_pod("goes")

    def meanwhile() -> None:
        cluster.add_pod("comes")
        cluster.delete("pods", "goes", gracePeriodSeconds=0)

    with following(cut_off(cluster, meanwhile), PODS) as (sink, _):
        wait_for(lambda: sink.names == {"stays", "comes"}, "all is as it is")
        assert sink.lists == 1


def test_a_bookmark_moves_the_version_of_a_quiet_kind(cluster: AnyCluster):
    """It comes before a watch ends, with what happened to other kinds: the next watch goes on from there."""
    with following(cluster.connection(), PODS, watch_s=4) as (sink, reflector):
        cluster.create("configmaps", {"metadata": {"name": "another-kind"}})
        newest = int(cluster.get("configmaps", "another-kind")["metadata"]["resourceVersion"])
        # Asked for its newest pods, an API server looks how far it has got with them.
        wait_for(lambda: cluster.list("pods") or int(reflector._version) >= newest, "a bookmark has moved the version")
        assert sink.lists == 1


def test_what_was_forgotten_meanwhile_is_listed_anew(cluster: AnyCluster):
    """410 after a compaction: the new list replaces all, and no Event is lost."""
    tell(cluster, "first")

    def meanwhile() -> None:
        tell(cluster, "second")
        cluster.delete("events", "first")
        tell(cluster, "third")
        cluster.forget()

    with following(cut_off(cluster, meanwhile), PREEMPTED) as (sink, reflector):
        wait_for(lambda: sink.lists == 2 and not reflector.health.error, "the list was read again")
        assert len(sink.pods) == 2
        tell(cluster, "fourth")
        wait_for(lambda: len(sink.pods) == 3, "the watch goes on")


def tell(cluster: AnyCluster, name: str) -> None:
    """An Event of a preemption."""
    about = {"kind": "Pod", "namespace": cluster.namespace, "name": "v", "uid": f"uid-{name}"}
    event = {"involvedObject": about, "reason": "Preempted", "message": "Preempted by pod uid-c on node n1"}
    cluster.create("events", {"metadata": {"name": name}, **event})
