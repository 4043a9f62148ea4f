"""The decisions of a cluster, and one of them."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.decisions.api.own_pages import is_long, own_page
from scheduler_admin.decisions.api.parameters import DecisionParameters, query_of
from scheduler_admin.decisions.api.seen import SeenDecision, seen, seen_by
from scheduler_admin.decisions.api.serializers import DecisionDetailSerializer, DecisionsSerializer
from scheduler_admin.decisions.models import Decision, DecisionQuerySet
from scheduler_admin.rest import problems
from scheduler_admin.rest.pagination import NewestFirst, next_link
from scheduler_admin.rest.parameters import queue_known
from scheduler_admin.rest.viewsets import InCluster, Listed, Retrieved

_UNLISTED = (
    *("laws", "revision__document", "revision__source", "revision__parameters", "revision__reason"),
    *("revision__published_at", "revision__digest", "revision__author", "revision__author_name"),
)
"""Columns that a list does not show."""


class DecisionPages(BasePagination):
    """Pages of decisions, the newest first: of all of a cluster's, or of the few that a tenant sees."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Return the decisions of the page, as far as their reader may see them."""
        scope, asked = view.scope, view.asked
        if not scope.everything and is_long(asked):
            found, place = own_page(queryset, asked, cluster=view.named_cluster, scope=scope)
        else:
            found, place = NewestFirst(asked, "at", "number").page(queryset)
        self._next = next_link(request, place)
        for row in found:
            row.cluster = view.named_cluster  # read once for all
        return _given_up(seen(found, view.user))

    def get_paginated_response(self, data: Any) -> Response:
        """Return the decisions with the address of the next page; null on the last."""
        return Response({"next": self._next, "results": data})


def _given_up(rows: list[SeenDecision]) -> Iterator[SeenDecision]:
    """Each decision in turn, which is forgotten once it is written: a long list is not in memory twice."""
    rows.reverse()
    while rows:
        yield rows.pop()


class ClusterDecisionViewSet(Listed, InCluster):
    """The decisions of a cluster, newest first. Follow `next`; pages neither repeat nor miss decisions."""

    actions = {"GET": "view"}
    queries = {"GET": DecisionParameters}
    tag = "decisions"
    resource = "decision", "decisions"
    queryset = Decision.objects.all()
    serializer_class = DecisionDetailSerializer
    list_class = DecisionsSerializer
    pagination_class = DecisionPages

    def get_queryset(self) -> DecisionQuerySet:
        """Return the cluster's decisions that the query asks for. Raises WrongParameters for an unknown queue."""
        user, queue = self.request.user, self.asked.get("queue")
        if queue and not queue_known(queue, cluster_id=self.named_cluster.pk, user=user):
            raise problems.WrongParameters({"queue": [_("This queue does not exist.")]})
        rows = query_of(self.asked, user).rows(user, self.named_cluster)
        return rows.select_related("revision").defer(*_UNLISTED)


class DecisionViewSet(Retrieved):
    """One decision, wherever it was taken."""

    actions = {"GET": "view"}
    tag = "decisions"
    resource = "decision", "decisions"
    queryset = Decision.objects.all()
    serializer_class = DecisionDetailSerializer

    def get_queryset(self) -> DecisionQuerySet:
        """Return the user's decisions."""
        return seen_by(self.request.user)

    def retrieve(self, request: Request, **_place: Any) -> Response:
        """A decision with its safety checks, its steps, and the engine's own document."""
        del request
        [found] = seen([self.get_object()], self.user)
        return self.answer(found)
