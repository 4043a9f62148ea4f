"""A cluster as it is sent."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.model.decision import Interlock
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.holds import Hold
from scheduler_admin.clusters.selectors import holds, status_of
from scheduler_admin.queues.models import Revision
from scheduler_admin.rest.fields import AmountsField, UtcField


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
