"""The addresses of pending in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.pending.api import pending_pods, reasons, workloads

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/pending-pods", pending_pods.PendingPodsView.as_view(), name="pending_pods"),
    path(
        "clusters/<slug:name>/pending-workloads",
        workloads.PendingWorkloadViewSet.as_view({"get": "list"}),
        name="pending-workload-list",
    ),
    path(
        "clusters/<slug:name>/pending-workloads/<str:namespace>/<str:workload>",
        workloads.PendingWorkloadViewSet.as_view({"get": "retrieve"}),
        name="pending-workload-detail",
    ),
    path(
        "clusters/<slug:name>/pending-workloads/<str:namespace>/<str:workload>/pending-reasons",
        reasons.WorkloadPendingReasonsView.as_view(),
        name="workload_pending_reasons",
    ),
    path("decisions/<int:pk>/pending-reasons", reasons.PendingReasonsView.as_view(), name="pending_reasons"),
]
