"""The addresses of comparisons in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.comparisons.api import views as comparisons

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/comparisons", comparisons.ComparisonsView.as_view(), name="comparisons"),
    path("clusters/<slug:name>/comparisons/<int:pk>", comparisons.ComparisonView.as_view(), name="comparison"),
    path(
        "clusters/<slug:name>/comparisons/<int:pk>/stop",
        comparisons.ComparisonStopView.as_view(),
        name="comparison_stop",
    ),
]
