"""How far the engine may go in a cluster, and the limits of what it evicts there."""

import json

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.limits import LIMITS, MOST, change_limits, limits_of
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.parameters import ReasonParameters


class SettingsSerializer(serializers.ModelSerializer[Cluster]):
    """How far the engine may go, and its limits. Times are seconds; budgets are pods in any minute unless said."""

    class Meta:
        model = Cluster
        fields = ["mode", *LIMITS]
        extra_kwargs = {
            **{
                name: {"min_value": 0, "max_value": MOST}
                for name in fields
                if name.startswith("evictions_") or name in ("reserved_nodes", "min_run_s", "bind_margin_s")
            },
        }

    protected_namespaces = serializers.ListField(child=serializers.CharField(max_length=limits.NAMESPACE))
    enforce_queues = serializers.ListField(
        child=serializers.CharField(max_length=limits.QUEUE_PATH),
        help_text="In enforce: act only where the pending pod and all victims are in these queues, or below, or in the "
        "namespaces; everything else is only advised. Both empty: anywhere.",
    )
    enforce_namespaces = serializers.ListField(child=serializers.CharField(max_length=limits.NAMESPACE))


class SettingsParameters(ReasonParameters):
    """Why, and whether it is meant."""

    override = serializers.CharField(
        required=False, default="", help_text="The cluster's name: enforce beside a scheduler that preempts too."
    )


class ClusterSettingsView(ApiView, Tagged):
    """The settings of a cluster."""

    actions = {"GET": "view", "PATCH": "operate"}
    queries = {"PATCH": SettingsParameters}
    staff_only = True
    tag = "clusters"
    etag_description = "Of the settings."
    if_match_description = "The ETag of the settings that this changes."

    @extend_schema(operation_id="get_settings", responses=SettingsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """How far the engine may go, and its limits."""
        del request
        return self.answer(self.cluster(name))

    @extend_schema(
        operation_id="patch_settings", request=SettingsSerializer(partial=True), responses=SettingsSerializer
    )
    @transaction.atomic
    def patch(self, request: Request, name: str) -> Response:
        """Change those that are given. The mode takes an operator, limits take an admin."""
        seen = self.cluster(name)
        given = read_body(SettingsSerializer(seen, data=request.data, partial=True), request.data)
        cluster = Cluster.objects.select_for_update().get(pk=seen.pk)
        self.check_read(cluster)
        mode, reason = given.pop("mode", cluster.mode), self.asked["reason"]
        if given:
            admin = acting(self.user, "configure")
            change_limits(cluster=cluster, values=given, seen={}, actor=admin, reason=reason)
        if mode != cluster.mode:
            override = self.asked["override"]
            set_mode(cluster=cluster, mode=mode, actor=self.user, reason=reason, override=override)
        cluster.refresh_from_db()
        return self.answer(cluster)

    def answer(self, cluster: Cluster) -> Response:
        """Return the settings as they are now."""
        return Response(SettingsSerializer(cluster).data, headers=self.headers_of(cluster))

    def tag_of(self, found: Cluster) -> str:
        """Return the ETag of the mode and the limits."""
        return entity_tag(json.dumps({"mode": found.mode, **limits_of(found)}, sort_keys=True))
