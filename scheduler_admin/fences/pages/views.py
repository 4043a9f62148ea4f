"""Who may preempt whom."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors
from scheduler_admin.fences.address import SINCE_TEXTS
from scheduler_admin.fences.presenters.file import MEDIA_TYPE, headers, svg
from scheduler_admin.fences.presenters.map import fences_page
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def fences(request: HttpRequest, name: str) -> HttpResponse:
    """The tree as a map of fences, seen from one queue, with what happened."""
    cluster = selectors.get(request.user, name)

    def build() -> Context:
        status = selectors.status_of(cluster)
        return {
            "shown": fences_page(request.user, cluster, request.GET, timezone.now()),
            "ranges": SINCE_TEXTS.items(),
            "fresh": selectors.freshness(status, timezone.now()),
        }

    return answer(request, "fences/fences.html", build, cluster, cluster=cluster)


@require_safe
@login_required
def as_svg(request: HttpRequest, name: str) -> HttpResponse:
    """The same map as a file that needs nothing else. Raises Http404 where there is no tree to draw."""
    cluster = selectors.get(request.user, name)
    drawn = svg(request.user, cluster, request.GET, timezone.now())
    return HttpResponse(drawn, content_type=MEDIA_TYPE, headers=headers(cluster))
