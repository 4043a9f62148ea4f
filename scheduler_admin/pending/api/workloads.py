"""Kueue's workloads that wait for quota."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload, pending_workload, pending_workloads
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import AmountsField, UtcField
from scheduler_admin.rest.parameters import QUEUE
from scheduler_admin.rest.viewsets import InCluster


class PendingParameters(serializers.Serializer[Any]):
    """Which workloads."""

    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="In this queue or below it."
    )


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


class PendingWorkloadViewSet(InCluster):
    """Your workloads that wait for Kueue's quota, with Kueue's own message. None of their pods is scheduled yet."""

    actions = {"GET": "view"}
    queries = {"GET": PendingParameters}
    tag = "queues"
    resource = "pending_workload", "pending_workloads"
    serializer_class = PendingWorkloadSerializer
    list_class = PendingWorkloadsSerializer

    def list(self, _request: Request, **_place: Any) -> Response:
        """Return the cluster's workloads that the reader may see and asked for."""
        cluster = self.named_cluster
        status = status_of(cluster)
        found = pending_workloads(self.scope, [cluster], self.asked.get("queue", ""))
        body = {"cluster": cluster.name, "pass_at": status.pass_at if status else None, "results": list(found)}
        return Response(PendingWorkloadsSerializer(body).data)

    def retrieve(self, _request: Request, namespace: str, workload: str, **_place: Any) -> Response:
        """One of your workloads that waits for Kueue's quota."""
        found = pending_workload(self.scope, self.named_cluster, namespace, workload)
        if found is None:
            raise Http404
        return Response(PendingWorkloadSerializer(found).data)
