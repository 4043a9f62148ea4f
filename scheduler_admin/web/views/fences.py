"""Who may preempt whom."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors
from scheduler_admin.web.fences.choice import SINCE
from scheduler_admin.web.fences.page import fences_page
from scheduler_admin.web.fences.standalone import STANDALONE_POLICY, sheet, style
from scheduler_admin.web.live import Context, answer


@require_safe
@login_required
def fences(request: HttpRequest, name: str) -> HttpResponse:
    """The tree as a map of fences, seen from one queue, with what happened."""
    cluster = selectors.get(request.user, name)

    def build() -> Context:
        status = selectors.status_of(cluster)
        return {
            "shown": fences_page(request.user, cluster, request.GET, timezone.now()),
            "ranges": SINCE,
            "fresh": selectors.freshness(status, timezone.now()),
        }

    return answer(request, "fences", build, cluster, cluster=cluster)


@require_safe
@login_required
def as_svg(request: HttpRequest, name: str) -> HttpResponse:
    """The same map as a file that needs nothing else. Raises Http404 where there is no tree to draw."""
    cluster = selectors.get(request.user, name)
    now = timezone.now()
    shown = fences_page(request.user, cluster, request.GET, now)
    if shown.picture is None:
        raise Http404
    given = {"cluster": cluster, "shown": shown, "sheet": sheet(shown.picture, shown.key, now), "style": style()}
    response = render(request, "web/fences.svg", given, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{cluster.name}-fences.svg"'
    response["Content-Security-Policy"] = STANDALONE_POLICY
    response["Cache-Control"] = "private, no-store"
    return response
