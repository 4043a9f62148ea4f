"""Workloads that wait for quota of Kueue."""

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload, pending_workload, pending_workloads
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import AmountsField, UtcField, represent
from scheduler_admin.rest.parameters import QUEUE
from scheduler_admin.rest.viewsets import InCluster


class PendingParameters(serializers.Serializer[Any]):
    """Which workloads."""

    queue = serializers.RegexField(
        QUEUE, required=False, max_length=limits.QUEUE_PATH, help_text="In this queue or below it."
    )


class PendingWorkloadSerializer(serializers.Serializer[PendingWorkload]):
    """A workload that Kueue has not admitted yet."""

    namespace = serializers.CharField(help_text="Namespace of the workload.")
    name = serializers.CharField(help_text="Name of the workload.")
    owner = serializers.CharField(help_text="Kind and name of the owner; empty if unknown.")
    queue = serializers.CharField(help_text="Path of the queue in the published tree; empty if it has none.")
    priority = serializers.IntegerField(help_text="Priority of the workload.")
    requests = AmountsField(help_text="Sum of the requests of all its pods, by resource.")
    since = UtcField(help_text="Time since which the workload has been pending.")
    message = serializers.CharField(
        source="why", help_text="Message of Kueue; empty if Kueue has not tried the workload yet."
    )


class PendingWorkloadsSerializer(serializers.Serializer[Any]):
    """Pending workloads by priority, then by time."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    pass_started_at = UtcField(
        allow_null=True,
        help_text="Start of the pass that read the workloads; null before the first pass.",
    )
    results = PendingWorkloadSerializer(
        many=True, help_text="Pending workloads by priority and time; at most five hundred per cluster."
    )


class PendingWorkloadViewSet(InCluster):
    """Your workloads that wait for quota of Kueue, with the message of Kueue. None of their pods is scheduled yet."""

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
        body = {"cluster": cluster.name, "pass_started_at": status.pass_at if status else None, "results": list(found)}
        return Response(represent(PendingWorkloadsSerializer, body))

    def retrieve(self, _request: Request, namespace: str, workload: str, **_place: Any) -> Response:
        """One of your workloads that waits for quota of Kueue."""
        found = pending_workload(self.scope, self.named_cluster, namespace, workload)
        if found is None:
            raise Http404
        return Response(represent(PendingWorkloadSerializer, found))
