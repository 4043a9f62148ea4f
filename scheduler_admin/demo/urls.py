"""The addresses of the pages of demo."""

from django.urls import URLPattern, path

from scheduler_admin.demo.pages import views as demo

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/demo/surge/", demo.surge, name="demo_surge"),
    path("clusters/<slug:name>/demo/speed/", demo.speed, name="demo_speed"),
    path("clusters/<slug:name>/demo/reset/", demo.reset, name="demo_reset"),
]
