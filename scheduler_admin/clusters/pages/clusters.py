"""All clusters."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.pages.clusters_context import overviews
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def clusters(request: HttpRequest) -> HttpResponse:
    """Is everything all right? Whole clusters are nothing for tenants."""
    if not scope_of(request.user, "view").everything:
        raise Http404
    found = selectors.every(request.user)

    def build() -> Context:
        return {"overviews": overviews(request.user, found, timezone.now())}

    may_connect = scope_of(request.user, "connect").everything
    return answer(request, "clusters/clusters.html", build, *found, may_connect=may_connect)
