"""The addresses of journal in the REST API."""

from django.urls import URLPattern, URLResolver

from scheduler_admin.journal.api import passes, snapshots
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/passes", passes.PassViewSet, basename="pass")
ROWS.register("clusters/<slug:name>/snapshots", snapshots.SnapshotViewSet, basename="snapshot")
urlpatterns: list[URLPattern | URLResolver] = ROWS.urls
