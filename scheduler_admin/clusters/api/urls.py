"""The addresses of clusters in the REST API."""

from django.urls import URLPattern, URLResolver, path

from scheduler_admin.clusters.api import clusters, connections, pauses, quota, settings, windows
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters", clusters.ClusterViewSet, basename="cluster")
ROWS.register("pauses", pauses.PauseViewSet, basename="pause")
ROWS.register("windows", windows.WindowViewSet, basename="window")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path("clusters/<slug:name>/check", connections.CheckView.as_view(), name="check"),
    path("clusters/<slug:name>/credentials", connections.CredentialsView.as_view(), name="credentials"),
    path("clusters/<slug:name>/quota", quota.QuotaView.as_view(), name="quota"),
    path("clusters/<slug:name>/settings", settings.ClusterSettingsView.as_view(), name="settings"),
]
