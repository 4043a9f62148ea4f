"""Reads for tenants: one row for each pod that decisions are about, with its present state."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import Q

from engine.model.snapshot.node_listing import ListedPod, part_of
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.decisions.selectors.histories import Key, events_at, histories, key_of, pending_now
from scheduler_admin.decisions.selectors.pods import PAGE, PodEvent, PodEvents, Search, events, place_in
from scheduler_admin.decisions.sentences import LOST
from scheduler_admin.nodes.models import NodePods
from scheduler_admin.nodes.services import code_of, pods_in
from scheduler_admin.pending.models import Wait

_Blob: TypeAlias = "bytes | memoryview[int]"
_MOST_READ = 5
"""Pages of events that are read for one page of pods: each pod is shown where its newest event is."""
_MOST_PLACES = 100
"""Nodes that are looked through for pods of which it is not known where they run."""


@dataclass(frozen=True)
class OwnPod:
    """A pod that decisions are about."""

    event: PodEvent
    """The event that says most about it."""
    now: ListedPod | None
    """The pod of this name, as the last pass saw it."""
    known: bool
    """Whether passes store what they see. If not, only events tell the state."""
    wait: Wait | None
    """How long it waited, and what was expected then; None if it never waited."""

    @property
    def again(self) -> bool:
        """Whether the pod that there is now has the same name as the event's pod, but is another one."""
        return self.now is not None and self.now.uid != uid_of(self.event)


@dataclass(frozen=True)
class OwnPods:
    """A page of pods, and where the next one begins."""

    pods: list[OwnPod]
    older: str


def own_pods(user: Who, search: Search, before: str = "", size: int = PAGE) -> OwnPods:
    """Return the user's pods that decisions are about, by their newest events; of ``pending`` those that wait now."""
    read = pending_now if search.kind == "pending" else events
    for _attempt in range(_MOST_READ):
        page = read(user, search, before, size)
        found = _first_seen_here(user, page, before, search.kind)
        if found or not page.older:
            break
        before = page.older
    return OwnPods(present(user, found), page.older)


def _first_seen_here(user: Who, page: PodEvents, before: str, kind: str) -> list[PodEvent]:
    """Return one event for each pod of a page of events, without the pods that an earlier page has shown."""
    newest = {key_of(event): event for event in reversed(page.events)}
    place, read = place_in(before), {event.order: event for event in page.events}
    # The newest event of all says most, but of a victim that did not go: another decision may have taken it before.
    clear = {key for key, event in newest.items() if event.asked or event.lost} if place is None and not kind else set()
    known = histories(user, newest.keys() - clear)
    shown = []
    for key, event in newest.items():
        history = known.get(key, [event])
        of_kind = (one.order for one in history if not kind or (not one.victim_uid) == (kind == "pending"))
        if place is None or max(of_kind, default=event.order) < place:
            shown.append(history[0].order)
    read |= {event.order: event for event in events_at(user, set(shown) - read.keys())}
    return [read[order] for order in sorted(shown, reverse=True) if order in read]


def present(user: Who, found: Sequence[PodEvent]) -> list[OwnPod]:
    """Return the pods of events, one for each, with their present state. Two queries, or up to four."""
    uids = [uid_of(event) for event in found]
    clusters = {event.decision.cluster_id for event in found}
    rows = Wait.objects.restrict(user, "view").filter(cluster__in=clusters, uid__in=uids) if uids else ()
    waits = {(wait.cluster_id, wait.uid): wait for wait in rows}
    storing = {event.decision.cluster_id for event in found if event.cluster.nodes_token}
    listed = _listed(user, [event for event in found if event.decision.cluster_id in storing], waits)
    return [
        OwnPod(
            event=event,
            now=listed.get(key_of(event)),
            known=event.decision.cluster_id in storing,
            wait=waits.get((event.decision.cluster_id, uid_of(event))),
        )
        for event in found
    ]


def uid_of(event: PodEvent) -> str:
    """Return the UID of the pod that an event is about."""
    return event.victim.uid if event.victim else event.decision.ask_uid


def _listed(user: Who, found: Sequence[PodEvent], waits: dict[tuple[int, str], Wait]) -> dict[Key, ListedPod]:
    """Return the pods of these names that there are: first where they have to be, then where they may be."""
    places: dict[int, set[str]] = {}
    for event in found:
        node = event.victim.node if event.victim else event.decision.node
        places.setdefault(event.decision.cluster_id, set()).update(
            {part_of(event.namespace, event.application), *([node] if node else ())}
        )
    query = Q(pk__in=[])
    for cluster, names in places.items():
        query |= Q(cluster=cluster, name__in=names)
    rows = NodePods.objects.filter(query).order_by() if places else NodePods.objects.none()
    wanted = {key_of(event) for event in found}
    listed = _own(user, rows.values_list("cluster", "pods"), wanted)
    lost = [event for event in found if key_of(event) not in listed and _may_run_elsewhere(event, waits)]
    return listed | _own(user, _elsewhere(lost), wanted) if lost else listed


def _may_run_elsewhere(event: PodEvent, waits: dict[tuple[int, str], Wait]) -> bool:
    """Whether nothing says where the pod is: a victim was on its node, an ask may have got room anywhere."""
    if event.victim is not None:
        return event.victim.state in LOST and event.victim.controller.startswith("StatefulSet/")
    wait = waits.get((event.decision.cluster_id, event.decision.ask_uid))
    return wait is None or wait.ending != Wait.Ending.POD_GONE


def _elsewhere(lost: Sequence[PodEvent]) -> Iterable[tuple[int, _Blob]]:
    """Yield the cluster and the pods of the nodes that have pods of their applications."""
    codes: dict[int, set[bytes]] = {}
    for event in lost:
        codes.setdefault(event.decision.cluster_id, set()).add(code_of(event.namespace, event.application))
    rows = NodePods.objects.filter(cluster__in=codes).order_by().values_list("pk", "cluster", "applications")
    places = [pk for pk, cluster, held in rows if any(code in bytes(held) for code in codes[cluster])]
    return NodePods.objects.filter(pk__in=places[:_MOST_PLACES]).order_by().values_list("cluster", "pods")


def _own(user: Who, rows: Iterable[tuple[int, _Blob]], wanted: Collection[Key]) -> dict[Key, ListedPod]:
    """Return the user's pods among those of some nodes, which are everybody's."""
    scope = scope_of(user, "view")
    return {
        (cluster, pod.namespace, pod.name): pod
        for cluster, blob in rows
        for pod in pods_in(bytes(blob))
        if (cluster, pod.namespace, pod.name) in wanted and scope.has_pod(pod.namespace, pod.queue or "")
    }
