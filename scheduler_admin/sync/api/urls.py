"""The addresses of sync in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.sync.api import views as copies

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/copy", copies.CopyView.as_view(), name="copy"),
    path("clusters/<slug:name>/copy/acts", copies.CopyActsView.as_view(), name="copy_acts"),
]
