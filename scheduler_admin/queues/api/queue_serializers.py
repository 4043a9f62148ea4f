"""Queues of a cluster as they are sent."""

from typing import Any

from rest_framework import serializers

from engine.explain import queue_share_sentence
from engine.model.quantities import format_amount
from engine.model.queue_tree import GuaranteeStatus
from engine.policies import QueueShare, ShareBasis
from scheduler_admin.clusters.models import Notice
from scheduler_admin.core import limits
from scheduler_admin.core.translation import text
from scheduler_admin.pending.api.waits import QueueWaitEstimateSerializer
from scheduler_admin.queues.api.queue_settings import shown_fields
from scheduler_admin.queues.presenters.standing import UNKNOWN, QueueStanding, ResourceStanding
from scheduler_admin.rest.fields import AmountsField, RowSerializer, UtcField
from scheduler_admin.rest.parameters import QUEUE


class QueueResourceSerializer(serializers.Serializer[ResourceStanding]):
    """One resource of a queue; null if unknown or not set."""

    used = serializers.CharField(allow_null=True, help_text="Amount in use; null if unknown.")
    guaranteed = serializers.CharField(allow_null=True, help_text="Guarantee of the queue; null if not set.")
    max = serializers.CharField(allow_null=True, help_text="Max of the queue; null if not set.")
    guarantee_status = serializers.ChoiceField(
        [*(standing.value for standing in GuaranteeStatus), UNKNOWN], help_text="Usage compared with the guarantee."
    )
    difference = serializers.CharField(
        allow_null=True, help_text="Usage minus guarantee; without a guarantee, the usage; null if unknown."
    )
    requested = serializers.CharField(
        allow_null=True, help_text="Requests of running and pending pods; null unless the policy is `deserved`."
    )
    deserved = serializers.CharField(allow_null=True, help_text="Deserved share; null unless the policy is `deserved`.")
    deserved_status = serializers.ChoiceField(
        [standing.value for standing in GuaranteeStatus],
        allow_null=True,
        help_text="Usage compared with the deserved share; null unless the policy is `deserved`.",
    )
    lent = serializers.CharField(
        allow_null=True,
        help_text="Amount of its guarantee or deserved share that other queues use; null if unknown.",
    )

    def to_representation(self, instance: ResourceStanding) -> dict[str, str | None]:
        """As it is: all are texts or null, and a large tree has thousands, most of its answer field by field."""
        return {name: getattr(instance, name) for name in self._declared_fields}


class QueueShareSerializer(serializers.Serializer[QueueShare]):
    """The share by which a policy compares a queue with others, for the resource of which it is largest."""

    basis = serializers.ChoiceField(
        [basis.value for basis in ShareBasis],
        help_text="What is counted: what the queue borrows of what its cohort can lend (`borrowed`, policy "
        "`fair-share`), or what it uses of the cluster (`used`, policy `deserved`).",
    )
    value = serializers.CharField(
        help_text="The share divided by the weight, or `+Inf`: in thousandths for `borrowed`, as a fraction for `used`."
    )
    weight = serializers.CharField(help_text="Weight of the queue.")
    resource = serializers.CharField(
        allow_null=True, help_text="Resource of which the share is largest; null if nothing is counted."
    )
    amount = serializers.SerializerMethodField(help_text="Counted amount of this resource; null if nothing is counted.")
    whole = serializers.SerializerMethodField(
        help_text="What the amount is a part of: what the cohort can lend, or what the cluster has; null likewise."
    )
    sentence = serializers.SerializerMethodField(help_text="The share with its calculation in one sentence.")

    def get_amount(self, share: QueueShare) -> str | None:
        """As people type it."""
        return format_amount(share.resource, share.amount) if share.resource else None

    def get_whole(self, share: QueueShare) -> str | None:
        """As people type it."""
        return format_amount(share.resource, share.whole) if share.resource else None

    def get_sentence(self, share: QueueShare) -> str:
        """In the language of the request."""
        return text(queue_share_sentence(share))

    def to_representation(self, instance: QueueShare) -> dict[str, Any]:
        """With null for no resource."""
        return {**super().to_representation(instance), "resource": instance.resource or None}


class QueueSerializer(RowSerializer[QueueStanding]):
    """A queue of the published revision with what the last pass read of it."""

    path = serializers.CharField(source="queue.path", help_text="Path of the queue.")
    parent = serializers.CharField(allow_null=True, help_text="Path of the parent queue; null for the root queue.")  # type: ignore[assignment]  # DRF takes declared fields off
    leaf = serializers.BooleanField(source="queue.leaf", help_text="True if the queue is a leaf queue.")
    dynamic = serializers.BooleanField(
        source="queue.dynamic", help_text="True if the queue exists only because pods use it."
    )
    resources = serializers.DictField(child=QueueResourceSerializer(), help_text="Usage and limits by resource.")
    share = QueueShareSerializer(
        allow_null=True,
        help_text="Share of the queue; null unless the policy compares shares (`fair-share`, `deserved`), and for the "
        "top of a cohort.",
    )
    pending_pods = serializers.IntegerField(
        allow_null=True, help_text="Number of pending pods in the queue and below; null if unknown."
    )
    oldest_pending_at = UtcField(
        allow_null=True, help_text="Time since which the oldest of these pods has been pending; null if none."
    )
    fence = serializers.CharField(
        allow_null=True, help_text="Path of the nearest queue with a fence, this queue or a parent; null if none."
    )
    delay_seconds = serializers.FloatField(
        allow_null=True, help_text="Seconds that a pending pod waits before it can preempt; null unless a leaf queue."
    )
    quota_delay_seconds = serializers.FloatField(
        allow_null=True, help_text="Seconds before YuniKorn enforces a lowered max; null if it never does."
    )

    def get_fields(self) -> dict[str, Any]:
        """With its own settings, by their table; what is in effect stands beside the policy of preemption."""
        fields, shown = super().get_fields(), shown_fields()
        in_effect = {name: fields.pop(name) for name in ("fence", "delay_seconds", "quota_delay_seconds")}
        return {**fields, "preemption_policy": shown.pop("preemption_policy"), **in_effect, **shown}


