"""A tree from a document: pasted or uploaded, looked at, then made a draft of, or the first revision."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from engine.formats.registry import LARGEST, Format
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.drafts.views import editable, may_import
from scheduler_admin.queues.pages.revisions.import_context import Preview, preview
from scheduler_admin.queues.presenters.setting_words import format_name
from scheduler_admin.queues.services.hierarchies import OutdatedError
from scheduler_admin.queues.services.imports import import_draft, import_first
from scheduler_admin.site.allowances import takes_files


@takes_files(LARGEST)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def importing(request: HttpRequest, name: str) -> HttpResponse:
    """Nothing is kept before its button is pressed; what was pasted stays in the form until then."""
    cluster, actor = editable(request, name)
    if cluster.hierarchy is None:
        raise Http404
    if not may_import(actor, cluster):
        raise PermissionDenied
    if request.method != "POST":
        return _page(request, cluster)
    try:
        text = _text(request)
    except ValidationError as error:
        return _page(request, cluster, status=422, problem=" ".join(error.messages))
    seen = _seen(request, cluster, text)
    if request.POST.get("act") not in ("draft", "publish"):
        return _page(request, cluster, seen=seen)
    if seen.imported is None:
        return _page(request, cluster, status=422, seen=seen)
    if request.POST.get("seen") != seen.digest:
        problem = _("The document is another one than you looked at. This is what becomes of it.")
        return _page(request, cluster, status=412, seen=seen, wrong=problem)
    return _take_over(request, cluster, actor, seen)


def _text(request: HttpRequest) -> str:
    """The document: of the file where there is one, else what was pasted. Raises ValidationError."""
    file = request.FILES.get("file")
    raw = file.read(LARGEST + 1) if file else request.POST.get("text", "").encode(errors="replace")
    if len(raw) > LARGEST:
        raise ValidationError(_("This is longer than %(most)s KiB.") % {"most": LARGEST // 1024})
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValidationError(_("This is not UTF-8.")) from error
    if not text.strip():
        raise ValidationError(_("Paste a document, or choose a file."))
    return text


def _seen(request: HttpRequest, cluster: Cluster, text: str) -> Preview:
    assert cluster.hierarchy is not None
    chosen, status = request.POST.get("format", ""), status_of(cluster)
    asked = Format(chosen) if chosen in list(Format) else None
    return preview(text, asked, cluster.hierarchy, status.room if status else None)


def _take_over(request: HttpRequest, cluster: Cluster, actor: User, seen: Preview) -> HttpResponse:
    """What a button says."""
    assert cluster.hierarchy is not None
    assert seen.imported is not None
    given: dict[str, Any] = {
        "hierarchy": cluster.hierarchy,
        "imported": seen.imported,
        "text": seen.text,
        "author": actor,
    }
    try:
        if request.POST.get("act") == "draft":
            made = import_draft(name=request.POST.get("name", ""), **given)
            return redirect("web:draft", cluster.name, made.pk)
        revision = import_first(reason=request.POST.get("reason", ""), **given)
    except OutdatedError:
        problem = _("Somebody published a revision meanwhile: make a draft of it instead.")
        cluster.hierarchy.refresh_from_db()
        return _page(request, cluster, status=412, seen=_seen(request, cluster, seen.text), wrong=problem)
    except ImportFailure as error:
        problem = " ".join(said(note) for note in error.notes)
        return _page(request, cluster, status=422, seen=seen, wrong=problem)
    except ValidationError as error:
        return _page(request, cluster, status=422, seen=seen, wrong=" ".join(error.messages))
    messages.success(request, _("Revision %(number)s is in force.") % {"number": revision.number})
    return redirect("web:revision", cluster.name, revision.number)


def _page(request: HttpRequest, cluster: Cluster, *, status: int = 200, **more: Any) -> HttpResponse:
    """``problem``: why nothing could be looked at; ``seen``: what was; ``wrong``: why it could not be taken over."""
    context = {
        "cluster": cluster,
        "revision": cluster.hierarchy.current if cluster.hierarchy else None,
        "formats": [(form.value, format_name(form)) for form in Format],
        "most": LARGEST // 1024,
        "typed": request.POST.dict(),
    }
    return render(request, "queues/import.html", context | more, status=status)
