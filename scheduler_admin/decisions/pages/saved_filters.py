"""Filters of the history by a name: kept, renamed and forgotten by whoever they belong to."""

from collections.abc import Callable
from urllib.parse import parse_qsl

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import sent_act
from scheduler_admin.decisions.forms import RenameFilterForm, SaveFilterForm
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.services.saved_filters import change_filter, save_filter


@require_POST
@login_required
def saved_filters(request: HttpRequest, name: str) -> HttpResponse:
    """Keep the filters of a page, whose ``address`` is sent."""
    cluster, owner = seen_whole(request.user, name), request.user
    assert isinstance(owner, User)
    form = SaveFilterForm(request.POST)
    valid = form.is_valid()
    given = dict(parse_qsl(form.cleaned_data.get("address", "")))
    if any("\0" in text for text in given.values()):
        raise BadRequest
    filters = Filters.of(given, timezone.now())

    def save() -> str:
        if not valid:
            raise ValidationError(form.all_errors)
        save_filter(owner=owner, cluster=cluster, name=form.cleaned_data["name"], filters=filters)
        return _("Saved.")

    return _done(request, cluster, filters.address(), save)


@require_POST
@login_required
def saved_filter(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """``act``: rename, or delete."""
    cluster = seen_whole(request.user, name)
    saved = get_object_or_404(SavedFilter.objects.restrict(request.user, "view").filter(cluster=cluster), pk=pk)
    act, form = sent_act(request, ("rename", "delete")), RenameFilterForm(request.POST)

    def change() -> str:
        if act == "delete":
            saved.delete()
            return _("Deleted.")
        if not form.is_valid():
            raise ValidationError(form.all_errors)
        change_filter(saved=saved, name=form.cleaned_data["name"])
        return _("Saved.")

    return _done(request, cluster, saved.address, change)


def _done(request: HttpRequest, cluster: Cluster, address: str, write: Callable[[], str]) -> HttpResponse:
    """Do it and go back to the page, which says what came of it."""
    try:
        messages.success(request, write())
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(f"{reverse('web:history', args=[cluster.name])}?{address}")
