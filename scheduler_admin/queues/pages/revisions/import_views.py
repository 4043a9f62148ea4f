"""A tree from a document: pasted or uploaded, looked at, then made a draft of, or the first revision."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from engine.formats.registry import LARGEST
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core.forms import sent_act
from scheduler_admin.queues.forms import ImportForm
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.drafts.views import editable, may_import
from scheduler_admin.queues.pages.revisions.import_context import Preview, preview
from scheduler_admin.queues.services.hierarchies import OutdatedError
from scheduler_admin.queues.services.imports import import_draft, import_first
from scheduler_admin.queues.services.previews import keep_document, kept_document
from scheduler_admin.site.allowances import takes_files

_LONGEST_SHOWN = 256 * 1024
"""Longest document in characters that is shown for editing: browsers become slow with more."""


@takes_files(LARGEST)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def importing(request: HttpRequest, name: str) -> HttpResponse:
    """Nothing is saved before its button is pressed. A preview has an address, which its document is kept for."""
    cluster, actor = editable(request, name)
    if cluster.hierarchy is None:
        raise Http404
    if not may_import(actor, cluster):
        raise PermissionDenied
    if request.method != "POST":
        return _shown(request, cluster, actor)
    form = ImportForm(request.POST, request.FILES, user=actor)
    act = sent_act(request, ("look", "draft", "publish"), default="look")
    if not form.is_valid() and form.errors.keys() & {"text", "file", "format"}:
        return _page(request, cluster, form, status=422, expired=form.expired)
    text = form.cleaned_data["text"]
    if act == "look" and not form.errors and (key := keep_document(actor, text, form.cleaned_data["format"])):
        return redirect(f"{reverse('web:import', args=[cluster.name])}?preview={key}")
    seen = _seen(cluster, form, text)
    if form.errors:
        return _page(request, cluster, form, status=422, seen=seen)
    if act == "look":  # without an address of its own, while the cache does not respond
        return _page(request, cluster, form, seen=seen)
    if seen.imported is None:
        return _page(request, cluster, form, status=422, seen=seen)
    if form.cleaned_data["seen"] != seen.digest:
        form.refuse(_("The document has changed since the preview. Check the new preview."))
        return _page(request, cluster, form, status=412, seen=seen)
    return _take_over(request, cluster, actor, form, seen, act)


def _shown(request: HttpRequest, cluster: Cluster, actor: User) -> HttpResponse:
    """The empty form, or the preview that the address names."""
    key = request.GET.get("preview", "")
    document = kept_document(actor, key) if key else None
    if document is None:
        return _page(request, cluster, ImportForm(user=actor), expired=bool(key))
    form = ImportForm({"text": "", "format": document[1], "kept": key}, user=actor)
    if not form.is_valid():
        return _page(request, cluster, form)
    return _page(request, cluster, form, seen=_seen(cluster, form, form.cleaned_data["text"]))


def _seen(cluster: Cluster, form: ImportForm, text: str) -> Preview:
    assert cluster.hierarchy is not None
    status = status_of(cluster)
    return preview(text, form.asked, cluster.hierarchy, status.room if status else None)


def _take_over(
    request: HttpRequest, cluster: Cluster, actor: User, form: ImportForm, seen: Preview, act: str
) -> HttpResponse:
    """What a button says."""
    assert cluster.hierarchy is not None
    assert seen.imported is not None
    given: dict[str, Any] = {
        "hierarchy": cluster.hierarchy,
        "imported": seen.imported,
        "text": seen.text,
        "author": actor,
    }
    field = "name" if act == "draft" else "reason"
    try:
        if act == "draft":
            made = import_draft(name=form.cleaned_data["name"], **given)
            return redirect("web:draft", cluster.name, made.pk)
        revision = import_first(reason=form.cleaned_data["reason"], **given)
    except OutdatedError:
        form.refuse(_("Someone else published a revision in the meantime. Create a draft instead."))
        cluster.hierarchy.refresh_from_db()
        return _page(request, cluster, form, status=412, seen=_seen(cluster, form, seen.text))
    except ImportFailure as error:
        form.refuse(" ".join(said(note) for note in error.notes))
        return _page(request, cluster, form, status=422, seen=seen)
    except ValidationError as error:
        form.add_error(field, error.messages)
        return _page(request, cluster, form, status=422, seen=seen)
    messages.success(request, _("Revision %(number)s is published.") % {"number": revision.number})
    return redirect("web:revision", cluster.name, revision.number)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    form: ImportForm,
    *,
    status: int = 200,
    seen: Preview | None = None,
    expired: bool = False,
) -> HttpResponse:
    """The page; ``seen``: the document that was looked at, ``expired``: it was asked for, but is no longer kept.

    A long document is not sent along, but named by the key that it is kept by.
    """
    kept = ""
    if seen is not None:
        if len(seen.text) > _LONGEST_SHOWN and isinstance(request.user, User):
            kept = keep_document(request.user, seen.text, form.cleaned_data["format"])
        form.show(text="" if kept else seen.text, kept=kept)
    context = {
        "cluster": cluster,
        "revision": cluster.hierarchy.current if cluster.hierarchy else None,
        "most": LARGEST // 2**20,
        "form": form,
        "seen": seen,
        "expired": expired,
        "kept": kept,
    }
    return render(request, "queues/import.html", context, status=status)
