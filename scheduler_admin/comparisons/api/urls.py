"""The addresses of comparisons in the REST API."""

from django.urls import URLPattern, URLResolver

from scheduler_admin.comparisons.api import views as comparisons
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/comparisons", comparisons.ComparisonViewSet, basename="comparison")
urlpatterns: list[URLPattern | URLResolver] = ROWS.urls
