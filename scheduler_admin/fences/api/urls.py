"""The addresses of fences in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.fences.api import drawing, fences

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/fences", fences.FencesView.as_view(), name="fences"),
    path("clusters/<slug:name>/fences.svg", drawing.FencesFileView.as_view(), name="fences_file"),
]
