"""Comparisons of a cluster: begin one, follow it, stop it, read what it found."""

from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons import selectors, services
from scheduler_admin.comparisons.columns import side_name
from scheduler_admin.comparisons.forms import CompareForm
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.pages.comparison_context import CSV_COLUMNS, facts, found, when
from scheduler_admin.comparisons.pages.plots import PLOTS, course_figure, plot_name
from scheduler_admin.comparisons.summary import summary
from scheduler_admin.decisions import exports
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.journal.selectors.journal import recorded_since


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def compare(request: HttpRequest, name: str) -> HttpResponse:
    """Which policy suits us? The form, and what was compared so far."""
    cluster = seen_whole(request.user, name)
    if request.method == "POST":
        return _begin(request, cluster)
    return _form(request, cluster, CompareForm.first(request.GET.dict(), request.user, cluster))


def _begin(request: HttpRequest, cluster: Cluster) -> HttpResponse:
    assert isinstance(request.user, User)
    form = CompareForm(request.POST, user=request.user, cluster=cluster)
    if not form.is_valid():
        return _form(request, cluster, form, status=422)
    given = form.cleaned_data
    try:
        made = services.start(
            cluster=cluster,
            author=request.user,
            since=given["since"],
            until=given["until"],
            sides=form.sides,
            snapshot=given["snapshot"],
        )
    except ValidationError as error:
        form.refuse(error)
        return _form(request, cluster, form, status=422)
    return redirect("web:comparison", cluster.name, made.pk)


def _form(request: HttpRequest, cluster: Cluster, form: CompareForm, status: int = 200) -> HttpResponse:
    rows = selectors.comparisons_of(request.user, cluster)
    context = {
        "cluster": cluster,
        "lines": [(row, [side_name(side) for side in row.sides]) for row in rows],
        "first": recorded_since(cluster),
        "form": form,
    }
    return render(request, "comparisons/compare.html", context, status=status)


@require_safe
@login_required
def comparison(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """One comparison: how far it is, or what it found."""
    cluster, one = _find(request, name, pk)
    tag = f'"{one.pk}-{one.state}-{one.done}-{get_language()}"'
    fragment = request.headers.get("HX-Request") == "true"
    if fragment and request.headers.get("If-None-Match") == tag:
        response: HttpResponse = HttpResponseNotModified()
    elif fragment and not one.open:
        response = HttpResponse(headers={"HX-Refresh": "true"})  # tables and plots come with the whole page
    else:
        shown = "comparisons/_comparison.html" if fragment else "comparisons/comparison.html"
        response = render(request, shown, _told(request, cluster, one) | {"etag": tag})
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response


def _find(request: HttpRequest, name: str, pk: int) -> tuple[Cluster, Comparison]:
    cluster = seen_whole(request.user, name)
    return cluster, selectors.find(request.user, cluster, pk)


def _told(request: HttpRequest, cluster: Cluster, one: Comparison) -> dict[str, object]:
    return {
        "cluster": cluster,
        "one": one,
        "sides": [side_name(side) for side in one.sides],
        "found": found(one, request.GET),
        "summary": summary(one),
        "when": when(one),
        "may_stop": selectors.may_stop(request.user, one),
        "percent": 100 * one.done // one.steps if one.steps else 0,
        "plot": _shown(request),
        "plots": [(each, plot_name(each)) for each in PLOTS],
    }


@require_POST
@login_required
def stop(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """It ends; nothing of it is kept."""
    cluster, one = _find(request, name, pk)
    if not selectors.may_stop(request.user, one):
        raise PermissionDenied
    assert isinstance(request.user, User)
    if not services.stop(comparison=one, actor=request.user):
        messages.info(request, _("The comparison had already ended."))
    return redirect("web:comparison", cluster.name, one.pk)


@require_safe
@login_required
def plot(request: HttpRequest, name: str, pk: int) -> JsonResponse:
    """A plot of the course."""
    _cluster, one = _find(request, name, pk)
    return JsonResponse(course_figure(one, _shown(request)))


def _shown(request: HttpRequest) -> str:
    """Which plot is asked for; the first where there is no such one."""
    asked = request.GET.get("plot", "")
    return asked if asked in PLOTS else PLOTS[0]


@require_safe
@login_required
def as_csv(request: HttpRequest, name: str, pk: int) -> StreamingHttpResponse:
    """Every figure of every side, one a line."""
    _cluster, one = _find(request, name, pk)
    return _export(one, exports.csv_lines(CSV_COLUMNS, facts(one)), "text/csv; charset=utf-8", "csv")


@require_safe
@login_required
def as_json(request: HttpRequest, name: str, pk: int) -> StreamingHttpResponse:
    """The same as JSON."""
    _cluster, one = _find(request, name, pk)
    return _export(one, exports.json_lines(facts(one)), "application/json", "json")


def _export(one: Comparison, lines: Iterator[str], content_type: str, ending: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="comparison-{one.pk}.{ending}"'
    response["Cache-Control"] = "private, no-store"
    return response
