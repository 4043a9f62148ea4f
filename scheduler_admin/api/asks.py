"""The asks that wait now, each with why."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.api.base import ApiView
from scheduler_admin.api.fields import UtcField
from scheduler_admin.api.filters import QUEUE
from scheduler_admin.api.pagination import LimitParameters
from scheduler_admin.api.redaction import SeenDecision
from scheduler_admin.api.schema import CLUSTER, PROBLEM
from scheduler_admin.api.serializers import AskSerializer
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.history.activity_selectors import waiting
from scheduler_admin.history.models import Decision
from scheduler_admin.history.redaction import Redaction
from scheduler_admin.history.sentences import text
from scheduler_admin.web.queue_pages import reasons


class AsksParameters(LimitParameters):
    """Which asks."""

    queue = serializers.RegexField(QUEUE, required=False, max_length=500, help_text="In this queue or below it.")


class WaitingAskSerializer(serializers.Serializer[SeenDecision]):
    """An ask that waits, by the decision that considered it last."""

    ask = AskSerializer()
    decision = serializers.IntegerField(source="decision.pk")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source"
    )
    outcome = serializers.CharField(source="decision.outcome")
    reason = serializers.CharField(source="decision.reason")
    sentence = serializers.SerializerMethodField(help_text="Why it waits.")
    state = serializers.ChoiceField(Decision.State.choices, source="decision.state")
    first_seen = UtcField(source="decision.first_seen")
    last_seen = UtcField(source="decision.last_seen")

    def get_sentence(self, seen: SeenDecision) -> str:
        """In the language of the request."""
        return " ".join(text(message) for message in reasons(seen.scope, seen.decision))


class AsksSerializer(serializers.Serializer[Any]):
    """The longest waiting first."""

    cluster = serializers.CharField()
    pass_at = UtcField(allow_null=True, help_text="The pass that considered them; null: there was none yet.")
    results = WaitingAskSerializer(many=True)


class AsksView(ApiView):
    """The asks of a cluster."""

    parameters = AsksParameters

    @extend_schema(
        operation_id="list_asks",
        tags=["queues"],
        parameters=[CLUSTER, AsksParameters],
        responses={200: AsksSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Your asks that wait now: those that the last pass considered, or for which room comes free, with why."""
        cluster, asked = self.cluster(name), self.asked
        status = status_of(cluster)
        last_pass = status.pass_at if status else None
        found = waiting(request.user, cluster, last_pass, asked.get("queue", ""), asked["limit"]) if last_pass else []
        redaction = Redaction.of(self.scope)
        results = [SeenDecision(row, redaction) for row in found]
        return Response(AsksSerializer({"cluster": cluster.name, "pass_at": last_pass, "results": results}).data)
