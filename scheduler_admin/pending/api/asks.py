"""The asks that wait now, each with why."""

from datetime import datetime
from typing import Any

from django.utils.timezone import is_aware
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core import limits
from scheduler_admin.core.translation import join_sentences
from scheduler_admin.decisions.api.seen import SeenDecision
from scheduler_admin.decisions.api.serializers import AskSerializer
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.presenters.reasons import reasons
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors.activity import WaitingPlace, waiting, waiting_place
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.pagination import LimitParameters, TextsField, next_link
from scheduler_admin.rest.parameters import QUEUE


class AsksParameters(LimitParameters):
    """Which asks."""

    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="In this queue or below it."
    )
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")

    def validate_cursor(self, value: tuple[str, str]) -> WaitingPlace:
        """A time and a UID."""
        try:
            since = datetime.fromisoformat(value[0])
        except ValueError:
            since = None
        if since is None or not is_aware(since):
            self.fields["cursor"].fail("cursor")
        return since, value[1]


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
        return join_sentences(reasons(seen.scope, seen.decision))


class AsksSerializer(serializers.Serializer[Any]):
    """The longest waiting first."""

    cluster = serializers.CharField()
    pass_at = UtcField(allow_null=True, help_text="The pass that considered them; null: there was none yet.")
    next = serializers.CharField(allow_null=True, help_text="The next page; null on the last.")
    results = WaitingAskSerializer(many=True)


class AsksView(ApiView):
    """The asks of a cluster."""

    actions = {"GET": "view"}
    queries = {"GET": AsksParameters}
    tag = "queues"

    @extend_schema(operation_id="list_asks", responses=AsksSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Your asks that wait now: those that the last pass considered, or for which room comes free, with why.

        Follow `next`.
        """
        cluster = self.cluster(name)
        status = status_of(cluster)
        last_pass = status.pass_at if status else None
        found, following = self._page(cluster, last_pass) if last_pass else ([], None)
        redaction = Redaction.of(self.scope)
        body = {
            "cluster": cluster.name,
            "pass_at": last_pass,
            "next": next_link(request, following),
            "results": [SeenDecision(row, redaction) for row in found],
        }
        return Response(AsksSerializer(body).data)

    def _page(self, cluster: Cluster, last_pass: datetime) -> tuple[list[Decision], str | None]:
        """The asks of this page, and the cursor of the next if there is one."""
        asked = self.asked
        limit: int = asked["limit"]
        queue, after = asked.get("queue", ""), asked.get("cursor")
        found = waiting(self.request.user, cluster, last_pass, queue, limit + 1, after)
        if len(found) <= limit:
            return found, None
        since, uid = waiting_place(found[limit - 1])
        return found[:limit], TextsField().to_representation((since.isoformat(), uid))
