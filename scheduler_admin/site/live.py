"""Pages that refresh themselves: a whole page at first, then its changing part, or 304 where nothing changed."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import freshness, status_of
from scheduler_admin.core.entity_tags import entity_tag

Context = dict[str, Any]


def etag(request: HttpRequest, *clusters: Cluster, at: datetime | None = None, decided: bool = False) -> str:
    """Differs whenever the page would: its address, who asks in which language, and what each cluster's news says.

    With several clusters every pass is news: the page shows when each had its last one. ``at``: what else it is of.
    ``decided``: the page shows decisions and nothing that moves all the time.
    """
    now = timezone.now()
    parts: list[object] = [request.get_full_path(), request.user.pk, get_language(), at]
    for cluster in clusters:
        status = status_of(cluster)
        fresh = freshness(status, now)
        parts += [
            cluster.pk,
            cluster.mode,
            cluster.hierarchy and cluster.hierarchy.current_id,
            status and (status.decided if decided else status.news),
            fresh.state,
            fresh.error,
            len(clusters) > 1 and status and status.pass_at,
        ]
    return f"W/{entity_tag(repr(parts))}"  # weak, as it comes back so if the answer was compressed on its way


def answer(
    request: HttpRequest,
    template: str,
    build: Callable[[], Context],
    *clusters: Cluster,
    decided: bool = False,
    **shell: Any,
) -> HttpResponse:
    """Return a whole page for a person, its changing blocks for its own refresh, and nothing where nothing changed.

    ``template`` extends ``layout``: "site/live.html" for a whole page, "site/fragment.html" for a refresh.

    ``build`` reads what the page shows; it is not called for an answer of 304. Its ``headers`` go with a refresh.
    ``decided`` as of ``etag``.
    """
    tag = etag(request, *clusters, decided=decided)
    fragment = request.headers.get("HX-Request") == "true"
    response: HttpResponse
    if fragment and request.headers.get("If-None-Match") == tag:
        response = HttpResponseNotModified()
    else:
        layout = "site/fragment.html" if fragment else "site/live.html"
        built = build()
        context = {**shell, **built, "layout": layout, "oob": fragment, "etag": tag}
        response = render(request, template, context)
        if fragment:
            for header, value in built.get("headers", {}).items():
                response[header] = value
    if fragment:
        response["ETag"] = tag
        _say_when(response, *clusters)
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["HX-Request", "Cookie", "Accept-Language"])
    return response


def _say_when(response: HttpResponse, *clusters: Cluster) -> None:
    """Times that move on although nothing else does; an answer of 304 carries them too."""
    status = status_of(clusters[0]) if len(clusters) == 1 else None
    if status and status.read_at:
        response["X-Read-At"] = status.read_at.isoformat()
    if status and status.pass_at:
        response["X-Pass-At"] = status.pass_at.isoformat()
