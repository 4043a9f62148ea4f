"""The pods that decisions are about, and why one was preempted, or waits: what their pages say, by REST."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.explain import Message
from engine.model.quantities import format_amount
from scheduler_admin.core import limits
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.presenters.figures import Lane
from scheduler_admin.decisions.presenters.pods import PodPage, pod_lines, pod_page
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors import pods as selectors
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import AmountsField, UtcField, represent
from scheduler_admin.rest.openapi.parts import CLUSTER
from scheduler_admin.rest.pagination import LimitParameters, next_link
from scheduler_admin.rest.parameters import NAMESPACE

_NAMESPACE, _POD = (OpenApiParameter(name, OpenApiTypes.STR, OpenApiParameter.PATH) for name in ("namespace", "pod"))


@extend_schema_field(OpenApiTypes.STR)
class SentenceField(serializers.Field[Message, Any, str, Message]):
    """A message of the engine, in the language of the request."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})

    def to_representation(self, value: Message) -> str:
        """In words."""
        return text(value)


class QueueUsageSerializer(serializers.Serializer[Lane]):
    """Usage of the pod's queue before and after a decision, for one resource."""

    resource = serializers.CharField(help_text="Name of the resource.")
    used_before = serializers.SerializerMethodField(help_text="Amount that the queue used before the decision.")
    used_after = serializers.SerializerMethodField(
        help_text="Amount that the queue uses after the decision; null if nothing changes."
    )
    guaranteed = serializers.SerializerMethodField(help_text="Guarantee at that time; null if there was none.")
    max = serializers.SerializerMethodField(help_text="Max at that time; null if there was none.")

    def get_used_before(self, lane: Lane) -> str:
        """What it used."""
        return format_amount(lane.resource, lane.before)

    def get_used_after(self, lane: Lane) -> str | None:
        """What it uses with the decision carried out."""
        return _amount(lane.resource, lane.after)

    def get_guaranteed(self, lane: Lane) -> str | None:
        """What it was promised then."""
        return _amount(lane.resource, lane.guaranteed)

    def get_max(self, lane: Lane) -> str | None:
        """How far it was allowed to go then."""
        return _amount(lane.resource, lane.max)


class TimelineEntrySerializer(serializers.Serializer[Any]):
    """One thing that happened to a pod."""

    occurred_at = UtcField(source="at", help_text="Time of the entry.")
    sentence = SentenceField(source="text", help_text="What happened, in one sentence in the language of the request.")


class PodDecisionSerializer(serializers.Serializer[Any]):
    """A decision about a pod."""

    decision_id = serializers.IntegerField(source="event.decision.pk", help_text="Number of the decision.")
    decided_at = UtcField(source="event.at", help_text="Time when the decision was made or first observed.")
    label = serializers.CharField(  # type: ignore[assignment]
        source="word", help_text="What happened to the pod, in a few words."
    )
    reason_label = serializers.CharField(
        source="why", help_text="The reason in a few words, in the language of the request."
    )


class PodsParameters(LimitParameters):
    """Which pods; all that are given must match."""

    q = serializers.CharField(
        default="",
        max_length=500,
        help_text="Start of the name, application or owner (`Job/train`) of a pod, its namespace, or `namespace/pod`.",
    )
    show = serializers.ChoiceField(
        selectors.KINDS, required=False, help_text="Victims only, or pending pods only; both if not given."
    )
    namespace = serializers.RegexField(
        NAMESPACE, required=False, max_length=limits.NAMESPACE, help_text="Only pods in this namespace."
    )
    cursor = serializers.CharField(required=False, max_length=100, help_text="Taken from `next` of the page before.")

    def validate_cursor(self, value: str) -> str:
        """A place that a page ended at."""
        if selectors.place_in(value) is None:
            raise serializers.ValidationError(_("This cursor is not valid. Use a cursor that the API returned."))
        return value


class PodSummarySerializer(PodDecisionSerializer):
    """A pod that a decision is about."""

    cluster = serializers.CharField(source="event.cluster_name", help_text="Name of the cluster.")
    namespace = serializers.CharField(source="event.namespace", help_text="Namespace of the pod.")
    name = serializers.CharField(source="event.name", help_text="Name of the pod.")
    queue = serializers.CharField(
        source="event.queue", allow_blank=True, help_text="Path of the pod's queue; empty if it belongs to none."
    )
    application = serializers.CharField(
        source="event.application", allow_blank=True, help_text="Application that the pod belongs to; empty if none."
    )
    pending = serializers.BooleanField(
        source="event.asked", help_text="True if the pod is the pending pod, false if it is a victim."
    )
    url = serializers.URLField(source="event.url", help_text="URL of the page of the pod.")


