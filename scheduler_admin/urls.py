"""Every address: pages at the root, the REST API under /api/v1, metrics for Prometheus, and probes."""

from django.conf import settings
from django.urls import include, path

from scheduler_admin.health.views import livez, readyz, show_version
from scheduler_admin.metrics.views import metrics, request_metrics

handler500 = "scheduler_admin.site.pages.errors.failed"
urlpatterns = [
    path("api/v1/", include("scheduler_admin.rest.urls")),
    path("metrics", metrics, name="metrics"),
    path("metrics/requests", request_metrics, name="request_metrics"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("version", show_version, name="version"),
    path("", include("scheduler_admin.site.urls")),
]
if settings.ADMIN_SITE:
    from django.contrib import admin

    urlpatterns.insert(0, path("admin/", admin.site.urls))
