"""What the web process tells Prometheus."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from scheduler_admin.core.monitoring.meters import register_counted
from scheduler_admin.metrics.access import allowed
from scheduler_admin.metrics.installation import Installation
from scheduler_admin.metrics.requests import REQUESTS
from scheduler_admin.metrics.stored import Stored

_STORED = CollectorRegistry(auto_describe=False)
_STORED.register(Installation())
_STORED.register(Stored())
_COUNTED = CollectorRegistry(auto_describe=False)
register_counted(_COUNTED, REQUESTS)


def metrics(request: HttpRequest) -> HttpResponse:
    """Return what is stored, which is the same from every web server."""
    return _exposed(request, _STORED)


def request_metrics(request: HttpRequest) -> HttpResponse:
    """Return what the processes of this web server have counted. Each server is to be read at its own address."""
    return _exposed(request, _COUNTED)


@require_safe
@never_cache
def _exposed(request: HttpRequest, registry: CollectorRegistry) -> HttpResponse:
    """Return metrics in the form that was asked for. Without METRICS_TOKEN there is no such address."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not allowed(request.headers.get("Authorization", "")):
        return HttpResponse(status=401, headers={"WWW-Authenticate": 'Bearer realm="metrics"'})
    encode, kind = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=kind)
