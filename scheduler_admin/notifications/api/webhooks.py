"""What a webhook receives, in the OpenAPI document: each kind of message of a notification channel, in both formats."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema, extend_schema_field
from rest_framework import serializers

from scheduler_admin.core.cloud_events import PREFIX
from scheduler_admin.decisions.api.event_serializers import EventLoopMemberSerializer
from scheduler_admin.notifications.delivery.messages import ID, MEDIA_TYPES, SIGNATURE, TIMESTAMP
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.rest.fields import AmountsField


class MessageDataSerializer(serializers.Serializer[Any]):
    """What the data of all messages has in common; a test message has nothing else."""

    tenant = serializers.CharField(
        allow_null=True, help_text="Name of the tenant that the channel belongs to; null for a channel of the site."
    )
    text = serializers.CharField(help_text="The message in sentences, in the language of the channel.")
    url = serializers.URLField(help_text="URL of the page with details.")


class _PodDataSerializer(MessageDataSerializer):
    """A message about pods of an application."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    namespace = serializers.CharField(help_text="Namespace of the pods.")
    queue = serializers.CharField(help_text="Path of the pods' queue.")
    decision_id = serializers.IntegerField(help_text="Number of the decision.")


class PreemptorReferenceSerializer(serializers.Serializer[Any]):
    """The pending pod that the victims make room for; what the site does not show the tenant is left out."""

    queue = serializers.CharField(required=False, help_text="Path of the pod's queue.")
    uid = serializers.CharField(required=False, help_text="UID of the pod.")
    namespace = serializers.CharField(required=False, help_text="Namespace of the pod.")
    name = serializers.CharField(required=False, help_text="Name of the pod.")


class PreemptionDataSerializer(_PodDataSerializer):
    """Pods of an application are about to be preempted, or were preempted."""

    application = serializers.CharField(allow_blank=True, help_text="Application of the pods; empty if none.")
    pods = serializers.ListField(child=serializers.CharField(), help_text="Names of the first pods.")
    pod_count = serializers.IntegerField(help_text="Number of pods.")
    exit_deadline = serializers.DateTimeField(
        allow_null=True, help_text="Time by which the pods exit; null if unknown or if they have exited."
    )
    source = serializers.CharField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Scheduler or component that made the decision."
    )
    preemptor = PreemptorReferenceSerializer(help_text="The pending pod that the victims make room for.")


class EvictionRefusedDataSerializer(_PodDataSerializer):
    """The cluster rejected an eviction."""

    pod = serializers.CharField(help_text="Name of the pod that stays, or that gets no room.")


class PreemptedRepeatedlyDataSerializer(_PodDataSerializer):
    """An application is preempted repeatedly."""

    application = serializers.CharField(help_text="Name of the application.")
    preemptions_24h = serializers.IntegerField(help_text="Preemptions of the application in 24 hours.")


class MessageLoopSerializer(serializers.Serializer[Any]):
    """A preemption loop."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    cycle = serializers.CharField(help_text="Queues of the loop, in order; `…` for those that the tenant cannot see.")
    members = EventLoopMemberSerializer(many=True, help_text="Members of the loop, each before its preemptor.")


class PreemptionLoopDataSerializer(MessageLoopSerializer, MessageDataSerializer):
    """Applications preempt each other in a loop."""


class BelowGuaranteeDataSerializer(MessageDataSerializer):
    """A queue with pending pods is below its guarantee."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    queue = serializers.CharField(help_text="Path of the queue.")
    since = serializers.DateTimeField(help_text="Time since which the queue has been below its guarantee.")
    pending_pods = serializers.IntegerField(help_text="Number of pending pods of the queue.")
    used = AmountsField(help_text="Usage of the queue, of the resources that it lacks.")
    guaranteed = AmountsField(help_text="Guarantee of the queue, of the resources that it lacks.")


class PreemptedApplicationSerializer(serializers.Serializer[Any]):
    """An application that was preempted during the day."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    namespace = serializers.CharField(help_text="Namespace of the application.")
    application = serializers.CharField(help_text="Name of the application, or of the pod if it has none.")
    pods = serializers.IntegerField(help_text="Number of preempted pods.")


class DigestWaitSerializer(serializers.Serializer[Any]):
    """How long pods of a queue were pending during the day."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    queue = serializers.CharField(help_text="Path of the queue.")
    placed_pods = serializers.IntegerField(help_text="Number of pods that got a node.")
    median_seconds = serializers.FloatField(help_text="Median time until a pod got a node.")
    p90_seconds = serializers.FloatField(help_text="Time within which 90 % of the pods got a node.")


