"""What the web process tells Prometheus."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from scheduler_admin.metrics.access import allowed
from scheduler_admin.metrics.stored import Stored

_REGISTRY = CollectorRegistry(auto_describe=False)
_REGISTRY.register(Stored())


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """What is stored, in the form that was asked for. Without METRICS_TOKEN there is no such address."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not allowed(request.headers.get("Authorization", "")):
        return HttpResponse(status=401, headers={"WWW-Authenticate": 'Bearer realm="metrics"'})
    encode, kind = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(_REGISTRY), content_type=kind)
