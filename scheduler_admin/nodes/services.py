"""Nodes and their pods as passes store them: a row for each node, written where it became another one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex
from typing import NamedTuple
from weakref import WeakKeyDictionary
from zlib import compress, decompress

import msgspec

from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.model.snapshot.node_listing import ListedNode, ListedPod, Marks, pods_at
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.core import bulk, limits
from scheduler_admin.nodes.models import NodePods, PodPlace

_FAST = 1
"""zlib's level: most of what it saves is in what pods have in common."""
_AT_ONCE = 500
"""Names of one statement: as many values as SQLite takes wherever it was built."""
_WRITTEN = ("cluster", "name", "facts", "pods", "digest")
_COMPARED = 2_000
"""Places that a pass compares because the process began, not because they changed: no pass takes much longer."""
_MARK = "2-"
"""How digests begin of rows whose pods have a PodPlace. Earlier releases wrote others, which are written anew."""
_LOOKED_UP = ("cluster", "namespace", "name", "queue", "application", "place")


class _Named(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first fields of a ListedPod."""

    uid: str
    namespace: str
    name: str
    queue: str | None
    application: str


class _Lookup(NamedTuple):
    """The values of a PodPlace."""

    cluster: int
    namespace: str
    name: str
    queue: str
    application: str
    place: str


@dataclass(frozen=True)
class _Kept:
    """What this process knows to be stored of a cluster."""

    token: str
    """Of the last write; another one in the database: somebody else wrote since, or ours came to nothing."""
    marks: Marks
    digests: dict[str, str]
    left: tuple[str, ...]
    """Places that are still to be compared with what is stored."""


_kept: WeakKeyDictionary[Watch, _Kept] = WeakKeyDictionary()


def follow_nodes(*, cluster: Cluster, watch: Watch, snapshot: Snapshot) -> bool:
    """Store the nodes that became others since the last pass. Whether there were any. Within a transaction.

    A process does not know what is stored: its first passes compare all nodes, some in each pass.
    """
    token = ClusterStatus.objects.filter(cluster=cluster).values_list("nodes_token", flat=True).first() or ""
    before, marks = _kept.get(watch), Marks.of(snapshot)
    if before is None or not token or before.token != token:
        stored = NodePods.objects.filter(cluster=cluster).order_by()
        digests = dict(stored.values_list("name", "digest"))
        changed, left = set[str](), sorted(marks.places | digests.keys())
    else:
        digests, left = dict(before.digests), list(before.left)
        changed = marks.changed(before.marks, snapshot)
    places = changed.union(left[:_COMPARED])
    gone = {place for place in places if not marks.has(place)}
    found = _rows(cluster, snapshot, marks, sorted(places - gone)) if places else ()
    rows = [row for row in found if digests.get(row.name) != row.digest]
    if rows or gone or not token:
        token = write(cluster, rows, gone)
    for name in gone:
        digests.pop(name, None)
    digests |= {row.name: row.digest for row in rows}
    _kept[watch] = _Kept(token, marks, digests, tuple(left[_COMPARED:]))
    return bool(rows or gone)


def _rows(cluster: Cluster, snapshot: Snapshot, marks: Marks, places: list[str]) -> Iterable[NodePods]:
    """As they are now; their pods are not compressed yet, as most need not be written."""
    on = pods_at(snapshot, places)
    for place in places:
        pods = on.get(place, [])
        facts = "" if place.startswith("/") else _facts(place, marks, pods)
        told = msgspec.msgpack.encode([ListedPod.of(pod) for pod in pods])
        digest = _MARK + blake2b(facts.encode() + b"\0" + told, digest_size=15).hexdigest()
        yield NodePods(cluster=cluster, name=place, facts=facts, pods=told, digest=digest)


def _facts(name: str, marks: Marks, pods: Iterable[Pod]) -> str:
    return msgspec.json.encode(ListedNode.of(name, marks.nodes.get(name), pods)).decode()


def application_key(application: str) -> str:
    """Return what ``PodPlace.application`` holds of an application, which may be longer than the column."""
    return application[: limits.APPLICATION]


def pods_in(blob: bytes) -> list[ListedPod]:
    """What ``NodePods.pods`` holds."""
    return msgspec.msgpack.decode(decompress(blob), type=list[ListedPod])


def write(cluster: Cluster, rows: list[NodePods], gone: Iterable[str]) -> str:
    """Store rows, whose pods are not compressed yet, and delete others by name. Returns the token of this write."""
    names = sorted(gone)
    before = set(_stored_lookups(cluster, [*names, *(row.name for row in rows)]))
    after = {one for row in rows for one in _lookups(cluster, row.name, bytes(row.pods))}
    bulk.remove(PodPlace, _LOOKED_UP, sorted(before - after))
    bulk.insert(PodPlace, _LOOKED_UP, sorted(after - before))
    values = ((cluster.pk, row.name, row.facts, compress(row.pods, _FAST), row.digest) for row in rows)
    bulk.upsert(NodePods, _WRITTEN, ("cluster", "name"), values)
    for at in range(0, len(names), _AT_ONCE):
        NodePods.objects.filter(cluster=cluster, name__in=names[at : at + _AT_ONCE]).delete()
    token = token_hex(16)
    ClusterStatus.objects.filter(cluster=cluster).update(nodes_token=token)
    return token


def _stored_lookups(cluster: Cluster, names: list[str]) -> Iterator[_Lookup]:
    """Yield the lookup rows that belong to the stored rows of these names."""
    for at in range(0, len(names), _AT_ONCE):
        rows = NodePods.objects.filter(cluster=cluster, name__in=names[at : at + _AT_ONCE]).order_by()
        rows = rows.filter(digest__startswith=_MARK)
        for name, blob in rows.values_list("name", "pods"):
            yield from _lookups(cluster, name, decompress(blob))


def _lookups(cluster: Cluster, place: str, pods: bytes) -> Iterator[_Lookup]:
    for pod in _names.decode(pods):
        yield _Lookup(cluster.pk, pod.namespace, pod.name, pod.queue or "", application_key(pod.application), place)


_names = msgspec.msgpack.Decoder(list[_Named])