class PodsSerializer(serializers.Serializer[Any]):
    """A page of pods, the newest decision first."""

    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = PodSummarySerializer(many=True, help_text="Pods that decisions are about, the newest decision first.")


class PodExplanationSerializer(serializers.Serializer[PodPage]):
    """Why a pod was preempted or is pending, by the newest decision about it."""

    namespace = serializers.CharField(source="event.namespace", help_text="Namespace of the pod.")
    name = serializers.CharField(source="event.name", help_text="Name of the pod.")
    queue = serializers.CharField(
        source="event.queue", allow_blank=True, help_text="Path of the pod's queue; empty if it belongs to none."
    )
    application = serializers.CharField(
        source="event.application", allow_blank=True, help_text="Application that the pod belongs to; empty if none."
    )
    decision_id = serializers.IntegerField(
        source="event.decision.pk", help_text="Number of the newest decision about the pod."
    )
    decided_at = UtcField(source="event.at", help_text="Time when the decision was made or first observed.")
    pending = serializers.BooleanField(
        source="waiting", help_text="True if the pod is the pending pod, false if it is a victim."
    )
    label = serializers.CharField(  # type: ignore[assignment]
        source="word", help_text="What happened to the pod, in a few words."
    )
    sentence = SentenceField(help_text="Why it happened, in one sentence in the language of the request.")
    explanations = serializers.ListField(
        child=SentenceField(), help_text="Further explanation, one sentence each.", source="because"
    )
    requests = serializers.SerializerMethodField(help_text="Resource requests of the pod.")
    priority = serializers.IntegerField(allow_null=True, help_text="Priority of the pod; null if unknown.")
    queue_usage = QueueUsageSerializer(
        source="side.lanes",
        many=True,
        default=[],
        help_text="Usage of the pod's queue before and after the decision, by resource.",
    )
    prevention = serializers.ListField(
        child=SentenceField(),
        help_text="What would have prevented the preemption, or would allow the pending pod to preempt.",
    )
    timeline = TimelineEntrySerializer(many=True, source="happened", help_text="What happened to the pod, in order.")
    consequences = serializers.ListField(
        child=SentenceField(),
        help_text="What the pod lost and which pod replaced it, one sentence each.",
        source="meant",
    )
    url = serializers.URLField(source="event.url", help_text="URL of the page of the pod.")

    @extend_schema_field(AmountsField)
    def get_requests(self, page: PodPage) -> Any:
        """What it asked for."""
        event = page.event
        return AmountsField().to_representation(event.victim.requests if event.victim else event.decision.ask_requests)


class PodHistorySerializer(serializers.Serializer[Any]):
    """A pod with all decisions about it."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    pod = PodExplanationSerializer(help_text="The pod, explained by the newest decision about it.")
    earlier_decisions = PodDecisionSerializer(
        many=True, help_text="Earlier decisions about the pod, newest first.", source="others"
    )


class PodsView(ApiView):
    """Pods in all clusters."""

    actions = {"GET": "view"}
    tag = "decisions"

    queries = {"GET": PodsParameters}

    @extend_schema(
        operation_id="list_pods",
        responses={200: PodsSerializer},
    )
    def get(self, request: Request) -> Response:
        """Your pods in decisions, as victims or as pending pods, with what happened to them. Follow `next`."""
        asked = self.asked
        search = selectors.Search(asked["q"], asked.get("show", ""), asked.get("namespace", ""))
        found = selectors.events(request.user, search, asked.get("cursor", ""), asked["limit"])
        lines = pod_lines(Redaction.of(self.scope), found.events)
        return Response(represent(PodsSerializer, {"next": next_link(request, found.older or None), "results": lines}))


class PodView(ApiView):
    """One pod."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(
        operation_id="get_pod",
        parameters=[CLUSTER, _NAMESPACE, _POD],
        responses={200: PodHistorySerializer},
    )
    def get(self, request: Request, name: str, namespace: str, pod: str) -> Response:
        """Why your pod was preempted or is pending, in sentences and in numbers, as on its page."""
        cluster, redaction = self.cluster(name), Redaction.of(self.scope)
        event, *others = selectors.of_pod(request.user, cluster, namespace, pod)
        body = {"cluster": cluster.name, "pod": pod_page(redaction, event), "others": pod_lines(redaction, others)}
        return Response(represent(PodHistorySerializer, body))


def _amount(resource: str, amount: int | None) -> str | None:
    return None if amount is None else format_amount(resource, amount)
