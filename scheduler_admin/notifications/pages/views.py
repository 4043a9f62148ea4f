"""Where tenants are notified: their channels, what each was to tell, and a test that says plainly what went wrong."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.connections.sealing import can_seal
from scheduler_admin.notifications import selectors
from scheduler_admin.notifications.delivery.send import send_test
from scheduler_admin.notifications.delivery.webhook import UndeliveredError
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import (
    add_channel,
    change_channel,
    first_secret,
    fresh_secret,
    remove_channel,
)

_SECRETS = ("address", "secret")
"""Fields of the forms that are not shown again."""
_TICKS = ("going", "preempted", "refused", "repeated", "loop", "digest")
"""Of what it tells, but for shortfalls, which have their minutes."""


@sensitive_post_parameters()
@sensitive_variables()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def notifications(request: HttpRequest) -> HttpResponse:
    """GET: the channels that one may see. POST: one more."""
    if not selectors.tenants_of(request.user, "view").exists():
        raise Http404
    if request.method != "POST":
        return _list(request)
    actor, form = _actor(request), request.POST
    if not selectors.tenants_of(actor, "notify").exists():
        raise PermissionDenied
    kind, secret = form.get("kind", ""), form.get("secret", "")
    try:
        fresh = first_secret(kind, secret)
        made = add_channel(
            tenant=selectors.own_tenant(actor, form.get("tenant", "")),
            kind=kind,
            address=form.get("address", ""),
            secret=secret or fresh,
            values=_values(form) | {"enabled": True},
            actor=actor,
        )
    except ValidationError as error:
        return _list(request, status=422, wrong=_wrong(error), typed=_typed(form))
    messages.success(request, _("Done. Send a test, to see that it arrives."))
    return _shown_once(request, made, fresh)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def channel(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: a channel, and what it was to tell last. POST: ``act`` says what is done with it."""
    found = selectors.channel(request.user, pk)
    if request.method != "POST":
        return _one(request, found)
    actor, form = _actor(request), request.POST
    if not selectors.tenants_of(actor, "notify").filter(pk=found.tenant_id).exists():
        raise PermissionDenied
    act = _ACTS.get(form.get("act", ""))
    if act is None:
        raise BadRequest
    try:
        return act(request, found, actor, form)
    except ValidationError as error:
        typed = _typed(form)
        if getattr(error, "code", None) == "clash":  # which is told now
            typed["seen"] = selectors.tag(found)
        return _one(request, found, status=422, wrong=_wrong(error), typed=typed)


@sensitive_variables()
def _change(request: HttpRequest, found: Channel, actor: User, form: QueryDict) -> HttpResponse:
    secret = form.get("secret", "")
    fresh = fresh_secret(found.kind, secret) if "new_secret" in form else ""
    changed = change_channel(
        channel=found,
        address=form.get("address", ""),
        secret=secret or fresh,
        values=_values(form) | {"enabled": "enabled" in form},
        seen=form.get("seen", ""),
        actor=actor,
    )
    messages.success(request, _("Done."))
    return _shown_once(request, changed, fresh)


@sensitive_variables()
def _shown_once(request: HttpRequest, found: Channel, fresh: str) -> HttpResponse:
    """The page after a change. A secret that was made is in this one answer alone, which no cache keeps."""
    if not fresh:
        return redirect("web:notification_channel", found.pk)
    response = _one(request, selectors.channel(request.user, found.pk), fresh=fresh)
    response["Cache-Control"] = "private, no-store"
    return response


def _remove(request: HttpRequest, found: Channel, actor: User, form: QueryDict) -> HttpResponse:
    del form
    remove_channel(channel=found, actor=actor)
    messages.success(request, _("Done. %(tenant)s is told nothing there any more.") % {"tenant": found.tenant.name})
    return redirect("web:notifications")


def _test(request: HttpRequest, found: Channel, actor: User, form: QueryDict) -> HttpResponse:
    del actor, form
    try:
        error = send_test(channel=found).error
    except UndeliveredError as refused:
        error = str(refused)
    if error:
        messages.error(request, _("The test did not arrive: %(why)s") % {"why": error})
    else:
        messages.success(request, _("%(where)s has taken the test.") % {"where": found.address})
    return redirect("web:notification_channel", found.pk)


_ACTS: dict[str, Callable[[HttpRequest, Channel, User, QueryDict], HttpResponse]] = {
    "change": _change,
    "remove": _remove,
    "test": _test,
}


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _values(form: QueryDict) -> dict[str, Any]:
    """What of a channel is no secret. Raises ValidationError for minutes that are no number."""
    minutes = form.get("below_min", "").strip()
    if minutes and not (minutes.isdecimal() and len(minutes) <= 4):  # noqa: PLR2004 - a day has 1,440
        raise ValidationError({"below_min": _("A whole number of minutes: one at least, a day at most.")})
    return {
        "name": form.get("name", "").strip(),
        "language": form.get("language", ""),
        **{name: name in form for name in _TICKS},
        "below_min": int(minutes) if minutes else None,
    }


def _typed(form: QueryDict) -> dict[str, Any]:
    """What stays in the form that is sent back."""
    return {name: value for name, value in form.dict().items() if name not in _SECRETS}


def _wrong(error: ValidationError) -> dict[str, str]:
    """Field -> what is wrong with it; ``all`` is for none of them."""
    fields = error.message_dict if hasattr(error, "error_dict") else {"all": error.messages}
    return {"all" if name == "__all__" else name: " ".join(found) for name, found in fields.items()}


def _list(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "channels": selectors.channels(request.user),
        "tenants": selectors.tenants_of(request.user, "notify"),
        "kinds": Channel.Kind.choices,
        "can_seal": can_seal(),
        "can_mail": bool(settings.EMAIL_HOST),
        "typed": {"language": get_language(), "going": "on", "preempted": "on", "kind": Channel.Kind.WEBHOOK},
    }
    return render(request, "notifications/notifications.html", context | more, status=status)


def _one(request: HttpRequest, found: Channel, status: int = 200, **more: Any) -> HttpResponse:
    shown = {name: getattr(found, name) for name in ("name", "language", *_TICKS, "enabled")}
    context = {
        "channel": found,
        "latest": selectors.latest(found),
        "may_change": selectors.tenants_of(request.user, "notify").filter(pk=found.tenant_id).exists(),
        "states": {
            Notification.State.SENT: "ok",
            Notification.State.WAITING: "wait",
            Notification.State.DEAD: "stop",
            Notification.State.SUMMED: "none",
        },
        "typed": {**shown, "below_min": found.below_min or "", "seen": selectors.tag(found)},
    }
    return render(request, "notifications/notification_channel.html", context | more, status=status)
