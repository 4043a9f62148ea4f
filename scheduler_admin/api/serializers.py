"""The shapes of the answers."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.model.decision import Interlock, Outcome
from engine.model.queue_tree import GuaranteeStatus
from scheduler_admin.api.fields import AmountsField, UtcField, WorkField
from scheduler_admin.api.queue_settings import shown_fields
from scheduler_admin.api.redaction import SeenAsk, SeenDecision
from scheduler_admin.api.standing import UNKNOWN, QueueStanding, ResourceStanding
from scheduler_admin.api.waits import QueueWaitsSerializer
from scheduler_admin.clusters.holds import Hold
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Notice
from scheduler_admin.clusters.selectors import holds, status_of
from scheduler_admin.history.models import Decision, Step, Victim
from scheduler_admin.queues.models import Revision


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    """The published tree that is enforced."""

    number = serializers.IntegerField()  # declared, as bounds that are taken off the model differ by database
    published_at = UtcField()

    class Meta:
        model = Revision
        fields = ["number", "policy", "dialect", "published_at"]


class HoldSerializer(serializers.Serializer[Hold]):
    """An interlock that keeps evictions back now. Who, why and numbers are left out for tenants."""

    interlock = serializers.ChoiceField([one.value for one in Interlock])
    queue = serializers.CharField(help_text="With all below it; empty: the whole cluster.")
    all_clusters = serializers.BooleanField(source="everywhere")
    since = UtcField()
    until = UtcField(allow_null=True, help_text="When it ends by itself, where that is known.")
    by = serializers.CharField(help_text="Who closed it, where somebody did.")
    reason = serializers.CharField(help_text="And why.")
    figures = serializers.DictField(child=serializers.IntegerField(), help_text="The numbers of a breaker.")
    decisions = serializers.IntegerField(help_text="How many it held back in the last pass.")


class PassSerializer(serializers.Serializer[ClusterStatus]):
    """The last run of the engine."""

    at = UtcField(source="pass_at")
    took_us = serializers.IntegerField(source="pass_us", allow_null=True, help_text="Microseconds.")
    revision = serializers.IntegerField(source="revision_number", allow_null=True)


class FaultSerializer(serializers.Serializer[ClusterStatus]):
    """Why the cluster can't be read."""

    since = UtcField(source="error_since", allow_null=True)
    text = serializers.CharField(source="error", allow_null=True, help_text="Null for tenants.")


class OddSerializer(serializers.Serializer[Any]):
    """An object that can't be read and is passed over."""

    object = serializers.CharField(help_text="Kind, and namespace/name.")
    why = serializers.CharField()
    since = serializers.SerializerMethodField(help_text="When it was first found so.")

    @extend_schema_field(serializers.DateTimeField())
    def get_since(self, odd: dict[str, Any]) -> str:
        """As every time."""
        return str(UtcField().to_representation(datetime.fromtimestamp(odd["since_ms"] / 1000, UTC)))


class PodsOfSerializer(serializers.Serializer[Any]):
    """How many pods of a namespace."""

    namespace = serializers.CharField()
    pods = serializers.IntegerField()


class UnplacedSerializer(serializers.Serializer[Any]):
    """The pods that are in no queue, but those of kube-system; null for tenants."""

    running = serializers.IntegerField()
    waiting = serializers.IntegerField()
    used = AmountsField()
    namespaces = PodsOfSerializer(many=True, help_text="The twenty with the most.")
    foreign = serializers.IntegerField(
        help_text="Running pods that YuniKorn does not schedule, or Kueue not manage, where it runs; not counted above."
    )
    foreign_used = AmountsField()


