"""One decision: why?"""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.history import selectors
from scheduler_admin.web.decision_page import decision_page
from scheduler_admin.web.live import Context, answer
from scheduler_admin.web.views.history import seen_whole


@require_safe
@login_required
def decision(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Why these pods, or why none; tenants have a page of each of their pods instead."""
    cluster = seen_whole(request.user, name)
    detail = selectors.detail(request.user, cluster, pk)

    def build() -> Context:
        return {
            "why": decision_page(detail),
            "fresh": clusters.freshness(clusters.status_of(cluster), timezone.now()),
        }

    return answer(request, "decision", build, cluster, cluster=cluster, number=pk)
