"""How long the web server takes for requests, counted in its memory."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Histogram

REGISTRY = CollectorRegistry()
_SECONDS = (0.05, 0.15, 0.5, 1.5, 5)
"""Few, because there is a series for each of them, for each route."""
REQUESTS = Histogram(
    "scheduler_admin_http_request_duration_seconds",
    "Time until a response begins, by method, route and class of the status code.",
    ["method", "route", "status"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


def timed(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that measures each request, also those that another middleware answers."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        route = request.resolver_match.route if request.resolver_match else ""
        method = request.method if request.method in _METHODS else "other"  # anybody may invent some
        labels = (method, route, f"{response.status_code // 100}xx")
        REQUESTS.labels(*labels).observe(time.perf_counter() - began)
        return response

    return middleware
