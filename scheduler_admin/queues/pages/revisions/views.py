"""Published trees: the list, what one changed against another, downloads, and the way back."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from engine.formats.registry import Format
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.scopes import EVERYTHING, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.numbers import read_number, read_time
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.queues.forms import BackForm, RestoreForm
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.drafts.views import editable, may_import
from scheduler_admin.queues.pages.revisions.export_context import exports
from scheduler_admin.queues.pages.revisions.revision_context import revision_lines, revision_view
from scheduler_admin.queues.presenters.forecasts import ORPHANING, forecast_context, orphaned
from scheduler_admin.queues.selectors import revisions as selectors
from scheduler_admin.queues.services.hierarchies import OrphansError, OutdatedError, roll_back, rolled_back, terms_of
from scheduler_admin.queues.services.restore import restore


def _find(request: HttpRequest, name: str, number: int) -> tuple[Cluster, Revision]:
    cluster = seen_whole(request.user, name)
    return cluster, selectors.find_revision(request.user, cluster.hierarchy, number)


@require_safe
@login_required
def revisions(request: HttpRequest, name: str) -> HttpResponse:
    """Who changed what, when, why? With ``at``, a time: to the one that was in force then."""
    cluster = seen_whole(request.user, name)
    typed, problem = request.GET.get("at", "").strip(), ""
    if typed:
        try:
            then = selectors.in_force_at(cluster.hierarchy, read_time(typed))
        except ValidationError as error:
            then, problem = None, error.messages[0]
        if then is not None:
            return redirect("web:revision", cluster.name, then.number)
        problem = problem or _("There was no revision at that time.")
    page = selectors.revisions_of(request.user, cluster.hierarchy, read_number(request.GET.get("before", "")) or None)
    last = selectors.former(request.user, page.revisions[-1]) if page.revisions else None
    lines = revision_lines(cluster.hierarchy, page, last) if cluster.hierarchy else []
    context = {
        "cluster": cluster,
        "lines": lines,
        "older": page.older,
        "may_import": may_import(request.user, cluster),
        "typed": typed,
        "problem": problem,
    }
    return render(request, "queues/revisions.html", context)


@require_safe
@login_required
def revision(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """What one revision changed, and what it says."""
    cluster, found = _find(request, name, number)
    return _page(request, cluster, found)


def _page(request: HttpRequest, cluster: Cluster, found: Revision, status: int = 200, **refused: Any) -> HttpResponse:
    """``refused`` tells of a form that was turned away."""
    other = read_number(request.GET.get("against", ""))
    if other:
        against: Revision | None = selectors.find_revision(request.user, cluster.hierarchy, other)
    else:
        against = selectors.former(request.user, found)
    view = revision_view(request.user, found, against, request.GET)
    context: dict[str, Any] = {"cluster": cluster, "view": view, "back": BackForm(), **refused}
    if context["back"].errors:
        context["back"].fields["reason"].widget.attrs["autofocus"] = True
    if "forecast" in request.GET:  # asked for by those whose browser does not load it
        context |= forecast_context(cluster, rolled_back(found), terms_of(found), EVERYTHING)
    return render(request, "queues/revision.html", context, status=status)


@require_safe
@login_required
def revision_forecast(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """What going back to it would preempt now."""
    cluster, found = _find(request, name, number)
    context = {"cluster": cluster, **forecast_context(cluster, rolled_back(found), terms_of(found), EVERYTHING)}
    names = {"prospect": "pending/_prospect.html", "orphans-allowed": "queues/_orphans_allowed.html"}
    parts = {part: render_to_string(template, context, request) for part, template in names.items()}
    response = JsonResponse({"parts": parts})
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
@login_required
def as_json(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """The tree in canonical JSON, to the byte as it is kept."""
    cluster, found = _find(request, name, number)
    return _download(found.document, "application/json", f"{cluster.name}-revision-{number}.json")


@require_safe
@login_required
def as_yaml(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """The tree as YuniKorn's queues.yaml, merged into the document that it came from."""
    cluster, found = _find(request, name, number)
    text = selectors.written(found, Format.YUNIKORN).text
    return _download(text, "application/yaml", f"{cluster.name}-revision-{number}-queues.yaml")


@require_safe
@login_required
def export(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Every format that a revision can be had in, and what it can't say of it."""
    cluster, found = _find(request, name, number)
    formats = exports(found, request.GET.get("check", ""))
    return render(request, "queues/export.html", {"cluster": cluster, "revision": found, "exports": formats})


@require_safe
@login_required
def exported(request: HttpRequest, name: str, number: int, form: str) -> HttpResponse:
    """The revision as a document of a format."""
    cluster, found = _find(request, name, number)
    if form not in list(Format):
        raise Http404
    text = selectors.written(found, Format(form)).text
    return _download(text, "application/yaml", f"{cluster.name}-revision-{number}-{form}.yaml")


def _download(text: str, content_type: str, file: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    response["Cache-Control"] = "private, no-store"
    return response


@require_POST
@login_required
def revision_back(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put a former revision in force again, onto the one that was seen in force."""
    seen_whole(request.user, name)
    cluster, actor = editable(request, name)
    if not scope_of(actor, "edit").everything:
        raise PermissionDenied
    found = selectors.find_revision(actor, cluster.hierarchy, number)
    form = BackForm(request.POST)
    if not form.is_valid():
        return _page(request, cluster, found, 422, back=form)
    given = form.cleaned_data
    if not given["onto"]:
        raise Http404
    try:
        made = roll_back(to=found, author=actor, **given)
    except OutdatedError:
        form.refuse(_("Another revision was published in the meantime. Review what the rollback changes now."))
        return _page(request, *_find(request, name, number), 412, back=form)
    except OrphansError as error:
        form.refuse(_(ORPHANING))
        return _page(request, cluster, found, 409, back=form, orphans=orphaned(error.found, EVERYTHING))
    except ImportFailure as error:
        form.refuse(" ".join(said(note) for note in error.notes))
        return _page(request, cluster, found, 422, back=form)
    except ValidationError as error:
        form.refuse(error)
        return _page(request, cluster, found, 422, back=form)
    messages.success(request, _("Revision %(number)s is published.") % {"number": made.number})
    return redirect("web:revision", cluster.name, made.number)


@require_POST
@login_required
def revision_restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put a queue of it that is gone back into a new draft, with all below it."""
    seen_whole(request.user, name)
    cluster, actor = editable(request, name)
    found = selectors.find_revision(actor, cluster.hierarchy, number)
    form = RestoreForm(request.POST)
    if not form.is_valid():
        return _page(request, cluster, found, 422, not_restored=form.all_errors)
    try:
        made = restore(revision=found, path=form.cleaned_data["path"], author=actor)
    except ValidationError as error:
        return _page(request, cluster, found, 422, not_restored=" ".join(error.messages))
    return redirect("web:draft", cluster.name, made.pk)
