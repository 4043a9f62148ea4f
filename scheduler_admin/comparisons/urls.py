"""The addresses of the pages of comparisons."""

from django.urls import URLPattern, path

from scheduler_admin.comparisons.pages import views

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/compare/", views.compare, name="compare"),
    path("clusters/<slug:name>/compare/<int:pk>/", views.comparison, name="comparison"),
    path("clusters/<slug:name>/compare/<int:pk>/stop/", views.stop, name="comparison_stop"),
    path("clusters/<slug:name>/compare/<int:pk>/plot.json", views.plot, name="comparison_plot"),
    path("clusters/<slug:name>/compare/<int:pk>/figures.csv", views.as_csv, name="comparison_csv"),
    path("clusters/<slug:name>/compare/<int:pk>/figures.json", views.as_json, name="comparison_json"),
]
