"""Acts on a draft as a whole: publish, approve, discard."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from engine.model.notes import ImportFailure
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.edits import StaleError
from scheduler_admin.queues.forms import PublishForm
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.drafts.acting import refused
from scheduler_admin.queues.pages.drafts.views import editable, find_stored
from scheduler_admin.queues.presenters.forecasts import ORPHANING, orphaned
from scheduler_admin.queues.services.hierarchies import OrphansError, OutdatedError

_STALE = gettext_noop("The draft has changed since you opened it. Review it again.")
_OUTDATED = gettext_noop("Another revision was published in the meantime. Merge it into this draft first.")


@require_POST
@login_required
def publish(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Put a draft in force as it was read; what keeps it back is said on its page, with the reason still there."""
    cluster, actor = editable(request, name)
    draft = find_stored(actor, cluster, pk)
    form = PublishForm(request.POST)
    if not form.is_valid():
        return refused(request, cluster, draft, 422, form)
    try:
        with transaction.atomic():
            revision = edits.publish_draft(draft=draft, actor=actor, **form.cleaned_data)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    except StaleError:
        return refused(request, cluster, draft, 412, form, _(_STALE))
    except OutdatedError:
        return refused(request, cluster, draft, 412, form, _(_OUTDATED))
    except OrphansError as error:
        lost = orphaned(error.found, scope_of(actor, "view"))
        return refused(request, cluster, draft, 409, form, _(ORPHANING), orphans=lost)
    except ImportFailure as error:
        return refused(request, cluster, draft, 422, form, " ".join(said(note) for note in error.notes))
    except ValidationError as error:
        return refused(request, cluster, draft, 422, form, " ".join(error.messages))
    messages.success(request, _("Revision %(number)s is published.") % {"number": revision.number})
    if not scope_of(actor, "view").everything:  # which a revision shows
        return redirect("web:queues", cluster.name)
    return redirect("web:revision", cluster.name, revision.number)


@require_POST
@login_required
def approve(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Say that it may be published as it was read."""
    cluster, actor = editable(request, name)
    draft = find_stored(actor, cluster, pk)
    form = PublishForm(request.POST)
    if not form.is_valid():
        return refused(request, cluster, draft, 422, form)
    try:
        edits.approve(draft=draft, version=form.cleaned_data["version"], actor=actor)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    except StaleError:
        return refused(request, cluster, draft, 412, form, _(_STALE))
    except ValidationError as error:
        return refused(request, cluster, draft, 422, form, " ".join(error.messages))
    messages.success(request, _("Draft approved. Someone else can publish it now."))
    return redirect("web:draft", cluster.name, pk)


@require_POST
@login_required
def discard(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Throw a draft away."""
    cluster, actor = editable(request, name)
    draft = find_stored(actor, cluster, pk)
    try:
        edits.discard(draft=draft, actor=actor)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("Draft %(name)s was discarded.") % {"name": draft.name})
    return redirect("web:editor", cluster.name)
