"""What a pass read of a cluster, kept so that pages never wait on the cluster itself."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import msgspec

from engine.cluster.watching.yunikorn import YuniKornReading
from engine.model.objects import Pod
from engine.model.quantities import Amounts, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.model.snapshot.resource_quotas import quota_limits
from engine.observation.discovery import other_schedulers, preempting_classes
from engine.observation.yunikorn_diff import queue_differences
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.breakers import FIRST_READING
from scheduler_admin.clusters.safeguards.holds import tell
from scheduler_admin.clusters.status import pending_workloads
from scheduler_admin.clusters.status.priority_classes import class_quotas, class_use, classes, keep_classes
from scheduler_admin.clusters.status.unplaced_pods import unplaced
from scheduler_admin.clusters.status.unreadable_objects import kept as odd_objects
from scheduler_admin.clusters.status.versions import grown

_APPLICATIONS_KEPT = 20
"""The largest of each leaf."""
_DIFFERENCES_KEPT = 200
_FIGURES = frozenset({"pods", "unplaced", "queues", "applications", "class_use"})
"""What moves all the time, and no page of decisions shows."""


def versions_of(cluster: Cluster) -> Mapping[str, str]:
    """Return which versions of schedulers run there, by name, as far as it is known."""
    found: Mapping[str, str] | None = (
        ClusterStatus.objects.filter(cluster=cluster).values_list("versions", flat=True).first()
    )
    return found or {}


def note_versions(*, cluster: Cluster, versions: Mapping[str, str]) -> None:
    """Note which versions of schedulers run there, where that is news; what could not be asked stays as it was."""
    status = ClusterStatus.objects.filter(cluster=cluster).only("versions").first()
    if status is None:
        return
    known = {**status.versions, **versions}
    if known != status.versions:
        ClusterStatus.objects.filter(pk=status.pk).update(versions=known)
        mark_news(cluster.pk)


def store_status(
    *,
    cluster: Cluster,
    revision_number: int,
    snapshot: Snapshot,
    state: ClusterState,
    tree: QueueTree,
    figures: Mapping[str, Mapping[str, Any]],
    now: datetime,
    pass_us: int,
    news: bool,
    moved: bool = False,
    missing: Mapping[str, str] | None = None,
    odd: Mapping[str, str] | None = None,
    yunikorn: YuniKornReading | None = None,
    held: Iterable[Pod] = (),
) -> None:
    """Replace the cluster's status after a pass at ``now`` that took ``pass_us`` microseconds.

    ``snapshot`` is of ``state``, ``figures`` are its queues'. ``news`` tells that decisions changed, ``moved`` that
    something did which no page of decisions shows; other changes are found here. ``missing``: see ClusterStatus.
    ``odd``: objects that can't be read -> why. ``yunikorn``: what it last said of its queues. ``held``: workloads that
    wait for quota.
    """
    status, created = ClusterStatus.objects.get_or_create(cluster=cluster)
    facts: dict[str, Any] = {
        "revision_number": revision_number,
        "nodes": len(snapshot.nodes),
        "pods": len(snapshot.pods),
        "unplaced": unplaced(snapshot, state.scheduler) if len(tree.queues) > 1 else {},
        "capacity": snapshot.capacity,
        "queues": figures,
        "applications": applications(snapshot),
        "rivals": preempting_classes(snapshot.pods),
        "schedulers": schedulers(snapshot.pods),
        "class_use": class_use(snapshot.pods),
        "class_quotas": class_quotas(state),
        "quotas": quota_limits(state.quotas.values()),
        "group_scheduling": msgspec.to_builtins(state.group_scheduling),
        "missing": dict(missing or {}),
        "odd": odd_objects(odd or {}, status.odd, now),
        "odd_count": len(odd or {}),
        "error": "",
        "error_since": None,
        "yunikorn_differs": status.yunikorn_differs,
        "pending_workloads": pending_workloads.kept(held),
    }
    asked_at = datetime.fromtimestamp(yunikorn.at_ms / 1000, UTC) if yunikorn else None
    if asked_at != status.yunikorn_at:
        facts["yunikorn_differs"] = _differs(yunikorn, snapshot, tree)
    if status.error and not _first(status.error):
        tell(cluster, "cluster.readable")
    changed = {name: value for name, value in facts.items() if created or getattr(status, name) != value}
    told = keep_classes(status=status, read=classes(state), now=now) or news or bool(changed.keys() - _FIGURES)
    if told or moved or changed:
        changed |= grown(decided=told)
    ClusterStatus.objects.filter(pk=status.pk).update(
        read_at=now, pass_at=now, pass_us=pass_us, yunikorn_at=asked_at, **changed
    )


def schedulers(pods: Iterable[Pod]) -> list[str]:
    """Return the other schedulers that run there, by name; a tenant's pod that is called like one is none."""
    found = other_schedulers(pods)
    if not found:
        return []
    tenants = {one for some in Tenant.objects.values_list("namespaces", flat=True) for one in some}
    return [name for name, namespaces in found.items() if not namespaces <= tenants]


