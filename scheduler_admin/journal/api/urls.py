"""The addresses of journal in the REST API."""

from django.urls import URLPattern, URLResolver, path

from scheduler_admin.journal.api import passes, snapshots
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/passes", passes.PassViewSet, basename="pass")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path("clusters/<slug:name>/snapshots", snapshots.SnapshotsView.as_view(), name="snapshots"),
    path("clusters/<slug:name>/snapshots/upload", snapshots.SnapshotUploadView.as_view(), name="snapshot_upload"),
    path("clusters/<slug:name>/snapshots/<int:pk>", snapshots.SnapshotView.as_view(), name="snapshot"),
    path("clusters/<slug:name>/snapshots/<int:pk>/file", snapshots.SnapshotFileView.as_view(), name="snapshot_file"),
    path(
        "clusters/<slug:name>/snapshots/<int:pk>/forecast",
        snapshots.SnapshotForecastView.as_view(),
        name="snapshot_forecast",
    ),
]
