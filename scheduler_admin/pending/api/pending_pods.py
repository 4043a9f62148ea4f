"""The pods that are pending now, each with the reason."""

from datetime import datetime
from typing import Any

from django.utils.timezone import is_aware
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core import limits
from scheduler_admin.core.translation import join_sentences
from scheduler_admin.decisions.api.seen import SeenDecision
from scheduler_admin.decisions.api.serializers import PendingPodSerializer
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.presenters.reasons import reasons
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors.activity import WaitingPlace, waiting, waiting_place
from scheduler_admin.decisions.selectors.pods import PodEvent
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField, represent
from scheduler_admin.rest.pagination import LimitParameters, TextsField, next_link
from scheduler_admin.rest.parameters import QUEUE


class PendingPodsParameters(LimitParameters):
    """Which pending pods."""

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


class PendingPodStatusSerializer(serializers.Serializer[SeenDecision]):
    """A pending pod with the last decision about it."""

    pending_pod = PendingPodSerializer(help_text="The pending pod.")
    decision_id = serializers.IntegerField(source="decision.pk", help_text="Number of the last decision about the pod.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source", help_text="Scheduler or component that made the decision."
    )
    outcome = serializers.CharField(source="decision.outcome", help_text="What was decided.")
    reason = serializers.CharField(source="decision.reason", help_text="Code of the reason for the outcome.")
    sentence = serializers.SerializerMethodField(help_text="Why the pod is pending, in the language of the request.")
    state = serializers.ChoiceField(
        Decision.State.choices, source="decision.state", help_text="How far the decision has been carried out."
    )
    decided_at = UtcField(source="decision.first_seen", help_text="Time when the decision was made or first observed.")
    last_evaluated_at = UtcField(
        source="decision.last_seen", help_text="Time when the pod was last evaluated with the same outcome."
    )
    url = serializers.SerializerMethodField(help_text="URL of the page of the pod; null if the pod has no page.")

    def get_sentence(self, seen: SeenDecision) -> str:
        """In the language of the request."""
        return join_sentences(reasons(seen.scope, seen.decision))

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_url(self, seen: SeenDecision) -> str | None:
        """Return the page of the pod; a group that asks as one has none."""
        event = PodEvent(seen.decision, None)
        return event.url if event.name else None


class PendingPodsSerializer(serializers.Serializer[Any]):
    """A page of pending pods, the longest pending first."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    pass_started_at = UtcField(
        allow_null=True,
        help_text="Start of the pass that considered these pods; null before the first pass.",
    )
    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = PendingPodStatusSerializer(many=True, help_text="Pending pods, the longest pending first.")


class PendingPodsView(ApiView):
    """The pending pods of a cluster."""

    actions = {"GET": "view"}
    queries = {"GET": PendingPodsParameters}
    tag = "queues"

    @extend_schema(operation_id="list_pending_pods", responses=PendingPodsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Your pending pods: those that the last pass considered or that room is being made for, each with the reason.

        Follow `next`.
        """
        cluster = self.cluster(name)
        status = status_of(cluster)
        last_pass = status.pass_at if status else None
        found, following = self._page(cluster, last_pass) if last_pass else ([], None)
        redaction = Redaction.of(self.scope)
        body = {
            "cluster": cluster.name,
            "pass_started_at": last_pass,
            "next": next_link(request, following),
            "results": [SeenDecision(row, redaction) for row in found],
        }
        return Response(represent(PendingPodsSerializer, body))

    def _page(self, cluster: Cluster, last_pass: datetime) -> tuple[list[Decision], str | None]:
        """The pods of this page, and the cursor of the next if there is one."""
        asked = self.asked
        limit: int = asked["limit"]
        queue, after = asked.get("queue", ""), asked.get("cursor")
        found = waiting(self.request.user, cluster, last_pass, queue, limit + 1, after)
        if len(found) <= limit:
            return found, None
        since, uid = waiting_place(found[limit - 1])
        return found[:limit], TextsField().to_representation((since.isoformat(), uid))
