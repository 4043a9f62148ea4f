"""Reads of the histories of several pods at once, and of the pods that wait now."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Q

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.pods import (
    PAGE,
    PodEvent,
    PodEvents,
    Search,
    as_it_went,
    asks_of,
    page_of,
    place_in,
    victims_of,
)

Key = tuple[int, str, str]
"""A pod by its cluster's id, its namespace and its name."""
_MOST_EVENTS = 1_000
"""Of all pods of a page together, the newest."""


def key_of(event: PodEvent) -> Key:
    """Return the pod that an event is about."""
    return event.decision.cluster_id, event.namespace, event.name


def histories(user: Who, keys: Collection[Key]) -> dict[Key, list[PodEvent]]:
    """Return what was decided about some pods, each in the order of its own page. Two queries."""
    if not keys:
        return {}
    victims = victims_of(user, Search()).filter(_named(keys, ""))[:_MOST_EVENTS]
    asks = asks_of(user, Search()).filter(_named(keys, "ask_"))[:_MOST_EVENTS]
    found: dict[Key, list[PodEvent]] = defaultdict(list)
    for event in (*(PodEvent(one.decision, one) for one in victims), *(PodEvent(row, None) for row in asks)):
        found[key_of(event)].append(event)
    return {key: as_it_went(events) for key, events in found.items()}


def pending_now(user: Who, search: Search, before: str = "", size: int = PAGE) -> PodEvents:
    """Return the user's asks that the last passes considered, or that wait for room to come free. Two queries."""
    passes = Cluster.objects.restrict(user, "view").exclude(status__pass_at=None).distinct().order_by()
    considered = Q(pk__in=[])
    for cluster, pass_at in passes.values_list("pk", "status__pass_at"):
        considered |= Q(cluster=cluster, last_seen__gte=pass_at) | Q(cluster=cluster, state__in=Decision.OPEN)
    rows = asks_of(user, search, place_in(before)).filter(considered)
    rows = rows.exclude(state=Decision.State.CLOSED).exclude(outcome="fits")
    return page_of([PodEvent(row, None) for row in rows[: size + 1]], size)


def _named(keys: Iterable[Key], of: str) -> Q:
    """Rows about pods of these names; ``of``: what their columns begin with."""
    names: dict[tuple[int, str], list[str]] = defaultdict(list)
    for pk, namespace, name in keys:
        names[pk, namespace].append(name)
    query = Q(pk__in=[])
    for (pk, namespace), some in names.items():
        query |= Q(**{"cluster": pk, f"{of}namespace": namespace, f"{of}name__in": some})
    return query