class QueuesParameters(serializers.Serializer[Any]):
    """Which queues, and how many."""

    below = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="Only this queue and the queues below it."
    )
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=1_000, help_text="Number of results per page; all if not given."
    )
    cursor = serializers.CharField(
        required=False, max_length=limits.QUEUE_PATH, help_text="Taken from `next` of the page before."
    )


class QueuesSerializer(serializers.Serializer[Any]):
    """Every queue of the published revision that you can see, parents before children."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    revision = serializers.IntegerField(
        allow_null=True, help_text="Number of the published revision; null if there is none."
    )
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = QueueSerializer(many=True, help_text="Queues that you can see, parents before children.")


class ApplicationSerializer(serializers.Serializer[Any]):
    """An application that runs in a leaf queue."""

    namespace = serializers.CharField(help_text="Namespace of the application.")
    name = serializers.CharField(help_text="Name of the application.")
    pods = serializers.IntegerField(help_text="Number of pods of the application that run in the queue.")
    requests = AmountsField(help_text="Sum of the requests of these pods, by resource.")


class LoanPartySerializer(serializers.Serializer[Any]):
    """A queue or capacity that something is borrowed from or lent to."""

    kind = serializers.ChoiceField(
        ["queue", "others", "unguaranteed"],
        help_text="A visible queue, queues that you cannot see, or capacity that no queue is guaranteed.",
    )
    queue = serializers.CharField(allow_blank=True, help_text="Path of the queue; empty unless the kind is `queue`.")
    amount = serializers.CharField(help_text="Borrowed or lent amount.")


class QueueLoanSerializer(serializers.Serializer[Any]):
    """What a queue borrows or lends of one resource."""

    resource = serializers.CharField(help_text="Name of the resource.")
    borrowing = serializers.BooleanField(
        help_text="True if the queue borrows the amount, false if it lends the amount."
    )
    amount = serializers.CharField(help_text="Total amount that is borrowed or lent.")
    parties = LoanPartySerializer(
        many=True, help_text="Queues on the opposite side of the loan, the largest amount first."
    )


class ReclaimNoticeSerializer(serializers.Serializer[Notice]):
    """A notice to a queue to give back what it uses above its deserved share."""

    excess = AmountsField(source="over", help_text="What the queue uses above its deserved share, by resource.")
    notified_at = UtcField(source="told_at", help_text="Time when the queue was notified.")
    due_at = UtcField(help_text="Time from which pods of the queue can be preempted.")


class ResourceQuotaLimitSerializer(serializers.Serializer[Any]):
    """A namespace whose ResourceQuotas allow less than the hard cap of its queue."""

    namespace = serializers.CharField(
        help_text="Namespace whose ResourceQuotas allow less than the hard cap of the queue."
    )
    allowed_amounts = AmountsField(
        help_text="What the ResourceQuotas allow of each resource where the hard cap is higher.", source="allows"
    )


class QueueDetailSerializer(serializers.Serializer[Any]):
    """A queue with the largest applications that run in it."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    revision = serializers.IntegerField(help_text="Number of the published revision.")
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
    queue = QueueSerializer(help_text="The queue.")
    namespaces = serializers.ListField(
        child=serializers.CharField(), help_text="Namespaces whose pods run in this queue if they name no queue."
    )
    former_paths = serializers.ListField(
        child=serializers.CharField(),
        help_text="Earlier paths of the queue; pods that name one of them run here.",
    )
    applications = ApplicationSerializer(
        many=True, help_text="Largest applications in the queue, at most twenty; empty unless a leaf queue."
    )
    wait_estimate = QueueWaitEstimateSerializer(
        allow_null=True, help_text="How long pods of the queue usually wait; null unless a leaf queue."
    )
    reclaim_notice = ReclaimNoticeSerializer(
        allow_null=True, help_text="Notice to give back excess usage; null if there is none."
    )
    resource_quota_limit = ResourceQuotaLimitSerializer(
        allow_null=True,
        help_text="ResourceQuotas below the queue's hard cap; null if none, or under other policies than `deserved`.",
    )
    loans = QueueLoanSerializer(
        many=True,
        help_text="What the queue borrows or lends, one entry per resource and direction.",
    )
