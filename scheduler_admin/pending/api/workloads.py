"""Kueue's workloads that wait for quota."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload, pending_workloads
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import AmountsField, UtcField
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM
from scheduler_admin.rest.parameters import QUEUE


class PendingParameters(serializers.Serializer[Any]):
    """Which workloads."""

    queue = serializers.RegexField(QUEUE, required=False, max_length=500, help_text="In this queue or below it.")


class PendingWorkloadSerializer(serializers.Serializer[PendingWorkload]):
    """A workload that Kueue has given no quota yet."""

    namespace = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField(help_text="Kind/name of what it is made for; empty: not known.")
    queue = serializers.CharField(help_text="Empty: none of the tree.")
    priority = serializers.IntegerField()
    requests = AmountsField(help_text="Of all its pods together.")
    since = UtcField()
    message = serializers.CharField(source="why", help_text="Kueue's own; empty: it has not tried the workload yet.")


class PendingWorkloadsSerializer(serializers.Serializer[Any]):
    """By priority, then by time."""

    cluster = serializers.CharField()
    pass_at = UtcField(allow_null=True, help_text="The pass that saw them; null: there was none yet.")
    results = PendingWorkloadSerializer(many=True, help_text="At most five hundred of a cluster are kept.")


class PendingWorkloadsView(ApiView):
    """The workloads of a cluster that wait for quota."""

    actions = {"GET": "view"}

    queries = {"GET": PendingParameters}

    @extend_schema(
        operation_id="list_pending_workloads",
        tags=["queues"],
        parameters=[CLUSTER, PendingParameters],
        responses={200: PendingWorkloadsSerializer, **PROBLEM},
    )
    def get(self, _request: Request, name: str) -> Response:
        """Your workloads that wait for Kueue's quota, with Kueue's own message. None of their pods is scheduled yet."""
        cluster = self.cluster(name)
        status = status_of(cluster)
        found = pending_workloads(self.scope, [cluster], self.asked.get("queue", ""))
        body = {"cluster": cluster.name, "pass_at": status.pass_at if status else None, "results": list(found)}
        return Response(PendingWorkloadsSerializer(body).data)
