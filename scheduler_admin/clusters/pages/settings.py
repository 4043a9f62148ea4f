"""A cluster's settings: how far the engine may go, and all that bounds it."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, acting
from scheduler_admin.clusters.forms.pauses import PauseForm, ResumeForm
from scheduler_admin.clusters.forms.settings import LimitsForm, ModeForm, RemoveWindowForm, WindowForm, text_of
from scheduler_admin.clusters.models import Cluster, Window
from scheduler_admin.clusters.pages.settings_context import settings_page
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.clusters.safeguards.limits import ClashError, add_window, change_limits, remove_window
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core.forms import Form, go_back, sent_act
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.site.live import Context, answer, etag


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def settings(request: HttpRequest, name: str) -> HttpResponse:
    """GET: as they are, and what holds evictions back now. POST: ``act`` says which of them is changed."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        build = lambda: settings_page(request.user, cluster, timezone.now())  # noqa: E731
        return answer(request, "clusters/settings.html", build, cluster, cluster=cluster)
    action, form_for, act = _ACTS[sent_act(request, _ACTS)]
    actor, form = acting(request.user, action), form_for(request.POST, cluster)
    if not form.is_valid():
        return _refused(request, cluster, form, 422)
    try:
        message = act(cluster, actor, form) or _("Saved. The change takes effect from the next eviction.")
    except ClashError as error:
        for limit, found in error.limits.items():
            form.add_error(limit, _clash(found))
        return _refused(request, cluster, form, 409)
    except ValidationError as error:
        form.refuse(error)
        return _refused(request, cluster, form, 422)
    messages.success(request, message)
    return go_back(request, "web:settings", cluster.name)


def _clash(found: tuple[object, object]) -> str:
    wanted, now = (text_of(value) for value in found)
    return _("Someone else changed this value in the meantime. It is now %(now)s; you entered %(typed)s.") % {
        "now": now,
        "typed": wanted,
    }


def _refused(request: HttpRequest, cluster: Cluster, form: Form, status: int) -> HttpResponse:
    """The page with what was typed still in its form, and what is wrong there."""
    context: Context = settings_page(request.user, cluster, timezone.now(), form)
    context |= {"cluster": cluster, "etag": etag(request, cluster)}
    return render(request, "clusters/settings.html", context, status=status)


def _mode(cluster: Cluster, actor: User, form: ModeForm) -> None:
    set_mode(cluster=cluster, actor=actor, **form.cleaned_data)


def _limits(cluster: Cluster, actor: User, form: LimitsForm) -> None:
    reason = form.cleaned_data["reason"]
    change_limits(cluster=cluster, values=form.values, seen=form.seen, actor=actor, reason=reason)


def _pause(cluster: Cluster, actor: User, form: PauseForm) -> str:
    where, queue = form.place(cluster)
    until = form.ends(timezone.now())
    pauses.pause(cluster=where, queue=queue, actor=actor, reason=form.cleaned_data["reason"], until=until)
    if where is None:
        return _("All clusters are paused. No pods are evicted in any of them.")
    return _("%(name)s is paused. No pods are evicted there.") % {"name": queue or cluster.name}


def _resume(cluster: Cluster, actor: User, form: ResumeForm) -> str:
    where, queue = form.place(cluster)
    pauses.resume(cluster=where, queue=queue, actor=actor, reason=form.cleaned_data["reason"])
    if where is None:
        return _("All clusters are resumed.")
    return _("%(name)s is resumed.") % {"name": queue or cluster.name}


def _add_window(cluster: Cluster, actor: User, form: WindowForm) -> None:
    where, queue = form.place(cluster)
    hours = {name: value for name, value in form.cleaned_data.items() if name != "where"}
    add_window(cluster=where, queue=queue, actor=actor, **hours)


def _remove_window(cluster: Cluster, actor: User, form: RemoveWindowForm) -> None:
    window = Window.objects.filter(pk=form.cleaned_data["window"]).first()
    if window is None or window.cluster not in (None, cluster):
        raise Http404
    remove_window(window=window, actor=actor, reason=form.cleaned_data["reason"])


_ACTS: dict[str, tuple[Action, Callable[[QueryDict, Cluster], Form], Callable[[Cluster, User, Any], str | None]]] = {
    "mode": ("operate", lambda sent, _cluster: ModeForm(sent), _mode),
    "pause": ("operate", lambda sent, _cluster: PauseForm(sent), _pause),
    "resume": ("operate", lambda sent, _cluster: ResumeForm(sent), _resume),
    "limits": ("configure", lambda sent, cluster: LimitsForm(sent, cluster=cluster), _limits),
    "window": ("configure", lambda sent, _cluster: WindowForm(sent), _add_window),
    "remove": ("configure", lambda sent, _cluster: RemoveWindowForm(sent), _remove_window),
}
"""What a button is called -> what its sender has to be allowed, its form, and what it does and may tell."""
