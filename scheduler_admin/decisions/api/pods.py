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
from scheduler_admin.rest.fields import AmountsField, UtcField
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


class LaneSerializer(serializers.Serializer[Lane]):
    """One resource of the pod's queue, as people type amounts; null is not given."""

    resource = serializers.CharField()
    before = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField(help_text="Null where nothing changes.")
    guaranteed = serializers.SerializerMethodField()
    max = serializers.SerializerMethodField()

    def get_before(self, lane: Lane) -> str:
        """What it used."""
        return format_amount(lane.resource, lane.before)

    def get_after(self, lane: Lane) -> str | None:
        """What it uses with the decision carried out."""
        return _amount(lane.resource, lane.after)

    def get_guaranteed(self, lane: Lane) -> str | None:
        """What it was promised then."""
        return _amount(lane.resource, lane.guaranteed)

    def get_max(self, lane: Lane) -> str | None:
        """How far it was allowed to go then."""
        return _amount(lane.resource, lane.max)


class HappenedSerializer(serializers.Serializer[Any]):
    """What happened to the pod."""

    at = UtcField()
    text = SentenceField()


class OtherSerializer(serializers.Serializer[Any]):
    """Another decision about the pod."""

    decision = serializers.IntegerField(source="event.decision.pk")
    at = UtcField(source="event.at")
    word = serializers.CharField()
    why = serializers.CharField()


class PodsParameters(LimitParameters):
    """Which pods; all that are given must hold."""

    q = serializers.CharField(
        default="",
        max_length=500,
        help_text="How a pod's name, application or owner (`Job/train`) begins, its namespace, or `namespace/pod`.",
    )
    show = serializers.ChoiceField(
        selectors.KINDS, required=False, help_text="Pods that were to go, or that asked; both if not given."
    )
    namespace = serializers.RegexField(NAMESPACE, required=False, max_length=limits.NAMESPACE)
    cursor = serializers.CharField(required=False, max_length=100, help_text="Taken from `next` of the page before.")

    def validate_cursor(self, value: str) -> str:
        """A place that a page ended at."""
        if selectors.place_in(value) is None:
            raise serializers.ValidationError(_("This is not a cursor that the API gave out."))
        return value


class PodLineSerializer(OtherSerializer):
    """A pod that a decision is about."""

    cluster = serializers.CharField(source="event.decision.cluster.name")
    namespace = serializers.CharField(source="event.namespace")
    name = serializers.CharField(source="event.name")
    queue = serializers.CharField(source="event.queue", allow_blank=True)
    application = serializers.CharField(source="event.application", allow_blank=True)
    ask = serializers.BooleanField(source="event.asked", help_text="True: the pod asked. False: it was to go.")


class PodsSerializer(serializers.Serializer[Any]):
    """A page of pods, the newest decision first."""

    next = serializers.CharField(allow_null=True, help_text="The next page; null on the last.")
    results = PodLineSerializer(many=True)


class PodSerializer(serializers.Serializer[PodPage]):
    """Why a pod was preempted or waits, by the newest decision about it. Of others' what the site tells."""

    namespace = serializers.CharField(source="event.namespace")
    name = serializers.CharField(source="event.name")
    queue = serializers.CharField(source="event.queue", allow_blank=True)
    application = serializers.CharField(source="event.application", allow_blank=True)
    decision = serializers.IntegerField(source="event.decision.pk")
    at = UtcField(source="event.at", help_text="When it was decided.")
    ask = serializers.BooleanField(source="waiting", help_text="True: the pod asked. False: it was to go.")
    word = serializers.CharField(help_text="What became of it, in a word.")
    sentence = SentenceField(help_text="Why, in one sentence.")
    because = serializers.ListField(child=SentenceField(), help_text="What that leaves open.")
    requests = serializers.SerializerMethodField()
    priority = serializers.IntegerField(allow_null=True)
    standing = LaneSerializer(source="side.lanes", many=True, default=[], help_text="How its queue stood then.")
    prevention = serializers.ListField(
        child=SentenceField(), help_text="What would have prevented it; of an ask, what would make it eligible."
    )
    happened = HappenedSerializer(many=True)
    meant = serializers.ListField(child=SentenceField(), help_text="What it lost, and what came in its place.")

    @extend_schema_field(AmountsField)
    def get_requests(self, page: PodPage) -> Any:
        """What it asked for."""
        event = page.event
        return AmountsField().to_representation(event.victim.requests if event.victim else event.decision.ask_requests)


class WhySerializer(serializers.Serializer[Any]):
    """All that was decided about one pod."""

    cluster = serializers.CharField()
    pod = PodSerializer()
    others = OtherSerializer(many=True, help_text="Other decisions about it, newest first.")


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
        """Your pods that a decision is about, as its victim or its ask, each with what became of it. Follow `next`."""
        asked = self.asked
        search = selectors.Search(asked["q"], asked.get("show", ""), asked.get("namespace", ""))
        found = selectors.events(request.user, search, asked.get("cursor", ""), asked["limit"])
        lines = pod_lines(Redaction.of(self.scope), found.events)
        return Response(PodsSerializer({"next": next_link(request, found.older or None), "results": lines}).data)


class PodView(ApiView):
    """One pod."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(
        operation_id="get_pod",
        parameters=[CLUSTER, _NAMESPACE, _POD],
        responses={200: WhySerializer},
    )
    def get(self, request: Request, name: str, namespace: str, pod: str) -> Response:
        """Why your pod was preempted, or why it waits: the sentence of its page, and the numbers."""
        cluster, redaction = self.cluster(name), Redaction.of(self.scope)
        event, *others = selectors.of_pod(request.user, cluster, namespace, pod)
        body = {"cluster": cluster.name, "pod": pod_page(redaction, event), "others": pod_lines(redaction, others)}
        return Response(WhySerializer(body).data)


def _amount(resource: str, amount: int | None) -> str | None:
    return None if amount is None else format_amount(resource, amount)
