"""The nodes of a cluster, one of them, and the pods of an application."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.nodes.pages.context import application_page, node_page, nodes_page
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def nodes(request: HttpRequest, name: str) -> HttpResponse:
    """What each node has, and what is used of it."""
    cluster = seen_whole(request.user, name)

    def build() -> Context:
        return {**nodes_page(request.user, cluster, request.GET), "fresh": _fresh(cluster)}

    return answer(request, "nodes/nodes.html", build, cluster, cluster=cluster)


@require_safe
@login_required
def node(request: HttpRequest, name: str, node: str) -> HttpResponse:
    """Which pods run on it?"""
    cluster = seen_whole(request.user, name)

    def build() -> Context:
        return {**node_page(request.user, cluster, node, request.GET), "fresh": _fresh(cluster)}

    return answer(request, "nodes/node.html", build, cluster, cluster=cluster)


@require_safe
@login_required
def application(request: HttpRequest, name: str) -> HttpResponse:
    """Where are its pods? Raises Http404 where none is named."""
    cluster = selectors.get(request.user, name)
    if any(not request.GET.get(word, "").strip() for word in ("namespace", "application")):
        raise Http404

    def build() -> Context:
        return {**application_page(request.user, cluster, request.GET), "fresh": _fresh(cluster)}

    return answer(request, "nodes/application.html", build, cluster, cluster=cluster)


def _fresh(cluster: Cluster) -> selectors.Freshness:
    return selectors.freshness(selectors.status_of(cluster), timezone.now())
