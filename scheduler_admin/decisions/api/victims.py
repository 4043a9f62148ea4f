"""Victims: the pods that decisions evicted or would have, wherever they ran."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.scopes import Who, scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.decisions.api.redaction import SeenDecision
from scheduler_admin.decisions.api.serializers import AskSerializer, VictimSerializer
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.openapi.parts import PROBLEM
from scheduler_admin.rest.pagination import NumberedPageParameters, next_link
from scheduler_admin.rest.parameters import NAMESPACE, NODE, QUEUE, cluster_asked, forward


class VictimsParameters(NumberedPageParameters):
    """Filters of victims; all that are given must hold."""

    cluster = serializers.SlugField(required=False, help_text="Name of a cluster.")
    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="Ran in this queue or below it."
    )
    namespace = serializers.RegexField(NAMESPACE, required=False, max_length=limits.NAMESPACE)
    pod = serializers.RegexField(NODE, required=False, max_length=limits.OBJECT_NAME, help_text="Name of the pod.")
    application = serializers.CharField(required=False, max_length=300)
    state = serializers.ChoiceField(Victim.State.choices, required=False, help_text="What became of it.")
    since = UtcField(required=False, help_text="Decided at or after this time, RFC 3339.")
    until = UtcField(required=False, help_text="Decided before this time, RFC 3339.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A time range that holds anything."""
        return forward(attrs, "since", "until")


class PreemptedSerializer(VictimSerializer):
    """A victim with the decision that chose it. `ask` is what the site tells of the preemptor."""

    cluster = serializers.CharField(source="decision.cluster.name")
    decision = serializers.IntegerField(source="decision_id")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source"
    )
    decided_at = UtcField(source="decision.first_seen")
    ask = serializers.SerializerMethodField()

    class Meta(VictimSerializer.Meta):
        fields = ["cluster", "decision", "source", "decided_at", "ask", *VictimSerializer.Meta.fields]

    @extend_schema_field(AskSerializer)
    def get_ask(self, victim: Victim) -> dict[str, Any]:
        """For whom it went."""
        redaction: Redaction = self.context["redaction"]
        return dict(AskSerializer(SeenDecision(victim.decision, redaction).ask).data)


class VictimsSerializer(serializers.Serializer[Any]):
    """A page of victims, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = PreemptedSerializer(many=True)


class VictimsView(ApiView):
    """Victims in all clusters."""

    actions = {"GET": "view"}

    queries = {"GET": VictimsParameters}

    @extend_schema(
        operation_id="list_victims",
        tags=["decisions"],
        parameters=[VictimsParameters],
        responses={200: VictimsSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """Your pods that decisions chose as victims, the newest first. Follow `next`."""
        cluster_asked(self.asked, request.user)
        rows = Victim.objects.restrict(request.user, "view").filter(_filters(self.asked, request.user))
        rows = rows.select_related("decision__cluster").defer("decision__document", "decision__laws")
        limit = self.asked["limit"]
        found = list(rows.order_by("-pk")[: limit + 1])
        place = found[limit - 1].pk if len(found) > limit else None
        context = {"redaction": Redaction.of(self.scope)}
        body = {"next": next_link(request, place), "results": found[:limit]}
        return Response(VictimsSerializer(body, context=context).data)


def _filters(asked: Mapping[str, Any], user: Who) -> Q:
    """What is asked for, of the rows that the user sees."""
    columns = {"cluster": "cluster__name", "namespace": "namespace", "pod": "name", "cursor": "pk__lt"}
    columns |= {"application": "application", "state": "state"}
    columns |= {"since": "decision__first_seen__gte", "until": "decision__first_seen__lt"}
    query = Q(**{column: asked[name] for name, column in columns.items() if name in asked})
    if queue := asked.get("queue"):
        query &= scope_of_queue(queue, user).paths("queue")
    return query
