"""How far the engine may go in a cluster, and the limits of what it evicts there."""

import json

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.limits import MOST, change_limits, limits_of
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import named_as_sent, read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.parameters import ReasonParameters

_COUNT = {"min_value": 0, "max_value": MOST}
_EVICTIONS = {
    "evictions_per_pass": "Maximum number of pods evicted per pass.",
    "evictions_per_minute": "Maximum number of pods evicted in any minute.",
    "evictions_per_queue": "Maximum number of pods evicted from one leaf queue in any minute.",
    "evictions_per_namespace": "Maximum number of pods evicted from one namespace in any minute.",
    "evictions_per_node": "Maximum number of pods evicted from one node in any minute.",
}


class ClusterSettingsSerializer(serializers.ModelSerializer[Cluster]):
    """The mode of a cluster and the limits of evictions."""

    protected_namespaces = serializers.ListField(
        child=serializers.CharField(max_length=limits.NAMESPACE), help_text="Namespaces whose pods are never preempted."
    )
    enforce_queues = serializers.ListField(
        child=serializers.CharField(max_length=limits.QUEUE_PATH),
        help_text="Queues that enforce mode is limited to, with all queues below; empty for no limit.",
    )
    enforce_namespaces = serializers.ListField(
        child=serializers.CharField(max_length=limits.NAMESPACE),
        help_text="Namespaces that enforce mode is limited to; empty for no limit.",
    )

    class Meta:
        model = Cluster
        fields = [
            "mode",
            *_EVICTIONS,
            "max_reserved_nodes",
            "min_run_seconds",
            "bind_margin_seconds",
            "reservation_method",
            "pod_events_enabled",
            "yunikorn_service",
            "group_scheduling",
            "protected_namespaces",
            "enforce_queues",
            "enforce_namespaces",
        ]
        extra_kwargs = {
            **{name: {**_COUNT, "help_text": text} for name, text in _EVICTIONS.items()},
            "max_reserved_nodes": {
                **_COUNT,
                "source": "reserved_nodes",
                "help_text": "Maximum number of nodes reserved for pending pods at the same time.",
            },
            "min_run_seconds": {
                **_COUNT,
                "source": "min_run_s",
                "help_text": "Seconds that a pod must have run before it can be preempted.",
            },
            "bind_margin_seconds": {
                **_COUNT,
                "source": "bind_margin_s",
                "help_text": "Seconds that a decision waits for the pod after the victims' longest grace period.",
            },
            "reservation_method": {
                "source": "room_kept_by",
                "help_text": "How freed capacity is reserved for the pending pod.",
            },
            "pod_events_enabled": {
                "source": "publish",
                "help_text": "True if Events are written on pods in advise mode.",
            },
            "mode": {"help_text": "Mode of the cluster: observe, advise or enforce."},
            "yunikorn_service": {
                "help_text": "Address of the YuniKorn service as `namespace/service:port`; empty if it is not queried."
            },
            "group_scheduling": {
                "help_text": "Whether kube-scheduler schedules PodGroups as a whole: unknown, on or off. Used if the "
                "cluster does not show it."
            },
        }


class SettingsParameters(ReasonParameters):
    """Why, and whether it is meant."""

    override = serializers.CharField(
        required=False,
        default="",
        help_text="Name of the cluster, to confirm mode enforce beside another scheduler that preempts.",
    )


class ClusterSettingsView(ApiView, Tagged):
    """The settings of a cluster."""

    actions = {"GET": "view", "PATCH": "operate"}
    queries = {"PATCH": SettingsParameters}
    staff_only = True
    tag = "clusters"
    etag_description = "ETag of the settings."
    if_match_description = "ETag of the settings as you read them."

    @extend_schema(operation_id="get_cluster_settings", responses=ClusterSettingsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The mode of a cluster and the limits of evictions."""
        del request
        return self.answer(self.cluster(name))

    @extend_schema(
        operation_id="update_cluster_settings",
        request=ClusterSettingsSerializer(partial=True),
        responses=ClusterSettingsSerializer,
    )
    @transaction.atomic
    def patch(self, request: Request, name: str) -> Response:
        """Change the settings that are sent. Operators can set the mode; limits require an admin."""
        seen = self.cluster(name)
        body = ClusterSettingsSerializer(seen, data=request.data, partial=True)
        given = read_body(body, request.data)
        cluster = Cluster.objects.select_for_update().get(pk=seen.pk)
        self.check_read(cluster)
        mode, reason = given.pop("mode", cluster.mode), self.asked["reason"]
        if given:
            admin = acting(self.user, "configure")
            with named_as_sent(body):
                change_limits(cluster=cluster, values=given, seen={}, actor=admin, reason=reason)
        if mode != cluster.mode:
            override = self.asked["override"]
            set_mode(cluster=cluster, mode=mode, actor=self.user, reason=reason, override=override)
        cluster.refresh_from_db()
        return self.answer(cluster)

    def answer(self, cluster: Cluster) -> Response:
        """Return the settings as they are now."""
        return Response(represent(ClusterSettingsSerializer, cluster), headers=self.headers_of(cluster))

    def tag_of(self, found: Cluster) -> str:
        """Return the ETag of the mode and the limits."""
        return entity_tag(json.dumps({"mode": found.mode, **limits_of(found)}, sort_keys=True))
