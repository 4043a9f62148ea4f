"""The addresses of nodes in the REST API."""

from django.urls import URLPattern, path, re_path

from scheduler_admin.nodes.api import views as nodes

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/nodes", nodes.NodesView.as_view(), name="nodes"),
    re_path(r"^clusters/(?P<name>[-\w]+)/nodes/(?P<node>[^/\s\x00]+)\Z", nodes.NodeView.as_view(), name="node"),
    path("clusters/<slug:name>/pods", nodes.ListedPodsView.as_view(), name="application_pods"),
]
