"""The addresses of the pages of sync."""

from django.urls import URLPattern, path

from scheduler_admin.sync.pages import views as pages

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/copy/", pages.copies, name="copies"),
]
