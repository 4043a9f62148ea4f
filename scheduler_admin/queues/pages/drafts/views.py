"""The drafts of a cluster's tree, and one of them as it is edited."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.unstarted import is_unstarted
from scheduler_admin.queues.models import Draft, Hierarchy
from scheduler_admin.queues.pages.drafts.draft_list import DraftLine, draft_lines, rivals
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.draft_context import DraftPage, draft_page
from scheduler_admin.queues.pages.editor.updates import news
from scheduler_admin.queues.presenters.forecasts import Orphaned, forecast_context

_FORETOLD = ("forecast", "publish", "bar")
"""The parts of a draft's page that say what publishing it would do."""


@require_safe
@login_required
def editor(request: HttpRequest, name: str) -> HttpResponse:
    """The tree in force, in which the first change starts a draft, and the open drafts."""
    cluster = edited(request.user, name)
    if cluster.hierarchy is None or cluster.hierarchy.current is None:
        context = {"cluster": cluster, "may_import": may_import(request.user, cluster)}
        return render(request, "queues/editor.html", context)
    found = selectors.find(request.user, cluster.hierarchy, -cluster.hierarchy.current.number)
    lines = draft_lines(request.user, selectors.drafts_of(request.user, cluster.hierarchy))
    return whole_page(request, draft_page(request.user, cluster, found, Shown.read(request.GET)), lines=lines)


def edited(user: Who, name: str) -> Cluster:
    """A cluster whose tree the user sees as a whole, or may change a part of. Raises Http404 for others."""
    cluster = clusters.get(user, name)
    if not scope_of(user, "view").everything and not _may_edit(user, cluster):
        raise Http404
    return cluster


def _may_edit(user: Who, cluster: Cluster) -> bool:
    scope = scope_of(user, "edit")
    rows = Hierarchy.objects.restrict(user, "edit").filter(clusters=cluster)
    return scope.everything or (bool(scope.subtrees) and rows.exists())


def may_import(user: Who, cluster: Cluster) -> bool:
    """Whether there is a tree that the user may change as a whole."""
    return cluster.hierarchy is not None and scope_of(user, "edit").everything


@require_safe
@login_required
def draft(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """What if I change this?"""
    cluster, found = find(request, name, pk)
    return whole_page(request, draft_page(request.user, cluster, found, Shown.read(request.GET)))


def find(request: HttpRequest, name: str, pk: int) -> tuple[Cluster, Draft]:
    """A draft of a cluster's hierarchy that the user may see. Raises Http404 for others."""
    cluster = edited(request.user, name)
    return cluster, selectors.find(request.user, cluster.hierarchy, pk)


def editable(request: HttpRequest, name: str) -> tuple[Cluster, User]:
    """The cluster and who edits its tree, or a part of it.

    Raises Http404 for strangers, PermissionDenied for those who only read.
    """
    cluster = edited(request.user, name)
    if not _may_edit(request.user, cluster):
        raise PermissionDenied
    assert isinstance(request.user, User)
    return cluster, request.user


def find_editable(actor: User, cluster: Cluster, pk: int) -> Draft:
    """A draft to be changed. Raises Http404 for strangers, PermissionDenied for those who only read it."""
    found = selectors.find(actor, cluster.hierarchy, pk, whole=False)  # the act reads it anew, and locks it
    if not selectors.may_edit(actor, found):
        raise PermissionDenied
    return found


def find_stored(actor: User, cluster: Cluster, pk: int) -> Draft:
    """A draft to be put in force or ended. Raises as ``find_editable``, and Http404 where nobody changed it yet."""
    found = find_editable(actor, cluster, pk)
    if is_unstarted(found):
        raise Http404
    return found


def whole_page(
    request: HttpRequest,
    page: DraftPage,
    status: int = 200,
    orphans: Orphaned | None = None,
    lines: Sequence[DraftLine] = (),
) -> HttpResponse:
    """The page of a draft; with pods that would belong to no queue, for which it was not published.

    ``lines``: the open drafts, which the editor's first page lists.
    """
    context: dict[str, Any] = {"view": page, "cluster": page.cluster, "orphans": orphans, "lines": lines}
    if not page.unstarted:
        context["rivals"] = rivals(request.user, page.draft)
    if "forecast" in request.GET:  # asked for by those whose browser does not load it
        context |= _forecast(page)
    response = render(request, "queues/draft.html", context, status=status)
    response["Cache-Control"] = "private, no-store"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def draft_news(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """GET: whether there is any. POST, which changes nothing: what differs from what the reader says to have."""
    cluster, found = find(request, name, pk)
    if request.method == "POST":
        return news(request, draft_page(request.user, cluster, found, Shown.read(request.GET)))
    response: HttpResponse
    if request.headers.get("If-None-Match") == selectors.tag(found):
        response = HttpResponseNotModified()
    else:
        response = JsonResponse({"version": found.version})
    response["ETag"] = selectors.tag(found)
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
@login_required
def draft_forecast(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """What it would preempt now, and how the button that publishes it says so."""
    cluster, found = find(request, name, pk)
    page = draft_page(request.user, cluster, found, Shown.read(request.GET))
    context = {"view": page, "cluster": cluster, **_forecast(page)}
    parts = {part: render_to_string(f"queues/_draft_{part}.html", context, request) for part in _FORETOLD}
    response = JsonResponse({"tag": page.tag, "parts": parts})
    response["Cache-Control"] = "private, no-store"
    return response


def _forecast(page: DraftPage) -> dict[str, Any]:
    """``prospect`` is None where the cluster was not read yet, or it is not known of what tree, or by which policy."""
    if not page.foretellable or page.state.tree is None:
        return {"told": True, "prospect": None}
    return forecast_context(page.cluster, page.state.tree, page.state.terms, page.sees)
