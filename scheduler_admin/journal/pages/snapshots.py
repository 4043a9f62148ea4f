"""Saved snapshots: kept, uploaded, downloaded, and what a tree would do to them."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from engine.planning.journal import JournalError
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, sent_act
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.journal.forms import SaveForm, UploadForm
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.presenters import snapshot_page
from scheduler_admin.journal.selectors.snapshots import as_file, find_snapshot, snapshots_of
from scheduler_admin.journal.services.snapshots import MOST_BYTES, delete_snapshot, save_snapshot, upload_snapshot
from scheduler_admin.site.allowances import takes_files


@takes_files(MOST_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def snapshots(request: HttpRequest, name: str) -> HttpResponse:
    """GET: those that are kept. POST: ``act`` saves the cluster as it was, or reads a file."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        return _list(request, cluster)
    actor, act = acting(request.user, "operate"), sent_act(request, ("save", "upload"))
    form: Form = SaveForm(request.POST) if act == "save" else UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _list(request, cluster, form)
    try:
        found = _saved(cluster, actor, form) if act == "save" else _uploaded(cluster, actor, form)
    except ValidationError as error:
        form.refuse(error)
        return _list(request, cluster, form)
    messages.success(request, _("Saved."))
    return redirect("web:snapshot", cluster.name, found.pk)


def _list(request: HttpRequest, cluster: Cluster, refused: Form | None = None) -> HttpResponse:
    forms: dict[str, Form] = {"save": SaveForm(initial={"at": request.GET.get("at", "")}), "upload": UploadForm()}
    if refused is not None:
        forms[refused.key] = refused
    context = {
        "cluster": cluster,
        "snapshots": snapshots_of(request.user, cluster),
        "may_change": scope_of(request.user, "operate").everything,
        **forms,
    }
    return render(request, "journal/snapshots.html", context, status=422 if refused else 200)


def _saved(cluster: Cluster, actor: User, form: Form) -> SavedSnapshot:
    return save_snapshot(cluster=cluster, actor=actor, **form.cleaned_data)


def _uploaded(cluster: Cluster, actor: User, form: Form) -> SavedSnapshot:
    file, name = form.cleaned_data["file"], form.cleaned_data["name"]
    name = name or (file.name or "")[: limits.SNAPSHOT_NAME]
    return upload_snapshot(cluster=cluster, name=name, actor=actor, data=file.read(MOST_BYTES + 1))


def _find(request: HttpRequest, name: str, pk: int) -> tuple[Cluster, SavedSnapshot]:
    cluster = seen_whole(request.user, name)
    return cluster, find_snapshot(request.user, cluster, pk)


@require_safe
@login_required
def snapshot(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """What one holds, and what a tree would do to it."""
    cluster, found = _find(request, name, pk)
    page = snapshot_page(request.user, cluster, found, request.GET.get("under", ""))
    context: dict[str, Any] = {"cluster": cluster, "view": page, "may_change": _may_change(request)}
    if "forecast" in request.GET:  # asked for by those whose browser does not load it
        context |= {"told": True, "prospect": page.prospect}
    return render(request, "journal/snapshot.html", context)


def _may_change(request: HttpRequest) -> bool:
    return scope_of(request.user, "operate").everything


@require_safe
@login_required
def snapshot_forecast(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """What the chosen tree would do to it."""
    cluster, found = _find(request, name, pk)
    page = snapshot_page(request.user, cluster, found, request.GET.get("under", ""))
    context = {"cluster": cluster, "view": page, "told": True, "prospect": page.prospect}
    response = JsonResponse(
        {"parts": {"prospect": render_to_string("journal/_snapshot_prospect.html", context, request)}}
    )
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
@login_required
def snapshot_file(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """The zip; with ``names=without`` nobody's names are in it."""
    cluster, found = _find(request, name, pk)
    without = request.GET.get("names") == "without"
    try:
        data = as_file(found, without_names=without)
    except JournalError as error:  # another version wrote it
        raise Http404 from error
    response = HttpResponse(data, content_type="application/zip")
    file = f"snapshot-{found.pk}-without-names.zip" if without else f"{cluster.name}-snapshot-{found.pk}.zip"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    response["Cache-Control"] = "private, no-store"
    return response


@require_POST
@login_required
def snapshot_delete(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Forget it."""
    seen_whole(request.user, name)
    actor = acting(request.user, "operate")
    cluster, found = _find(request, name, pk)
    delete_snapshot(snapshot=found, actor=actor)
    messages.success(request, _("Deleted."))
    return redirect("web:snapshots", cluster.name)
