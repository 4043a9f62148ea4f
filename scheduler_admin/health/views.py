"""`/livez`, `/readyz` and `/version`, which need no login and tell nothing secret."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from scheduler_admin.core.monitoring.release import version
from scheduler_admin.core.outages import RETRY_S
from scheduler_admin.health.checks import CHECKS, OK


@require_safe
@never_cache
def livez(request: HttpRequest) -> HttpResponse:
    """Respond. A database that is away is no reason to restart this process."""
    del request
    return JsonResponse({"status": OK})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Respond with each check, and with 503 if one fails. ``?exclude=broker`` leaves a check out, as in Kubernetes."""
    excluded = request.GET.getlist("exclude")
    results = {name: check() for name, check in CHECKS.items() if name not in excluded}
    if all(result == OK for result in results.values()):
        return JsonResponse({"status": OK, "checks": results})
    return JsonResponse(
        {"status": "not ready", "checks": results},
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        headers={"Retry-After": str(RETRY_S)},
    )


@require_safe
@never_cache
def show_version(request: HttpRequest) -> HttpResponse:
    """Respond with the product's version, and with the revision of its sources, null if the build named none."""
    del request
    return JsonResponse({"version": version(), "revision": settings.REVISION or None})
