"""The copy of its tree that a cluster's own scheduler goes by: how it stands to ours, and what may be done about it."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import Form, sent_act
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.queues.models import Draft
from scheduler_admin.site.live import Context, answer, etag
from scheduler_admin.sync.forms import NothingForm, PlaceForm, RestoreForm, WriteForm
from scheduler_admin.sync.presenters import copies_page
from scheduler_admin.sync.services import OvertakenError, ask_to_put_back, ask_to_write, look_now, place, take


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def copies(request: HttpRequest, name: str) -> HttpResponse:
    """GET: how the two stand. POST: ``act`` says whether to look, where, to write, or to take it into a draft."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        return answer(request, "sync/copies.html", lambda: _context(request, cluster), cluster, cluster=cluster)
    actor = acting(request.user, "edit")
    form_class, act = _ACTS[sent_act(request, _ACTS)]
    form = form_class(request.POST)
    if not form.is_valid():
        return _refused(request, name, form, 422)
    try:
        made = act(request, cluster, actor, form)
    except OvertakenError:
        wrong = _(
            "The cluster’s configuration or the published revision changed in the meantime. Check "
            "what would be written now."
        )
        form.refuse(wrong)
        return _refused(request, name, form, 412)
    except ValidationError as error:
        form.refuse(error)
        return _refused(request, name, form, 422)
    return redirect("web:draft", cluster.name, made.pk) if made else redirect("web:copies", cluster.name)


def _context(request: HttpRequest, cluster: Cluster, refused: Form | None = None) -> Context:
    """What the page shows. Its forms are empty, but for the one that was turned away."""
    shown = copies_page(request.user, cluster)
    copy = shown["view"].copy
    forms: dict[str, Form] = {
        "write": WriteForm(),
        "restore": RestoreForm(),
        "set-namespace": PlaceForm(initial={"namespace": copy.namespace if copy else ""}),
    }
    if refused is not None:
        forms[refused.key] = refused
    named = {"write": forms["write"], "restore": forms["restore"], "place": forms["set-namespace"], "refused": refused}
    return {**shown, **named}


def _refused(request: HttpRequest, name: str, form: Form, status: int) -> HttpResponse:
    """The page as it is now, with what was typed still in its form, and what is wrong there."""
    cluster = seen_whole(request.user, name)
    context = _context(request, cluster, form) | {"cluster": cluster, "etag": etag(request, cluster)}
    return render(request, "sync/copies.html", context, status=status)


def _look(request: HttpRequest, cluster: Cluster, _actor: User, _form: Form) -> None:
    look_now(cluster=cluster)
    messages.success(request, _("The engine worker checks it within seconds."))


def _write(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> None:
    ask_to_write(cluster=cluster, actor=actor, **form.cleaned_data)
    messages.success(request, _("Write requested. The engine worker starts it within seconds."))


def _put_back(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> None:
    ask_to_put_back(cluster=cluster, actor=actor, **form.cleaned_data)
    messages.success(request, _("Write requested. The engine worker starts it within seconds."))


def _place(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> None:
    place(cluster=cluster, actor=actor, **form.cleaned_data)
    messages.success(request, _("Namespace saved. The engine worker checks it within seconds."))


def _take(_request: HttpRequest, cluster: Cluster, actor: User, _form: Form) -> Draft:
    return take(cluster=cluster, author=actor)


_ACTS: dict[str, tuple[type[Form], Callable[[HttpRequest, Cluster, User, Form], Draft | None]]] = {
    "check": (NothingForm, _look),
    "write": (WriteForm, _write),
    "restore": (RestoreForm, _put_back),
    "create-draft": (NothingForm, _take),
    "set-namespace": (PlaceForm, _place),
}
