"""The addresses of pending in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.pending.api import asks, reasons, workloads

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/asks", asks.AsksView.as_view(), name="asks"),
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
        "clusters/<slug:name>/pending-workloads/<str:namespace>/<str:workload>/waiting",
        reasons.WorkloadWaitingView.as_view(),
        name="workload_waiting",
    ),
    path("decisions/<int:pk>/waiting", reasons.WaitingView.as_view(), name="waiting"),
]
