"""Finds the pods that there are now, whether or not a decision is about them, by the beginnings of their names."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from engine.model.snapshot.node_listing import ListedPod
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.selectors.histories import Key
from scheduler_admin.decisions.selectors.pods import Search
from scheduler_admin.nodes.models import PodPlace
from scheduler_admin.nodes.own_pods import pods_at

MOST_FOUND = 50
_COLUMNS = ("cluster", "namespace", "name", "place")


@dataclass(frozen=True)
class FoundPod:
    """A pod that there is, as the last pass saw it."""

    cluster: str
    pod: ListedPod


@dataclass(frozen=True)
class FoundPods:
    """The first pods that a search finds, by namespace and name, and whether there are more."""

    pods: list[FoundPod]
    more: bool


def find_pods(user: Who, search: Search, without: Collection[Key] = (), most: int = MOST_FOUND) -> FoundPods:
    """Return the user's pods that a search finds, but those of some keys. At most five queries.

    Only a text or a namespace finds something. States are not searched, so a search for pods of one state finds none.
    """
    if search.kind or not (search.text or search.namespace):
        return FoundPods([], more=False)
    enough = most + len(without) + 1
    places = {place for rows in _looked_up(user, search) for place in rows.values_list(*_COLUMNS)[:enough]}
    shown = sorted((place for place in places if place[:3] not in without), key=lambda place: (*place[1:3], place[0]))
    pods = pods_at(user, shown[:most], {place[:3] for place in shown[:most]})
    names = dict(Cluster.objects.filter(pk__in={key[0] for key in pods}).values_list("pk", "name")) if pods else {}
    found = [FoundPod(names[place[0]], pods[place[:3]]) for place in shown[:most] if place[:3] in pods]
    return FoundPods(found, more=len(shown) > most)


def _looked_up(user: Who, search: Search) -> Iterator[QuerySet[PodPlace]]:
    """Yield a query for each way in which a text can match, as PostgreSQL has an index and an order for each."""
    rows = PodPlace.objects.restrict(user, "view")
    rows = rows.filter(namespace=search.namespace) if search.namespace else rows
    # In the order of an index: else PostgreSQL sorts all that match, or reads the whole index in the order.
    by_name = ("name",) if scope_of(user, "view").everything and not search.namespace else ("namespace", "name")
    space, slash, pod = search.text.partition("/")
    if slash:
        yield rows.filter(namespace=space, name__startswith=pod).order_by("namespace", "name")
        return
    yield rows.filter(name__startswith=search.text).order_by(*by_name)
    if search.text:
        yield rows.filter(application__startswith=search.text).order_by("application", "namespace")
        yield rows.filter(namespace=search.text).order_by("namespace", "name")
