"""The addresses of the pages of clusters."""

from django.urls import URLPattern, path

from scheduler_admin.clusters.pages import clusters, connect, connection, settings

urlpatterns: list[URLPattern] = [
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/connect/", connect.connecting, name="connect"),
    path("clusters/<slug:name>/connection/", connection.connection, name="connection"),
    path("clusters/<slug:name>/settings/", settings.settings, name="settings"),
]
