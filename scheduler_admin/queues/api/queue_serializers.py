"""Queues of a cluster as they are sent."""

from typing import Any

from rest_framework import serializers

from engine.model.queue_tree import GuaranteeStatus
from scheduler_admin.clusters.models import Notice
from scheduler_admin.pending.api.waits import QueueWaitsSerializer
from scheduler_admin.queues.api.queue_settings import shown_fields
from scheduler_admin.queues.api.standing import UNKNOWN, QueueStanding, ResourceStanding
from scheduler_admin.rest.fields import AmountsField, UtcField


class ResourceSerializer(serializers.Serializer[ResourceStanding]):
    """One resource of a queue; null is not known, or not given."""

    used = serializers.CharField(allow_null=True)
    guaranteed = serializers.CharField(allow_null=True)
    max = serializers.CharField(allow_null=True)
    standing = serializers.ChoiceField([*(standing.value for standing in GuaranteeStatus), UNKNOWN])
    difference = serializers.CharField(allow_null=True, help_text="used - guaranteed; without a guarantee, used.")
    requested = serializers.CharField(
        allow_null=True, help_text="By its pods, running and waiting; null where the policy is not `deserved`."
    )
    deserved = serializers.CharField(allow_null=True, help_text="Null where the policy is not `deserved`.")
    against_deserved = serializers.ChoiceField(
        [standing.value for standing in GuaranteeStatus],
        allow_null=True,
        help_text="As `standing`, against `deserved`.",
    )
    lent = serializers.CharField(
        allow_null=True,
        help_text="What others use of what it is guaranteed, or deserves; `0` but for policies `fence`, `deserved`.",
    )

    def to_representation(self, instance: ResourceStanding) -> dict[str, str | None]:
        """As it is: all are texts or null, and a large tree has thousands, most of its answer field by field."""
        return {name: getattr(instance, name) for name in self._declared_fields}


class QueueSerializer(serializers.Serializer[QueueStanding]):
    """A queue of the current revision with what the last pass read of it."""

    path = serializers.CharField(source="queue.path")
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # DRF takes declared fields off
    leaf = serializers.BooleanField(source="queue.leaf")
    dynamic = serializers.BooleanField(source="queue.dynamic", help_text="True: it is there because of its pods.")
    resources = serializers.DictField(child=ResourceSerializer(), help_text="Resource -> where the queue stands.")
    asks_waiting = serializers.IntegerField(allow_null=True)
    oldest_ask_at = UtcField(allow_null=True)
    fence = serializers.CharField(allow_null=True, help_text="The queue whose fence bounds the asks of this one.")
    delay_ms = serializers.IntegerField(allow_null=True, help_text="Leaves only: how long an ask waits first.")
    quota_delay_ms = serializers.IntegerField(
        allow_null=True, help_text="In YuniKorn, how long after its max was lowered pods go for that; null: never."
    )

    def get_fields(self) -> dict[str, Any]:
        """With its own settings, by their table; what is in effect stands beside the policy of preemption."""
        fields, shown = super().get_fields(), shown_fields()
        in_effect = {name: fields.pop(name) for name in ("fence", "delay_ms", "quota_delay_ms")}
        return {**fields, "preemption_policy": shown.pop("preemption_policy"), **in_effect, **shown}


class QueuesSerializer(serializers.Serializer[Any]):
    """Every queue of the current revision that the user may see, parents before children."""

    cluster = serializers.CharField()
    revision = serializers.IntegerField(allow_null=True)
    read_at = UtcField(allow_null=True)
    results = QueueSerializer(many=True)


class ApplicationSerializer(serializers.Serializer[Any]):
    """A running application of a leaf."""

    namespace = serializers.CharField()
    name = serializers.CharField()
    pods = serializers.IntegerField()
    requests = AmountsField()


class PartSerializer(serializers.Serializer[Any]):
    """One of those that something is borrowed of, or lent to."""

    who = serializers.ChoiceField(
        ["queue", "others", "nobody"],
        help_text="`others`: queues that are not the user's to see; `nobody`: what nobody is promised.",
    )
    queue = serializers.CharField(allow_blank=True)
    amount = serializers.CharField()


class DealingSerializer(serializers.Serializer[Any]):
    """What a queue borrows or lends of one resource."""

    resource = serializers.CharField()
    borrows = serializers.BooleanField(help_text="False: it lends.")
    amount = serializers.CharField()
    parts = PartSerializer(many=True, help_text="The largest first.")


class NoticeSerializer(serializers.Serializer[Notice]):
    """That a queue is told to give back what it uses beyond what it deserves."""

    over = AmountsField()
    told_at = UtcField()
    due_at = UtcField(help_text="From when on pods may be taken from it.")


class AboveQuotaSerializer(serializers.Serializer[Any]):
    """A namespace that may have less than the hard cap of its queue."""

    namespace = serializers.CharField()
    allows = AmountsField(help_text="What its ResourceQuotas allow of what the hard cap is above.")


class QueueDetailSerializer(serializers.Serializer[Any]):
    """One queue with the largest applications that run in it."""

    cluster = serializers.CharField()
    revision = serializers.IntegerField()
    read_at = UtcField(allow_null=True)
    queue = QueueSerializer()
    namespaces = serializers.ListField(
        child=serializers.CharField(), help_text="Pods of these namespaces that name no queue run in this leaf."
    )
    former_paths = serializers.ListField(
        child=serializers.CharField(),
        help_text="What it was called before. Pods that name one of these, or a queue that was below it, run here.",
    )
    applications = ApplicationSerializer(many=True, help_text="Largest first, at most twenty; empty unless a leaf.")
    waits = QueueWaitsSerializer(allow_null=True, help_text="How long its asks wait; null unless a leaf.")
    notice = NoticeSerializer(allow_null=True, help_text="Null unless it is told to give back.")
    above_quota = AboveQuotaSerializer(
        allow_null=True,
        help_text="Null unless, under policy `deserved`, it has more than its namespace's quota allows.",
    )
    borrowed_and_lent = DealingSerializer(
        many=True,
        help_text="Of what is guaranteed under policy `fence`, of what is deserved under `deserved`; else empty.",
    )