class ClusterSerializer(serializers.Serializer[Cluster]):
    """A cluster with what the last pass read of it. What people wrote is left out for tenants (context: scope)."""

    name = serializers.CharField()
    mode = serializers.ChoiceField(Cluster.Mode.choices)
    holds = serializers.SerializerMethodField()
    hierarchy = serializers.CharField(source="hierarchy.name", allow_null=True)
    revision = RevisionSerializer(source="hierarchy.current", allow_null=True)
    last_pass = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()
    odd = serializers.SerializerMethodField()
    odd_count = serializers.SerializerMethodField(help_text="How many objects can't be read; null for tenants.")
    read_at = UtcField(source="status.read_at", allow_null=True)
    age_seconds = serializers.SerializerMethodField(help_text="Since it was last heard of; null: never.")
    unplaced = serializers.SerializerMethodField()
    nodes = serializers.IntegerField(source="status.nodes", allow_null=True)
    pods = serializers.IntegerField(source="status.pods", allow_null=True)
    capacity = AmountsField(source="status.capacity", allow_null=True)

    @extend_schema_field(HoldSerializer(many=True))
    def get_holds(self, cluster: Cluster) -> list[Any]:
        """What keeps evictions back now, as far as it concerns the user's queues."""
        return [dict(HoldSerializer(hold).data) for hold in holds(cluster, self.context["scope"])]

    @extend_schema_field(PassSerializer(allow_null=True))
    def get_last_pass(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null before the first."""
        status = status_of(cluster)
        return dict(PassSerializer(status).data) if status and status.pass_at else None

    @extend_schema_field(FaultSerializer(allow_null=True))
    def get_error(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null when the cluster can be read."""
        status = status_of(cluster)
        if not status or not status.error:
            return None
        fault = dict(FaultSerializer(status).data)
        return fault if self.context["scope"].everything else {**fault, "text": None}

    @extend_schema_field(OddSerializer(many=True))
    def get_odd(self, cluster: Cluster) -> list[dict[str, Any]]:
        """Objects that can't be read, the first fifty; none for tenants."""
        status = status_of(cluster) if self.context["scope"].everything else None
        return [dict(OddSerializer(one).data) for one in status.odd] if status else []

    def get_odd_count(self, cluster: Cluster) -> int | None:
        """Null where it isn't known, or not told."""
        status = status_of(cluster) if self.context["scope"].everything else None
        return status.odd_count if status else None

    @extend_schema_field(UnplacedSerializer(allow_null=True))
    def get_unplaced(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null where it isn't known, or not told."""
        status = status_of(cluster) if self.context["scope"].everything else None
        if status is None:
            return None
        kept: dict[str, Any] = {
            "running": 0,
            "waiting": 0,
            "used": {},
            "namespaces": [],
            "foreign": 0,
            "foreign_used": {},
        }
        kept |= status.unplaced
        spaces = [{"namespace": name, "pods": pods} for name, pods in kept["namespaces"]]
        return dict(UnplacedSerializer({**kept, "namespaces": spaces}).data)

    def get_age_seconds(self, cluster: Cluster) -> int | None:
        """Whole seconds."""
        status = status_of(cluster)
        return int((timezone.now() - status.read_at).total_seconds()) if status and status.read_at else None


class ClustersSerializer(serializers.Serializer[Any]):
    """All clusters that the user may see."""

    results = ClusterSerializer(many=True)


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


class AskSerializer(serializers.Serializer[SeenAsk]):
    """The pod that wants room. Of another tenant's (`redacted`) is told what the site lets victims learn."""

    redacted = serializers.BooleanField()
    queue = serializers.CharField(allow_blank=True)
    uid = serializers.CharField(allow_null=True)
    namespace = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    application = serializers.CharField(allow_null=True)
    priority = serializers.IntegerField(allow_null=True)
    priority_class = serializers.CharField(allow_null=True)
    requests = AmountsField(allow_null=True)
    since = UtcField(allow_null=True, help_text="Since when the scheduler finds no room for it.")


class VictimSerializer(serializers.ModelSerializer[Victim]):
    """A pod that is evicted, or would be."""

    priority = serializers.IntegerField(allow_null=True, help_text="Null where it is not known.")
    attempts = serializers.IntegerField()
    requests = AmountsField()
    started_at = UtcField(allow_null=True)
    checkpoint_at = UtcField(allow_null=True, help_text="When it last wrote a checkpoint, as its annotation tells.")
    odd_checkpoint = serializers.CharField(help_text="What the annotation says where that is no time; else empty.")
    work_lost = WorkField(
        allow_null=True,
        help_text="What its eviction threw away: core, byte, device seconds. Null: not evicted, or not known.",
    )
    evicted_at = UtcField(allow_null=True)
    gone_at = UtcField(allow_null=True)
    state = serializers.ChoiceField(Victim.State.choices)
    preempted_in_day = serializers.IntegerField(
        allow_null=True, help_text="How often its application was, in the 24 hours up to then; null: not counted."
    )

    class Meta:
        model = Victim
        fields = [
            *("uid", "namespace", "name", "queue", "application", "priority", "requests", "node", "started_at"),
            *("checkpoint_at", "odd_checkpoint", "work_lost", "reason", "state", "attempts", "evicted_at", "gone_at"),
            "preempted_in_day",
        ]


class DecisionSerializer(serializers.Serializer[SeenDecision]):
    """One ask, what was decided, and what became of it."""

    id = serializers.IntegerField(source="decision.pk")
    cluster = serializers.CharField(source="decision.cluster.name")
    revision = serializers.IntegerField(source="decision.revision.number", allow_null=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source"
    )
    mode = serializers.ChoiceField(Cluster.Mode.choices, source="decision.mode")
    policy = serializers.CharField(source="decision.policy")
    dialect = serializers.CharField(source="decision.dialect")
    ask = AskSerializer()
    outcome = serializers.ChoiceField([outcome.value for outcome in Outcome], source="decision.outcome")
    reason = serializers.CharField(source="decision.reason")
    detail = serializers.CharField(allow_null=True, help_text="What the reason is about; null for another's ask.")
    node = serializers.CharField(source="decision.node")
    victims = VictimSerializer(many=True, help_text="For tenants: their own.")
    state = serializers.ChoiceField(Decision.State.choices, source="decision.state")
    ending = serializers.ChoiceField(Decision.Ending.choices, source="decision.ending", allow_blank=True)
    hold = serializers.CharField(source="decision.hold", help_text="The interlock that holds it back, or empty.")
    first_seen = UtcField(source="decision.first_seen")
    last_seen = UtcField(source="decision.last_seen")
    count = serializers.IntegerField(source="decision.count", help_text="How often it came out the same.")
    took_us = serializers.IntegerField(allow_null=True, help_text="Microseconds to decide; null: another decided.")
    deadline = UtcField(source="decision.deadline", allow_null=True)
    closed_at = UtcField(source="decision.closed_at", allow_null=True)


class DecisionsSerializer(serializers.Serializer[Any]):
    """A page of decisions, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = DecisionSerializer(many=True)


class StepSerializer(serializers.ModelSerializer[Step]):
    """Something that really happened."""

    at = UtcField()

    class Meta:
        model = Step
        fields = ["at", "kind", "pod", "note"]


@extend_schema_field(OpenApiTypes.OBJECT)
class DocumentField(serializers.Field[Any, Any, Any, Any]):
    """Plain JSON of the engine, as stored. Its amounts are integers: thousandths of a core, bytes, counts."""

    def to_representation(self, value: Any) -> Any:
        """As it is."""
        return value


class LawSerializer(serializers.Serializer[Any]):
    """A law held against the decision, with the arithmetic in the engine's integers (null for tenants)."""

    law = serializers.CharField()
    holds = serializers.BooleanField()
    sums = serializers.ListField(child=DocumentField(), allow_null=True)


class DecisionDetailSerializer(DecisionSerializer):
    """A decision with everything it rests on."""

    laws = LawSerializer(many=True)
    steps = StepSerializer(many=True, help_text="In order. For tenants: those of their own pods, without notes.")
    document = DocumentField(
        allow_null=True,
        help_text=(
            "The engine's decision with its trace, or what is known of another's; of a scheduler's with `hindsight`: "
            "what its own rules decide for the same ask on the cluster of just before. Null for tenants."
        ),
    )
    again = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text=(
            "Of another scheduler's: what its own rules answer for the same ask, and where the two differ, a sentence "
            "each. Null for tenants."
        ),
    )
    replayable = serializers.BooleanField(
        source="decision.replayable", help_text="Whether all that it rests on is still stored, to decide it again."
    )


class SampleSerializer(serializers.Serializer[Any]):
    """Usage in one step of time."""

    at = UtcField(help_text="Where the step begins.")
    used = serializers.CharField(help_text="The mean of all samples in the step; a share is a part of 1.")
    highest = serializers.CharField(help_text="The highest of them.")
    guaranteed = serializers.CharField(allow_null=True, help_text="As the step began.")
    max = serializers.CharField(allow_null=True, help_text="As the step began.")
    deserved = serializers.CharField(allow_null=True, help_text="The mean. Null where the policy was not `deserved`.")
    asks_waiting = serializers.IntegerField(help_text="The most that waited.")


class UsageSerializer(serializers.Serializer[Any]):
    """One queue's usage of one resource over time."""

    cluster = serializers.CharField()
    queue = serializers.CharField()
    resource = serializers.CharField()
    to = UtcField()
    step_s = serializers.IntegerField(
        help_text="For how many seconds each sample stands, from `at` on; 10: as it was taken."
    )
    samples = SampleSerializer(many=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """``from`` is a word of Python, so it can't be declared above."""
        return {**super().get_fields(), "from": UtcField()}
