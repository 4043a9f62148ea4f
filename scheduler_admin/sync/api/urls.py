"""The addresses of sync in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.sync.api import views

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/configuration", views.ConfigurationView.as_view(), name="configuration"),
    path(
        "clusters/<slug:name>/configuration/actions",
        views.ConfigurationActionsView.as_view(),
        name="configuration_actions",
    ),
]
