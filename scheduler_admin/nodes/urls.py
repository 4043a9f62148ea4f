"""The addresses of the pages of nodes."""

from django.urls import URLPattern, path

from scheduler_admin.nodes.pages import views as nodes

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/nodes/", nodes.nodes, name="nodes"),
    path("clusters/<slug:name>/nodes/<str:node>/", nodes.node, name="node"),
    path("clusters/<slug:name>/application/", nodes.application, name="application"),
]
