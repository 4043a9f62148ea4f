"""Reads for tenants: one row for each pod that decisions are about, with its present state."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q

from engine.model.snapshot.node_listing import ListedPod
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.decisions.selectors.histories import Key, events_at, histories, key_of, named, pending_now
from scheduler_admin.decisions.selectors.pods import PAGE, PodEvent, PodEvents, Search, events, place_in
from scheduler_admin.nodes.models import NodePods, PodPlace
from scheduler_admin.nodes.services import pods_in
from scheduler_admin.pending.models import Wait

_MOST_READ = 5
"""Pages of events that are read for one page of pods: each pod is shown where its newest event is."""


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
    """Return the pods of events, one for each, with their present state. Three queries."""
    uids = [uid_of(event) for event in found]
    clusters = {event.decision.cluster_id for event in found}
    rows = Wait.objects.restrict(user, "view").filter(cluster__in=clusters, uid__in=uids) if uids else ()
    waits = {(wait.cluster_id, wait.uid): wait for wait in rows}
    storing = {event.decision.cluster_id for event in found if event.cluster.nodes_token}
    listed = _listed(user, [event for event in found if event.decision.cluster_id in storing])
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


def _listed(user: Who, found: Sequence[PodEvent]) -> dict[Key, ListedPod]:
    """Return the pods of these names that there are now."""
    wanted = {key_of(event) for event in found}
    if not wanted:
        return {}
    looked_up = PodPlace.objects.filter(named(wanted, ""), cluster__in={cluster for cluster, *_name in wanted})
    return pods_at(user, looked_up.order_by().values_list("cluster", "namespace", "name", "place"), wanted)


def pods_at(user: Who, places: Iterable[tuple[int, str, str, str]], wanted: Collection[Key]) -> dict[Key, ListedPod]:
    """Return the user's pods among those wanted, by the cluster, the namespace, the name and the place of each."""
    names: dict[int, set[str]] = {}
    for cluster, namespace, name, place in places:
        if (cluster, namespace, name) in wanted:
            names.setdefault(cluster, set()).add(place)
    if not names:
        return {}
    query = reduce(or_, (Q(cluster=cluster, name__in=sorted(some)) for cluster, some in names.items()))
    scope, rows = scope_of(user, "view"), NodePods.objects.filter(query).order_by().values_list("cluster", "pods")
    return {
        (cluster, pod.namespace, pod.name): pod
        for cluster, blob in rows
        for pod in pods_in(bytes(blob))  # everybody's
        if (cluster, pod.namespace, pod.name) in wanted and scope.has_pod(pod.namespace, pod.queue or "")
    }
