"""The addresses of nodes in the REST API."""

from django.urls import URLPattern, URLResolver, path

from scheduler_admin.nodes.api import views as nodes
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/nodes", nodes.NodeViewSet, basename="node")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path("clusters/<slug:name>/pods", nodes.ApplicationPodsView.as_view(), name="application_pods"),
]