class DailyDigestDataSerializer(MessageDataSerializer):
    """What happened on the previous day."""

    day = serializers.DateField(help_text="The day, in UTC.")
    preempted = PreemptedApplicationSerializer(many=True, help_text="Applications with the most preempted pods.")
    preempted_pods = serializers.IntegerField(help_text="Number of all preempted pods.")
    loops = MessageLoopSerializer(many=True, help_text="Preemption loops.")
    waits = DigestWaitSerializer(many=True, help_text="Pending times by queue.")
    pending_pods = serializers.IntegerField(help_text="Number of pods that are still pending.")


class SummaryDataSerializer(MessageDataSerializer):
    """Messages that exceed the limit of ten in a minute, combined."""

    notifications = serializers.ListField(
        child=serializers.CharField(), help_text="First sentences of the combined messages."
    )
    events = serializers.DictField(
        child=serializers.IntegerField(), help_text="Kind of message to number of combined messages."
    )


class _ActDataSerializer(MessageDataSerializer):
    """Somebody changed something."""

    actor = serializers.CharField(help_text="User name of who did it, `command line` or `engine`.")
    reason = serializers.CharField(allow_blank=True, help_text="Reason that was given; empty if none.")


class RevisionPublishedDataSerializer(_ActDataSerializer):
    """A revision of a queue tree was published."""

    hierarchy = serializers.CharField(help_text="Name of the hierarchy.")
    revision = serializers.IntegerField(help_text="Number of the revision.")
    policy = serializers.CharField(help_text="Policy of the revision.")
    digest = serializers.CharField(help_text="Digest of the revision.")


class ModeChangedDataSerializer(_ActDataSerializer):
    """The mode of a cluster was changed."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    mode = serializers.CharField(help_text="New mode: `observe`, `advise` or `enforce`.")
    before = serializers.CharField(help_text="Mode before.")


class EvictionsResumedDataSerializer(_ActDataSerializer):
    """Evictions were resumed."""

    cluster = serializers.CharField(allow_null=True, help_text="Name of the cluster; null for all clusters.")
    queue = serializers.CharField(allow_null=True, help_text="Path of the queue; null for the whole cluster.")


class EvictionsPausedDataSerializer(EvictionsResumedDataSerializer):
    """Evictions were paused."""

    until = serializers.DateTimeField(
        allow_null=True, help_text="Time at which the pause ends by itself, which is not reported; null if never."
    )


class CredentialsExpiringDataSerializer(MessageDataSerializer):
    """Stored credentials of a cluster expire within 14 days, or have expired."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    kind = serializers.CharField(help_text="Kind of the credentials: `token` or `client-certificate`.")
    expires_at = serializers.DateTimeField(help_text="Time when they expire.")
    expired = serializers.BooleanField(help_text="True if they have expired.")


class ClusterReadableDataSerializer(MessageDataSerializer):
    """A cluster is read again."""

    cluster = serializers.CharField(help_text="Name of the cluster.")


class ClusterUnreadableDataSerializer(ClusterReadableDataSerializer):
    """A cluster cannot be read."""

    error = serializers.CharField(help_text="The reason, in English.")


_KINDS = Notification.Event
DATA: Mapping[Notification.Event, tuple[type[MessageDataSerializer], str]] = {
    _KINDS.GOING: (PreemptionDataSerializer, "Pods of an application are about to be preempted."),
    _KINDS.PREEMPTED: (PreemptionDataSerializer, "Pods of an application were preempted."),
    _KINDS.REFUSED: (EvictionRefusedDataSerializer, "The cluster rejected an eviction."),
    _KINDS.REPEATED: (PreemptedRepeatedlyDataSerializer, "An application is preempted repeatedly."),
    _KINDS.LOOP: (PreemptionLoopDataSerializer, "Applications preempt each other in a loop."),
    _KINDS.BELOW: (BelowGuaranteeDataSerializer, "A queue with pending pods is below its guarantee."),
    _KINDS.DIGEST: (DailyDigestDataSerializer, "What happened on the previous day."),
    _KINDS.REVISION_PUBLISHED: (RevisionPublishedDataSerializer, "A revision of a queue tree was published."),
    _KINDS.MODE_CHANGED: (ModeChangedDataSerializer, "The mode of a cluster was changed."),
    _KINDS.EVICTIONS_PAUSED: (EvictionsPausedDataSerializer, "Evictions were paused."),
    _KINDS.EVICTIONS_RESUMED: (EvictionsResumedDataSerializer, "Evictions were resumed."),
    _KINDS.CREDENTIALS_EXPIRING: (
        CredentialsExpiringDataSerializer,
        "Stored credentials of a cluster expire within 14 days, or have expired.",
    ),
    _KINDS.CLUSTER_UNREADABLE: (ClusterUnreadableDataSerializer, "A cluster cannot be read."),
    _KINDS.CLUSTER_READABLE: (ClusterReadableDataSerializer, "A cluster is read again."),
    _KINDS.SUMMARY: (SummaryDataSerializer, "Messages that exceed the limit of ten in a minute, combined."),
    _KINDS.TEST: (MessageDataSerializer, "A test of the channel."),
}
"""Kind of message -> its data, and when it is sent."""


