"""A cluster as it is sent."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.model.decision import Interlock
from engine.model.objects import GroupEvidence
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.holds import Hold
from scheduler_admin.clusters.selectors import holds, status_of
from scheduler_admin.queues.models import Revision
from scheduler_admin.rest.fields import AmountsField, UtcField, represent


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    """A published queue tree."""

    # Declared, as bounds that are taken off the model differ by database.
    number = serializers.IntegerField(help_text="Number of the revision.")
    published_at = UtcField(help_text="Time when the revision was published.")

    class Meta:
        model = Revision
        fields = ["number", "policy", "dialect", "published_at"]
        extra_kwargs = {
            "policy": {"help_text": "Policy of the revision."},
            "dialect": {"help_text": "Dialect of the policy."},
        }


class ActiveSafeguardSerializer(serializers.Serializer[Hold]):
    """A safeguard that keeps evictions on hold now. User, reason and figures are left out for tenants."""

    safeguard = serializers.ChoiceField(
        [one.value for one in Interlock], source="interlock", help_text="Code of the safeguard."
    )
    queue = serializers.CharField(
        help_text="Path of the queue that it covers, with all queues below; empty for the whole cluster."
    )
    all_clusters = serializers.BooleanField(source="everywhere", help_text="True if the safeguard covers all clusters.")
    since = UtcField(help_text="Time since which the safeguard is active.")
    until = UtcField(allow_null=True, help_text="Time when the safeguard ends by itself; null if unknown.")
    created_by = serializers.CharField(
        help_text="Name of the user who set the safeguard; empty if automatic or hidden.", source="by"
    )
    reason = serializers.CharField(help_text="Reason for the safeguard; empty if automatic or hidden.")
    figures = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Measured values that activated the safeguard, such as `not_ready` and `nodes`; may be empty.",
    )
    decisions_on_hold = serializers.IntegerField(
        help_text="Number of decisions that it kept on hold in the last pass.", source="decisions"
    )


class LastPassSerializer(serializers.Serializer[ClusterStatus]):
    """The last pass of the engine."""

    started_at = UtcField(source="pass_at", help_text="Time when the pass started.")
    duration_seconds = serializers.SerializerMethodField(help_text="Seconds that the pass took; null if unknown.")
    revision = serializers.IntegerField(
        source="revision_number", allow_null=True, help_text="Number of the revision that the pass used; null if none."
    )

    def get_duration_seconds(self, status: ClusterStatus) -> float | None:
        """Return its duration, which is kept in microseconds."""
        return None if status.pass_us is None else status.pass_us / 1_000_000


class ClusterErrorSerializer(serializers.Serializer[ClusterStatus]):
    """Why the cluster cannot be read."""

    since = UtcField(
        source="error_since", allow_null=True, help_text="Time since which the cluster cannot be read; null if unknown."
    )
    message = serializers.CharField(source="error", allow_null=True, help_text="Error message; null for tenants.")


class UnreadableObjectSerializer(serializers.Serializer[Any]):
    """An object that cannot be read and is ignored."""

    object = serializers.CharField(help_text="Kind, namespace and name of the object.")
    reason = serializers.CharField(source="why", help_text="Why the object cannot be read.")
    since = serializers.SerializerMethodField(help_text="Time when the object was first found unreadable.")

    @extend_schema_field(serializers.DateTimeField())
    def get_since(self, odd: dict[str, Any]) -> str:
        """As every time."""
        return str(UtcField().to_representation(datetime.fromtimestamp(odd["since_ms"] / 1000, UTC)))


class NamespacePodsSerializer(serializers.Serializer[Any]):
    """Number of pods in a namespace."""

    namespace = serializers.CharField(help_text="Name of the namespace.")
    pods = serializers.IntegerField(help_text="Number of pods in the namespace.")


class PodsWithoutQueueSerializer(serializers.Serializer[Any]):
    """Pods that belong to no queue, except those of kube-system."""

    running_pods = serializers.IntegerField(
        source="running", help_text="Number of running pods that belong to no queue."
    )
    pending_pods = serializers.IntegerField(
        source="waiting", help_text="Number of pending pods that belong to no queue."
    )
    used = AmountsField(help_text="Sum of the requests of the running pods, by resource.")
    namespaces = NamespacePodsSerializer(many=True, help_text="The twenty namespaces with the most such pods.")
    unmanaged_pods = serializers.IntegerField(
        help_text="Number of running pods that YuniKorn or Kueue does not manage, counted separately.", source="foreign"
    )
    unmanaged_used = AmountsField(
        source="foreign_used", help_text="Sum of the requests of the unmanaged pods, by resource."
    )


class GroupSchedulingSerializer(serializers.Serializer[Any]):
    """Whether kube-scheduler schedules and preempts PodGroups as a whole."""

    enabled = serializers.BooleanField(source="on", allow_null=True, help_text="True if it does; null if unknown.")
    evidence = serializers.ChoiceField(
        [one.value for one in GroupEvidence if one],
        allow_null=True,
        help_text="Evidence: api (PodGroups are not served), metrics or flags of the scheduler, traces of its work, or "
        "setting; null if unknown.",
    )


class ClusterSerializer(serializers.Serializer[Cluster]):
    """A cluster with what the last pass read of it. Texts by people are left out for tenants."""

    name = serializers.CharField(help_text="Name of the cluster.")
    mode = serializers.ChoiceField(Cluster.Mode.choices, help_text="Current mode: observe, advise or enforce.")
    active_safeguards = serializers.SerializerMethodField(help_text="Safeguards that keep evictions on hold now.")
    hierarchy = serializers.CharField(
        source="hierarchy.name", allow_null=True, help_text="Name of the hierarchy that the cluster uses; null if none."
    )
    revision = RevisionSerializer(
        source="hierarchy.current", allow_null=True, help_text="Published revision that the cluster uses; null if none."
    )
    last_pass = serializers.SerializerMethodField(help_text="Last pass of the engine; null before the first pass.")
    error = serializers.SerializerMethodField(help_text="Why the cluster cannot be read; null if it can be read.")
    unreadable_objects = serializers.SerializerMethodField(
        help_text="First fifty objects that cannot be read; empty for tenants."
    )
    unreadable_object_count = serializers.SerializerMethodField(
        help_text="Number of objects that cannot be read; null for tenants or if unknown."
    )
    read_at = UtcField(
        source="status.read_at",
        allow_null=True,
        help_text="Time when data was last received from the cluster; null if never.",
    )
    age_seconds = serializers.SerializerMethodField(
        help_text="Seconds since data was last received from the cluster; null if never."
    )
    pods_without_queue = serializers.SerializerMethodField(
        help_text="Pods that belong to no queue, except those of kube-system; null for tenants or if unknown."
    )
    nodes = serializers.IntegerField(
        source="status.nodes", allow_null=True, help_text="Number of nodes; null before the first pass."
    )
    pods = serializers.IntegerField(
        source="status.pods", allow_null=True, help_text="Number of pods; null before the first pass."
    )
    group_scheduling = serializers.SerializerMethodField(
        help_text="Whether kube-scheduler schedules PodGroups as a whole; null before the first pass."
    )
    capacity = AmountsField(
        source="status.capacity",
        allow_null=True,
        help_text="Allocatable resources of all nodes together; null before the first pass.",
    )

    @extend_schema_field(ActiveSafeguardSerializer(many=True))
    def get_active_safeguards(self, cluster: Cluster) -> list[Any]:
        """What keeps evictions back now, as far as it concerns the user's queues."""
        return [represent(ActiveSafeguardSerializer, hold) for hold in holds(cluster, self.context["scope"])]

    @extend_schema_field(LastPassSerializer(allow_null=True))
    def get_last_pass(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null before the first."""
        status = status_of(cluster)
        return represent(LastPassSerializer, status) if status and status.pass_at else None

    @extend_schema_field(ClusterErrorSerializer(allow_null=True))
    def get_error(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null when the cluster can be read."""
        status = status_of(cluster)
        if not status or not status.error:
            return None
        fault = represent(ClusterErrorSerializer, status)
        return fault if self.context["scope"].everything else {**fault, "message": None}

    @extend_schema_field(UnreadableObjectSerializer(many=True))
    def get_unreadable_objects(self, cluster: Cluster) -> list[dict[str, Any]]:
        """Objects that can't be read, the first fifty; none for tenants."""
        status = status_of(cluster) if self.context["scope"].everything else None
        return [represent(UnreadableObjectSerializer, one) for one in status.odd] if status else []

    def get_unreadable_object_count(self, cluster: Cluster) -> int | None:
        """Null where it isn't known, or not told."""
        status = status_of(cluster) if self.context["scope"].everything else None
        return status.odd_count if status else None

    @extend_schema_field(PodsWithoutQueueSerializer(allow_null=True))
    def get_pods_without_queue(self, cluster: Cluster) -> dict[str, Any] | None:
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
        return represent(PodsWithoutQueueSerializer, {**kept, "namespaces": spaces})

    @extend_schema_field(GroupSchedulingSerializer(allow_null=True))
    def get_group_scheduling(self, cluster: Cluster) -> dict[str, Any] | None:
        """Null before the first pass that looked for it."""
        status = status_of(cluster)
        if not status or not status.group_scheduling:
            return None
        found = status.group_scheduling
        return represent(GroupSchedulingSerializer, {**found, "evidence": found["evidence"] or None})

    def get_age_seconds(self, cluster: Cluster) -> int | None:
        """Whole seconds."""
        status = status_of(cluster)
        return int((timezone.now() - status.read_at).total_seconds()) if status and status.read_at else None


class ClustersSerializer(serializers.Serializer[Any]):
    """All clusters that you can see."""

    results = ClusterSerializer(many=True, help_text="Clusters that you can see.")
