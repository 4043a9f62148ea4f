"""The addresses of the pages of journal."""

from django.urls import URLPattern, path

from scheduler_admin.journal.pages import snapshots

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/snapshots/", snapshots.snapshots, name="snapshots"),
    path("clusters/<slug:name>/snapshots/<int:pk>/", snapshots.snapshot, name="snapshot"),
    path("clusters/<slug:name>/snapshots/<int:pk>/forecast/", snapshots.snapshot_forecast, name="snapshot_forecast"),
    path("clusters/<slug:name>/snapshots/<int:pk>/snapshot.zip", snapshots.snapshot_file, name="snapshot_file"),
    path("clusters/<slug:name>/snapshots/<int:pk>/delete/", snapshots.snapshot_delete, name="snapshot_delete"),
]
