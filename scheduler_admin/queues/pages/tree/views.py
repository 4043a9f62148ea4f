"""The tree of queues, and one queue."""

from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.words import span as lasting
from scheduler_admin.decisions import exports
from scheduler_admin.demo.simulator_client import SPEEDS, offered
from scheduler_admin.queues.pages.tree.queue_context import figure, queue_page, usage_shown
from scheduler_admin.queues.pages.tree.tree_context import tree_page
from scheduler_admin.queues.pages.tree.tree_updates import drawn
from scheduler_admin.queues.presenters.queue_export import QUEUE_COLUMNS, queue_facts
from scheduler_admin.queues.presenters.standing import stand
from scheduler_admin.queues.selectors.queues import tree_with, visible
from scheduler_admin.queues.selectors.tree_filters import Sift
from scheduler_admin.site.live import Context, answer, etag
from scheduler_admin.usage import selectors as usage_selectors
from scheduler_admin.usage.pages.context import MARKS, Span
from scheduler_admin.usage.samples import slot


@require_safe
@login_required
def tree(request: HttpRequest, name: str) -> HttpResponse:
    """Who uses what, against what was promised."""
    cluster = selectors.get(request.user, name)
    sift = Sift.read(request.GET)

    def build() -> Context:
        status = selectors.status_of(cluster)
        page = tree_page(request.user, cluster, sift, request.GET)
        context = {
            "cluster": cluster,
            "tree": page,
            "by_shares": page.lead.shared,
            "fresh": selectors.freshness(status, timezone.now()),
            "speeds": SPEEDS if offered(request.user, cluster) else None,
        }
        return {**context, **drawn(request, cluster.name, context)}

    return answer(request, "queues/queues.html", build, cluster, cluster=cluster)


@require_safe
@login_required
def as_csv(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Every queue that one may see, with its amounts and its share, as CSV."""
    cluster = selectors.get(request.user, name)
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    there, status = selectors.present(cluster), selectors.status_of(cluster)
    tree = tree_with(revision, there) if revision else None
    standings = (
        stand(one, status, tree, dialect=revision.dialect)
        for one in visible(request.user, revision, there)
        if revision and tree
    )
    lines = exports.csv_lines(QUEUE_COLUMNS, queue_facts(cluster.name, standings))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="queues-{cluster.name}.csv"'
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
@login_required
def queue(request: HttpRequest, name: str, path: str) -> HttpResponse:
    """How did it come to this?"""
    cluster = selectors.get(request.user, name)

    def build() -> Context:
        span = _span(request, cluster, path)
        status = selectors.status_of(cluster)
        page = queue_page(request.user, cluster, path, span)
        fresh = selectors.freshness(status, span.now)
        return {
            "shown": page,
            "by_shares": page.shares,
            "span": span,
            "fresh": fresh,
            "most_marks": MARKS,
            "step": lasting(page.series.step_s),
            "table_open": "table" in request.GET,
        }

    return answer(request, "queues/queue.html", build, cluster, cluster=cluster)


@require_safe
@login_required
def usage(request: HttpRequest, name: str, path: str) -> HttpResponse:
    """The figure of a queue's usage over time; 304 while there is no news, and the time shown has not moved on."""
    cluster = selectors.get(request.user, name)
    span = _span(request, cluster, path)
    tag = etag(request, cluster, at=slot(span.until))
    response: HttpResponse
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponseNotModified()
    else:
        response = JsonResponse(figure(request.user, cluster, path, span))
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Cookie", "Accept-Language"])
    return response


@require_safe
@login_required
def usage_table(request: HttpRequest, name: str, path: str) -> HttpResponse:
    """The table beside the figure, once somebody opens it: it has hundreds of rows, and few readers look at them."""
    cluster = selectors.get(request.user, name)
    series = usage_shown(request.user, cluster, path, _span(request, cluster, path))
    response = render(request, "queues/_queue_table.html", {"series": series})
    response["Cache-Control"] = "private, no-store"
    return response


def _span(request: HttpRequest, cluster: Cluster, path: str) -> Span:
    """Which time the address asks for."""
    oldest = partial(usage_selectors.oldest, request.user, cluster.pk, path)
    return Span.read(request.GET.dict(), timezone.now(), oldest)
