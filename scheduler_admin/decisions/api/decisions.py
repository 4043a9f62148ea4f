"""The decisions of a cluster."""

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.decisions.api.own_pages import is_long, own_page
from scheduler_admin.decisions.api.parameters import DecisionParameters, filtered, mentioned
from scheduler_admin.decisions.api.redaction import SeenDecision, seen_by
from scheduler_admin.decisions.api.serializers import DecisionDetailSerializer, DecisionsSerializer
from scheduler_admin.decisions.models import DecisionQuerySet
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM
from scheduler_admin.rest.pagination import NewestFirst, next_link
from scheduler_admin.rest.parameters import queue_known


class DecisionView(ApiView):
    """What decision routes share."""

    def rows(self) -> DecisionQuerySet:
        """The user's decisions, each with those of its victims that the user may see."""
        return seen_by(self.request.user)


class DecisionsView(DecisionView):
    """The decisions of a cluster."""

    actions = {"GET": "view"}

    queries = {"GET": DecisionParameters}

    @extend_schema(
        operation_id="list_decisions",
        tags=["decisions"],
        parameters=[CLUSTER, DecisionParameters],
        responses={200: DecisionsSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Decisions, newest first. Follow `next`: pages neither repeat nor miss one while new ones come in."""
        cluster, scope = self.cluster(name), self.scope
        queue = self.asked.get("queue")
        if queue and not queue_known(queue, cluster_id=cluster.pk, user=request.user):
            raise problems.WrongParameters({"queue": [_("There is no such queue.")]})
        large = ("document", "laws", "revision__document", "revision__source")
        rows = self.rows().placed(cluster, *mentioned(self.asked, request.user)).defer(*large)
        mine = filtered(rows, self.asked, user=request.user, scope=scope)
        if not scope.everything and is_long(self.asked):
            found, place = own_page(mine, self.asked, cluster=cluster, scope=scope)
        else:
            found, place = NewestFirst(self.asked, "at", "number").page(mine)
        redaction = Redaction.of(scope)
        results = [SeenDecision(decision, redaction) for decision in found]
        body = {"next": next_link(request, place), "results": results}
        return Response(DecisionsSerializer(body).data)


class DecisionDetailView(DecisionView):
    """One decision."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="get_decision",
        tags=["decisions"],
        responses={200: DecisionDetailSerializer, **PROBLEM},
    )
    def get(self, request: Request, pk: int) -> Response:
        """One decision with the laws it was held against, what happened, and the engine's own document."""
        del request
        seen = SeenDecision(get_object_or_404(self.rows(), pk=pk), Redaction.of(self.scope))
        return Response(DecisionDetailSerializer(seen).data)
