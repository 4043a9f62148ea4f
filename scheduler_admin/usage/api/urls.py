"""The addresses of usage in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.usage.api import views as usage_view

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/usage", usage_view.UsageView.as_view(), name="usage"),
]
