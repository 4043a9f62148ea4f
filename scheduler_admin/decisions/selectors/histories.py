"""Reads of the histories of several pods at once, and of the pods that wait now."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import reduce
from operator import or_

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
    with_clusters,
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
    return {key: as_it_went(events) for key, events in found.items() if key in keys}


def pending_now(user: Who, search: Search, before: str = "", size: int = PAGE) -> PodEvents:
    """Return the user's asks that the last passes considered, or that wait for room to come free. Four queries.

    They are few, and put in order here: a database that is asked for an order may read its whole history instead.
    """
    passes = Cluster.objects.restrict(user, "view").exclude(status__pass_at=None).distinct().order_by()
    times = list(passes.values_list("pk", "status__pass_at"))
    considered, opened = Q(pk__in=[]), Q(cluster__in=[pk for pk, _at in times], state__in=Decision.OPEN)
    for pk, pass_at in times:
        considered |= Q(cluster=pk, last_seen__gte=pass_at)
    rows = asks_of(user, search, place_in(before)).order_by()
    waiting = rows.exclude(state=Decision.State.CLOSED)
    found = {one for query in (considered, opened) for one in waiting.filter(query).values_list("first_seen", "pk")}
    newest = [pk for _at, pk in sorted(found, reverse=True)[: size + 1]]
    of_these = with_clusters(Decision.objects.filter(pk__in=newest)).order_by("-first_seen", "-pk")
    return page_of([PodEvent(row, None) for row in of_these], size)


def _named(keys: Iterable[Key], of: str) -> Q:
    """Rows about pods of these names, in any cluster: one index finds them.

    Each namespace has its own names: asked for any of these names in any of these namespaces, PostgreSQL may read all
    rows of the namespaces.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for _cluster, namespace, name in keys:
        names[namespace].add(name)
    rows = [Q(**{f"{of}namespace": namespace, f"{of}name__in": sorted(some)}) for namespace, some in names.items()]
    return reduce(or_, rows)
