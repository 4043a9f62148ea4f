"""The addresses of the pages of fences."""

from django.urls import URLPattern, path

from scheduler_admin.fences.pages import views as fences

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/fences/", fences.fences, name="fences"),
    path("clusters/<slug:name>/fences.svg", fences.as_svg, name="fences_svg"),
]