def component(kind: Notification.Event, payload_format: Channel.PayloadFormat) -> str:
    """Return the name of the schema of a kind of message in one of the formats."""
    suffix = "Webhook" if payload_format == Channel.PayloadFormat.STANDARD else "CloudEvent"
    return "".join(part.capitalize() for part in kind.split("-")) + suffix


def _constant(value: str, text: str) -> serializers.CharField:
    """Return a member that always has one value."""
    field: type[serializers.CharField] = type("ConstantField", (serializers.CharField,), {})
    return extend_schema_field({"type": "string", "const": value})(field)(help_text=text)


def _described(kind: Notification.Event, payload_format: Channel.PayloadFormat) -> serializers.Serializer[Any]:
    """Return the serializer of a kind of message in one of the formats."""
    data, text = DATA[kind]
    fields: dict[str, serializers.Field[Any, Any, Any, Any]]
    if payload_format == Channel.PayloadFormat.STANDARD:
        fields = {
            "type": _constant(kind, "Kind of the message."),
            "timestamp": serializers.DateTimeField(help_text="Time of the event."),
        }
    else:
        fields = {
            "specversion": _constant("1.0", "Version of CloudEvents."),
            "id": serializers.UUIDField(help_text=f"UUID of the message, the same at every attempt, as in `{ID}`."),
            "source": serializers.URLField(help_text="URL of the site."),
            "type": _constant(f"{PREFIX}{kind}", "Kind of the message."),
            "time": serializers.DateTimeField(help_text="Time of the event."),
            "datacontenttype": _constant("application/json", "Media type of the data."),
        }
    made: type[serializers.Serializer[Any]] = type(
        f"{component(kind, payload_format)}Serializer",
        (serializers.Serializer,),
        {**fields, "data": data(help_text="What happened."), "__doc__": text, "__module__": __name__},
    )
    return made()


def _webhook(kind: Notification.Event) -> OpenApiWebhook:
    """Return a kind of message as a webhook of the document."""
    text = DATA[kind][1]
    return OpenApiWebhook(
        kind.value,
        extend_schema(
            operation_id=f"receive_{kind.value.replace('-', '_')}",
            summary=text.rstrip("."),
            description=f"{text} The receiver must respond with 2xx within 8 seconds. Redirects are not followed.",
            tags=["webhooks"],
            request={MEDIA_TYPES[each]: _described(kind, each) for each in Channel.PayloadFormat},
            responses={"2XX": OpenApiResponse(description="The message was received.")},
        ),
    )


WEBHOOKS = [_webhook(kind) for kind in DATA]
"""What is sent to webhooks."""
_HEADERS = {
    ID: "UUID of the message, the same at every attempt.",
    TIMESTAMP: "Time when the message was sent, in seconds since 1970.",
    SIGNATURE: "`v1,` and, in base64, the HMAC-SHA256 of the ID, a period, the timestamp, a period and the body. The "
    "key is the signing secret of the channel: what follows `whsec_`, decoded from base64. For a day after the secret "
    "was replaced, a second signature with the former one follows after a space.",
}


def describe_webhooks(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """Return the document with what drf-spectacular leaves out of webhooks: their headers, and that nobody signs in."""
    for webhook in WEBHOOKS:
        operation = result["webhooks"][webhook.name]["post"]
        operation["security"] = []
        operation["requestBody"]["required"] = True
        operation["parameters"] = [
            {"in": "header", "name": name, "required": True, "schema": {"type": "string"}, "description": text}
            for name, text in _HEADERS.items()
        ]
    return result
