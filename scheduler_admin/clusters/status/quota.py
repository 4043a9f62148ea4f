"""Kueue's quota as it is stored for pages: written by passes, read by whoever may see a queue of it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from engine.formats.kueue.queue_names import queue_paths
from engine.model.quota import FlavorStatus, QuotaError, QuotaStatus, quota_statuses
from engine.model.quota.encoding import StoredQuota, decode, encode
from engine.model.snapshot import ClusterState
from engine.policies import cohort
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.clusters.models import Cluster, KueueQuota

_WORKLOADS = 50_000
"""Of more than so many a pass does not keep all."""


class _Document(msgspec.Struct, frozen=True):
    """What a pass stores."""

    fair: bool | None
    standings: tuple[QuotaStatus, ...]
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A queue or cohort of Kueue's as somebody may see it."""

    standing: QuotaStatus
    path: str | None
    """Its queue in the tree that is in force; None: it has none there."""


@dataclass(frozen=True)
class Quota:
    """All that somebody may see of Kueue's quota."""

    changed_at: datetime
    fair: bool | None
    """Whether Kueue shares fairly; None: its settings were not there to be read."""
    entries: tuple[Entry, ...]
    strategies: tuple[str, ...] = ()
    """The conditions under which Kueue preempts while it shares fairly, in its words, the one that is tried first at
    the front; empty where it does not, or where that is not known."""

    def of(self, path: str) -> Entry | None:
        """That of a queue of the tree."""
        return next((one for one in self.entries if one.path == path), None)

    @property
    def elsewhere(self) -> tuple[Entry, ...]:
        """What has no queue in the tree."""
        return tuple(one for one in self.entries if one.path is None)


def store_quota(*, cluster: Cluster, state: ClusterState, known: bool | None, waits: bool, now: datetime) -> bool:
    """Keep it where it is another than before; nothing is kept where there is no Kueue. Whether it changed.

    ``known``: whether all of it is read; of a part of it no figure would be right. None: not yet, it stays as it was.
    ``waits``: whether any workload waits for it. Then all is kept that tells why.
    """
    if known is None:
        return False
    text = _document(state) if known else None
    if text is None:
        return bool(KueueQuota.objects.filter(cluster=cluster).delete()[0])
    row, made = KueueQuota.objects.get_or_create(cluster=cluster, defaults={"document": text, "changed_at": now})
    changed: dict[str, Any] = {}
    if row.document != text:
        changed |= {"document": text, "changed_at": now}
    moment = _moment(state) if waits else None
    if moment != (None if row.moment is None else bytes(row.moment)):
        changed |= {"moment": moment, "moment_at": now}
    if changed:
        KueueQuota.objects.filter(pk=row.pk).update(**changed)
    return made or "document" in changed


def _moment(state: ClusterState) -> bytes | None:
    if len(state.workloads) > _WORKLOADS:
        return None
    return encode(StoredQuota(state.quota(now_ms=0), tuple(state.sharing.values())))


def moment_of(cluster: Cluster, now: datetime) -> StoredQuota | None:
    """Return Kueue's quota with all its workloads as the last pass saw them, to be judged ``now``.

    None where none waits, where there are too many, or another release wrote it.
    """
    row = KueueQuota.objects.filter(cluster=cluster).only("moment").first()
    try:
        found = decode(bytes(row.moment)) if row is not None and row.moment is not None else None
    except ValueError:
        return None
    if found is None:
        return None
    quota = msgspec.structs.replace(found.quota, now_ms=int(now.timestamp() * 1000))
    return msgspec.structs.replace(found, quota=quota)


def moment_at(cluster: Cluster) -> datetime | None:
    """Return since when that stands as it does."""
    return KueueQuota.objects.filter(cluster=cluster).values_list("moment_at", flat=True).first()


def _document(state: ClusterState) -> str | None:
    if not state.cluster_queues and not state.cohorts:
        return None
    try:
        found = quota_statuses(state.quota(now_ms=0))
        sharing = next(iter(state.sharing.values()), None)
        strategies = (sharing.strategies or cohort.STRATEGIES) if sharing and sharing.fair else ()
        fair = sharing.fair if sharing else None
        return msgspec.json.encode(_Document(fair, found, tuple(map(str, strategies)))).decode()
    except (QuotaError, OverflowError):  # cohorts in a ring, sums beyond 64 bits: Kueue has no answer there either
        return None


def quota_of(user: Who, cluster: Cluster, seen: Collection[str]) -> Quota | None:
    """What the user may see of it; None where there is no Kueue. ``seen``: the paths of the tree that the user sees.

    A tenant sees its own queues. What those could borrow now would tell what others use: where the cohort at the top is
    not the tenant's, only what is free of a queue's own quota is told as available.
    """
    row = KueueQuota.objects.filter(cluster=cluster).only("document", "changed_at").first()
    if row is None:
        return None
    document, scope = msgspec.json.decode(row.document, type=_Document), scope_of(user, "view")
    where = queue_paths(document.standings)
    placed = [(one, path if (path := where[one.cohort, one.name]) in seen else None) for one in document.standings]
    if scope.everything:
        entries = tuple(Entry(one, path) for one, path in placed)
        return Quota(row.changed_at, document.fair, entries, document.strategies)
    lenders = _lenders(document.standings, scope, where)
    own = ((one if one.above in lenders else _own(one), path) for one, path in placed if path is not None)
    return Quota(row.changed_at, document.fair, tuple(Entry(one, path) for one, path in own), document.strategies)


def _lenders(every: Iterable[QuotaStatus], scope: Scope, where: Mapping[tuple[bool, str], str]) -> set[str]:
    """The cohorts with all that they could lend from in a scope; and none, which lends nothing."""
    found = {""}
    for one in every:
        top = one.cohort and not one.above and scope.has_path(where[True, one.name])
        if top or (one.cohort and one.above and one.above in found):
            found.add(one.name)
    return found


def _own(one: QuotaStatus) -> QuotaStatus:
    return msgspec.structs.replace(one, lines=tuple(map(_own_line, one.lines)))


def _own_line(line: FlavorStatus) -> FlavorStatus:
    free = max(0, line.total - line.used - line.lent)
    return msgspec.structs.replace(line, available=min(line.available, free))
