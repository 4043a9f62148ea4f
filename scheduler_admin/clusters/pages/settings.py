"""A cluster's settings: how far the engine may go, and all that bounds it."""

from collections.abc import Callable
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, acting
from scheduler_admin.clusters.models import Cluster, Window
from scheduler_admin.clusters.pages.settings_context import label_of, settings_page, text_of
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.clusters.safeguards.limits import LIMITS, ClashError, add_window, change_limits, remove_window
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core.numbers import read_number
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.site.live import Context, answer, etag

_EVERYWHERE = "*"
"""All clusters, as the forms name them; empty is this one, anything else the path of a queue."""


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def settings(request: HttpRequest, name: str) -> HttpResponse:
    """GET: as they are, and what holds evictions back now. POST: ``act`` says which of them is changed."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        build = lambda: settings_page(request.user, cluster, timezone.now())  # noqa: E731
        return answer(request, "clusters/settings.html", build, cluster, cluster=cluster)
    action, act = _ACTS.get(request.POST.get("act", ""), (None, None))
    if action is None or act is None:
        raise BadRequest
    actor = acting(request.user, action)
    try:
        act(cluster, actor, request.POST)
    except ClashError as error:
        return _refused(request, cluster, 409, {name: _clash(found) for name, found in error.limits.items()})
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        return _refused(request, cluster, 422, {name: " ".join(found) for name, found in fields.items()})
    messages.success(request, _("Done. It holds from the next eviction on."))
    return redirect("web:settings", cluster.name)


def _clash(found: tuple[object, object]) -> str:
    wanted, now = (text_of(value) for value in found)
    return _("Somebody else changed this meanwhile: it says %(now)s, you typed %(typed)s.") % {
        "now": now,
        "typed": wanted,
    }


def _refused(request: HttpRequest, cluster: Cluster, status: int, wrong: dict[str, str]) -> HttpResponse:
    """The page with what was typed still in its form, and what is wrong there."""
    typed = request.POST.dict()
    context: Context = settings_page(request.user, cluster, timezone.now(), typed=typed, wrong=wrong)
    context |= {"cluster": cluster, "act": typed["act"], "typed": typed, "etag": etag(request, cluster)}
    context["days"] = request.POST.getlist("weekdays")
    shown = {name: text for name, text in wrong.items() if typed["act"] != "limits" or name not in LIMITS}
    context["wrong"] = " ".join(f"{_name(name)}{text}" for name, text in shown.items())
    return render(request, "clusters/settings.html", context, status=status)


def _name(field: str) -> str:
    """The field before what is wrong with it, where that does not go without saying."""
    names = {
        "weekdays": _("Weekdays"),
        "begins": pgettext("time", "From"),
        "ends": _("To"),
        "zone": _("Time zone"),
        "first_day": _("First day"),
        "last_day": _("Last day"),
        "reason": _("Why"),
        **{name: label_of(name) for name in LIMITS},
    }
    return f"{names[field]}: " if field in names else ""


def _mode(cluster: Cluster, actor: User, form: QueryDict) -> None:
    set_mode(
        cluster=cluster,
        mode=form.get("mode", ""),
        actor=actor,
        reason=form.get("reason", ""),
        override=form.get("override", "").strip(),
    )


def _limits(cluster: Cluster, actor: User, form: QueryDict) -> None:
    names = [name for name in LIMITS if name in form and f"was:{name}" in form]
    change_limits(
        cluster=cluster,
        values={name: form.get(name, "") for name in names},
        seen={name: form.get(f"was:{name}", "") for name in names},
        actor=actor,
        reason=form.get("reason", ""),
    )


def _place(cluster: Cluster, form: QueryDict) -> tuple[Cluster | None, str]:
    where = form.get("where", "")
    return (None, "") if where == _EVERYWHERE else (cluster, where)


def _pause(cluster: Cluster, actor: User, form: QueryDict) -> None:
    where, queue = _place(cluster, form)
    given = form.get("minutes", "").strip()
    minutes = read_number(given)
    if given and not 0 < minutes <= 525_600:  # noqa: PLR2004 - a year
        raise ValidationError(_("For how long: a number of minutes, at most a year of them."))
    until = timezone.now() + timedelta(minutes=minutes) if given else None
    pauses.pause(cluster=where, queue=queue, actor=actor, reason=form.get("reason", ""), until=until)


def _resume(cluster: Cluster, actor: User, form: QueryDict) -> None:
    where, queue = _place(cluster, form)
    pauses.resume(cluster=where, queue=queue, actor=actor, reason=form.get("reason", ""))


def _add_window(cluster: Cluster, actor: User, form: QueryDict) -> None:
    where, queue = _place(cluster, form)
    add_window(
        cluster=where,
        queue=queue,
        actor=actor,
        reason=form.get("reason", ""),
        kind=form.get("kind", ""),
        weekdays=form.getlist("weekdays"),
        begins=form.get("begins", ""),
        ends=form.get("ends", ""),
        zone=form.get("zone", "").strip(),
        first_day=form.get("first_day") or None,
        last_day=form.get("last_day") or None,
    )


def _remove_window(cluster: Cluster, actor: User, form: QueryDict) -> None:
    window = Window.objects.filter(pk=read_number(form.get("window", ""))).first()
    if window is None or window.cluster not in (None, cluster):
        raise Http404
    remove_window(window=window, actor=actor, reason=form.get("reason", ""))


_ACTS: dict[str, tuple[Action, Callable[[Cluster, User, QueryDict], None]]] = {
    "mode": ("operate", _mode),
    "pause": ("operate", _pause),
    "resume": ("operate", _resume),
    "limits": ("configure", _limits),
    "window": ("configure", _add_window),
    "remove": ("configure", _remove_window),
}
