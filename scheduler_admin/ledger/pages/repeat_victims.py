"""Who is hit again and again in a cluster, and in which loops."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.ledger.loops import looped
from scheduler_admin.ledger.presenters import repeat_lines
from scheduler_admin.ledger.repeat_victims import repeats as found
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def repeats(request: HttpRequest, name: str) -> HttpResponse:
    """The applications that were preempted three times or more in the last 24 hours, and the loops there were."""
    cluster = seen_whole(request.user, name)

    def build() -> Context:
        now = timezone.now()
        fresh = clusters.freshness(clusters.status_of(cluster), now)
        lines = repeat_lines(found(request.user, cluster, now))
        return {"lines": lines, "loops": looped(request.user, cluster, now), "fresh": fresh}

    return answer(request, "ledger/repeats.html", build, cluster, cluster=cluster)