def _differs(reading: YuniKornReading | None, snapshot: Snapshot, tree: QueueTree) -> list[dict[str, Any]]:
    """Compared once, when it is new: usage moves on, and what it said then does not."""
    found = queue_differences(snapshot, tree, reading.queues) if reading else ()
    return [msgspec.to_builtins(one) for one in found[:_DIFFERENCES_KEPT]]


def mark_news(cluster_id: int) -> None:
    """Let pages know that something of theirs has changed."""
    ClusterStatus.objects.filter(cluster=cluster_id).update(**grown())


def store_error(*, cluster: Cluster, sentence: str, now: datetime) -> None:
    """Say why a cluster can't be read, and since when. Pages show it as a sentence, so it ends as one."""
    sentence = f"{sentence.rstrip('.')}."
    status, _ = ClusterStatus.objects.get_or_create(cluster=cluster)
    if status.error == sentence:
        return
    if not _first(sentence) and (not status.error or _first(status.error)):
        tell(cluster, "cluster.unreadable", error=sentence)
    since = status.error_since if status.error else now
    ClusterStatus.objects.filter(pk=status.pk).update(error=sentence, error_since=since, **grown())


def _first(sentence: str) -> bool:
    """Whether it only says that the worker has just begun to read, which is nothing to be alarmed about."""
    return sentence == FIRST_READING


def queue_figures(snapshot: Snapshot, tree: QueueTree, held: Iterable[Pod] = ()) -> dict[str, dict[str, Any]]:
    """Path -> what its bound pods hold, how many asks wait, and since when the oldest does; rolled up.

    ``held``: workloads that wait for quota, which are asks too.
    """
    used = snapshot.usage(tree)
    asks = dict.fromkeys(tree.queues, 0)
    oldest: dict[str, int | None] = dict.fromkeys(tree.queues)
    for ask in chain(snapshot.asks, held):
        if ask.queue is None or ask.queue not in asks or ask.waiting_ms is None:
            continue
        for path in tree.lineage(ask.queue):
            asks[path] += 1
            known = oldest[path]
            oldest[path] = ask.waiting_ms if known is None else min(known, ask.waiting_ms)
    return {path: {"used": used[path], "asks": asks[path], "oldest_ask_ms": oldest[path]} for path in tree.queues}


def applications(snapshot: Snapshot) -> dict[str, list[dict[str, Any]]]:
    """Leaf path -> its running applications, largest first by share of the cluster."""
    members: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in snapshot.pods:
        if pod.queue is not None and pod.node is not None:
            members.setdefault((pod.queue, pod.namespace, pod.application), []).append(pod)
    by_leaf: dict[str, list[dict[str, Any]]] = {}
    for (leaf, namespace, name), pods in sorted(members.items()):
        requests = total(pod.requests for pod in pods)
        by_leaf.setdefault(leaf, []).append(
            {"name": name, "namespace": namespace, "pods": len(pods), "requests": requests}
        )
    for found in by_leaf.values():
        found.sort(key=lambda one: -_share(one["requests"], snapshot.capacity))
        del found[_APPLICATIONS_KEPT:]
    return by_leaf


def _share(requests: Mapping[str, int], capacity: Amounts) -> int:
    """The largest part of the cluster that it holds of any resource, in millionths."""
    return max(
        (amount * 1_000_000 // capacity[name] for name, amount in requests.items() if capacity.get(name)), default=0
    )
