"""How far the engine may go in a cluster, and the limits of what it evicts there."""

import json

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.limits import LIMITS, MOST, change_limits, limits_of
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM, etag, if_match
from scheduler_admin.rest.parameters import ReasonParameters

_REFUSED = {**REFUSED, **{(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}}
_ETAG = etag("Of the settings.", 200, 304)
_IF_MATCH = if_match("The ETag of the settings that this changes.")


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


class ClusterSettingsView(ApiView):
    """The settings of a cluster."""

    actions = {"GET": "view", "PATCH": "operate"}
    staff_only = True

    queries = {"PATCH": SettingsParameters}

    @extend_schema(
        operation_id="get_settings",
        tags=["clusters"],
        parameters=[CLUSTER, _ETAG],
        responses={200: SettingsSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """How far the engine may go, and its limits."""
        del request
        cluster = self.cluster(name)
        return Response(SettingsSerializer(cluster).data, headers={"ETag": _tag(cluster)})

    @extend_schema(
        operation_id="patch_settings",
        tags=["clusters"],
        parameters=[CLUSTER, SettingsParameters, _IF_MATCH, _ETAG],
        request=SettingsSerializer(partial=True),
        responses={200: SettingsSerializer, **PROBLEM, **_REFUSED},
    )
    @transaction.atomic
    def patch(self, request: Request, name: str) -> Response:
        """Change those that are given. The mode takes an operator, limits take an admin."""
        seen = self.cluster(name)
        user = self.actor("operate")
        given = read_body(SettingsSerializer(seen, data=request.data, partial=True), request.data)
        cluster = Cluster.objects.select_for_update().get(pk=seen.pk)
        etags.check(request, _tag(cluster), required=True)
        mode = given.pop("mode", cluster.mode)
        if given:
            actor = self.configurer()
            change_limits(cluster=cluster, values=given, seen={}, actor=actor, reason=self.asked["reason"])
        if mode != cluster.mode:
            override = self.asked["override"]
            set_mode(cluster=cluster, mode=mode, actor=user, reason=self.asked["reason"], override=override)
        cluster.refresh_from_db()
        return Response(SettingsSerializer(cluster).data, headers={"ETag": _tag(cluster)})

    def configurer(self) -> User:
        """Who asks, if their role lets them change limits. Raises PermissionDenied."""
        return acting(self.request.user, "configure")


def _tag(cluster: Cluster) -> str:
    text = json.dumps({"mode": cluster.mode, **limits_of(cluster)}, sort_keys=True)
    return entity_tag(text)
