"""Nodes and their pods as passes store them: a row for each node, written where it became another one."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex
from weakref import WeakKeyDictionary
from zlib import compress, crc32, decompress

import msgspec

from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.model.snapshot.node_listing import ListedNode, ListedPod, Marks, pods_at
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.nodes.models import NodePods

_FAST = 1
"""zlib's level: most of what it saves is in what pods have in common."""
_AT_ONCE = 150
"""Rows of one statement: as many values as SQLite takes wherever it was built."""
_WRITTEN = ["facts", "applications", "pods", "digest"]


@dataclass(frozen=True)
class _Kept:
    """What this process knows to be stored of a cluster."""

    token: str
    """Of the last write; another one in the database: somebody else wrote since, or ours came to nothing."""
    marks: Marks
    digests: dict[str, str]


_kept: WeakKeyDictionary[Watch, _Kept] = WeakKeyDictionary()


def follow_nodes(*, cluster: Cluster, watch: Watch, snapshot: Snapshot) -> bool:
    """Store the nodes that became others since the last pass. Whether there were any. Within a transaction."""
    token = ClusterStatus.objects.filter(cluster=cluster).values_list("nodes_token", flat=True).first() or ""
    before, marks = _kept.get(watch), Marks.of(snapshot)
    if before is None or not token or before.token != token:
        stored = NodePods.objects.filter(cluster=cluster).order_by()
        digests = dict(stored.values_list("name", "digest"))
        places = marks.places | digests.keys()
    else:
        digests, places = dict(before.digests), marks.changed(before.marks, snapshot)
    gone = {place for place in places if not marks.has(place)}
    found = _rows(cluster, snapshot, marks, sorted(places - gone)) if places else ()
    rows = [row for row in found if digests.get(row.name) != row.digest]
    if rows or gone or not token:
        token = _write(cluster, rows, gone)
    for name in gone:
        digests.pop(name, None)
    digests |= {row.name: row.digest for row in rows}
    _kept[watch] = _Kept(token, marks, digests)
    return bool(rows or gone)


def _rows(cluster: Cluster, snapshot: Snapshot, marks: Marks, places: list[str]) -> Iterable[NodePods]:
    """As they are now; their pods are not compressed yet, as most need not be written."""
    on = pods_at(snapshot, places)
    for place in places:
        pods = on.get(place, [])
        facts = "" if place.startswith("/") else _facts(place, marks, pods)
        told = msgspec.msgpack.encode([ListedPod.of(pod) for pod in pods])
        digest = blake2b(facts.encode() + b"\0" + told, digest_size=16).hexdigest()
        yield NodePods(cluster=cluster, name=place, facts=facts, applications=_codes(pods), pods=told, digest=digest)


def _facts(name: str, marks: Marks, pods: Iterable[Pod]) -> str:
    return msgspec.json.encode(ListedNode.of(name, marks.nodes.get(name), pods)).decode()


def _codes(pods: Iterable[Pod]) -> bytes:
    return b"".join(code_of(*app) for app in sorted({(pod.namespace, pod.application) for pod in pods}))


def code_of(namespace: str, application: str) -> bytes:
    """What an application is looked for by. Others may have the same: what is found has to be looked at."""
    return crc32(f"{namespace}/{application}".encode()).to_bytes(4)


def pods_in(blob: bytes) -> list[ListedPod]:
    """What ``NodePods.pods`` holds."""
    return msgspec.msgpack.decode(decompress(blob), type=list[ListedPod])


def _write(cluster: Cluster, rows: list[NodePods], gone: Iterable[str]) -> str:
    for row in rows:
        row.pods = compress(row.pods, _FAST)
    NodePods.objects.bulk_create(
        rows,
        batch_size=_AT_ONCE,
        update_conflicts=True,
        unique_fields=["cluster", "name"],
        update_fields=_WRITTEN,
    )
    names = sorted(gone)
    for at in range(0, len(names), _AT_ONCE):
        NodePods.objects.filter(cluster=cluster, name__in=names[at : at + _AT_ONCE]).delete()
    token = token_hex(16)
    ClusterStatus.objects.filter(cluster=cluster).update(nodes_token=token)
    return token
