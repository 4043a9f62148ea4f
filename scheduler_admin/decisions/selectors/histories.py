"""Reads of the histories of several pods at once, and of the pods that wait now."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Q, Value

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.pods import (
    PAGE,
    Place,
    PodEvent,
    PodEvents,
    Search,
    as_it_went,
    asks_of,
    event_of,
    own_asks,
    page_of,
    place_in,
    victims_of,
    with_clusters,
)
from scheduler_admin.decisions.sentences import LOST

Key = tuple[int, str, str]
"""A pod by its cluster's id, its namespace and its name."""
_MOST_EVENTS = 1_000
"""Of all pods of a page together, the newest."""


def key_of(event: PodEvent) -> Key:
    """Return the pod that an event is about."""
    return event.decision.cluster_id, event.namespace, event.name


class PastEvent(NamedTuple):
    """An event of a pod, with nothing but what its place among the pod's others depends on."""

    at: datetime
    decision: int
    victim: int
    """The victim's id; 0 where the pod is the ask."""
    cluster: int
    namespace: str
    name: str
    victim_uid: str
    state: str

    @property
    def order(self) -> Place:
        """The place among all events."""
        return self.at, self.decision, self.victim

    @property
    def lost(self) -> bool:
        """Whether the pod really went."""
        return self.state in LOST


def histories(user: Who, keys: Collection[Key]) -> dict[Key, list[PastEvent]]:
    """Return what was decided about some pods, each in the order of its own page. One query."""
    if not keys:
        return {}
    victims = Victim.objects.restrict(user, "view").filter(named(keys, "")).order_by()
    asks = own_asks(user).filter(named(keys, "ask_")).order_by()
    rows = victims.values_list(
        *("decision__first_seen", "decision_id", "pk", "decision__cluster_id", "namespace", "name", "uid", "state")
    ).union(
        asks.values_list("first_seen", "pk", Value(0), "cluster_id", "ask_namespace", "ask_name", Value(""), Value("")),
        all=True,
    )
    found: dict[Key, list[PastEvent]] = defaultdict(list)
    for one in map(PastEvent._make, rows.order_by("-decision__first_seen")[:_MOST_EVENTS]):
        found[one.cluster, one.namespace, one.name].append(one)
    return {key: as_it_went(events) for key, events in found.items() if key in keys}


def events_at(user: Who, places: Collection[Place]) -> list[PodEvent]:
    """Return the events at some places. A query for victims and one for asks, if there are any."""
    victims = [victim for _at, _decision, victim in places if victim]
    asks = [decision for _at, decision, victim in places if not victim]
    found = list(map(event_of, victims_of(user, Search()).filter(pk__in=victims))) if victims else []
    return [*found, *map(event_of, asks_of(user, Search()).filter(pk__in=asks))] if asks else found


def pending_now(user: Who, search: Search, before: str = "", size: int = PAGE) -> PodEvents:
    """Return the user's asks that the last passes considered, or that wait for room to come free. Four queries.

    They are few, and put in order here: a database that is asked for an order may read its whole history instead.
    """
    passes = Cluster.objects.restrict(user, "view").exclude(status__pass_at=None).order_by()
    times = list(passes.values_list("pk", "status__pass_at"))
    considered, opened = Q(pk__in=[]), Q(cluster__in=[pk for pk, _at in times], state__in=Decision.OPEN)
    for pk, pass_at in times:
        considered |= Q(cluster=pk, last_seen__gte=pass_at)
    rows = asks_of(user, search, place_in(before)).order_by()
    waiting = rows.exclude(state=Decision.State.CLOSED)
    found = {one for query in (considered, opened) for one in waiting.filter(query).values_list("first_seen", "pk")}
    newest = [pk for _at, pk in sorted(found, reverse=True)[: size + 1]]
    of_these = with_clusters(Decision.objects.filter(pk__in=newest)).order_by("-first_seen", "-pk")
    return page_of(list(map(event_of, of_these)), size)


def named(keys: Iterable[Key], of: str) -> Q:
    """Return the rows about pods of these names, in any cluster, by the prefix of the fields; one index finds them.

    Each namespace has its own names: asked for any of these names in any of these namespaces, PostgreSQL may read all
    rows of the namespaces.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for _cluster, namespace, name in keys:
        names[namespace].add(name)
    rows = [Q(**{f"{of}namespace": namespace, f"{of}name__in": sorted(some)}) for namespace, some in names.items()]
    return reduce(or_, rows)
