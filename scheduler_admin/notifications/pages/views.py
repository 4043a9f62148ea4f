"""Where tenants are notified: their channels, what each was to tell, and a test that says plainly what went wrong."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.connections.sealing import can_seal
from scheduler_admin.core.forms import sent_act
from scheduler_admin.notifications import selectors
from scheduler_admin.notifications.delivery.send import send_test
from scheduler_admin.notifications.delivery.webhook import UndeliveredError
from scheduler_admin.notifications.forms import ChangeChannelForm, NewChannelForm
from scheduler_admin.notifications.models import SITE, Channel, Notification
from scheduler_admin.notifications.services import (
    SETTINGS,
    add_channel,
    change_channel,
    first_secret,
    fresh_secret,
    remove_channel,
)


@sensitive_post_parameters()
@sensitive_variables()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def notifications(request: HttpRequest) -> HttpResponse:
    """GET: the channels that one may see. POST: one more."""
    if not selectors.has_any(request.user, "view"):
        raise Http404
    if request.method != "POST":
        return _list(request)
    actor = _actor(request)
    if not selectors.has_any(actor, "notify"):
        raise PermissionDenied
    form = NewChannelForm(request.POST)
    if not form.is_valid():
        return _list(request, form)
    given = form.cleaned_data
    of_site = given["tenant"] == SITE
    try:
        fresh = first_secret(given["kind"], given["secret"])
        made = add_channel(
            tenant=selectors.own_tenant(actor, None if of_site else given["tenant"]),
            kind=given["kind"],
            address=given["address"],
            secret=given["secret"] or fresh,
            values=form.values(of_site=of_site) | {"enabled": True},
            actor=actor,
        )
    except ValidationError as error:
        form.refuse(error)
        return _list(request, form)
    messages.success(request, _("Channel added. Send a test message to check that it arrives."))
    return _shown_once(request, made, fresh)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def channel(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: a channel, and what it was to tell last. POST: ``act`` says what is done with it."""
    found = selectors.channel(request.user, pk)
    if request.method != "POST":
        return _one(request, found)
    actor = _actor(request)
    if not selectors.has_channels_of(actor, "notify", found.tenant):
        raise PermissionDenied
    return _ACTS[sent_act(request, _ACTS)](request, found, actor)


@sensitive_variables()
def _change(request: HttpRequest, found: Channel, actor: User) -> HttpResponse:
    form = ChangeChannelForm(request.POST)
    if not form.is_valid():
        return _one(request, found, form)
    given = form.cleaned_data
    try:
        fresh = fresh_secret(found.kind, given["secret"]) if given["rotate_secret"] else ""
        changed = change_channel(
            channel=found,
            address=given["address"],
            secret=given["secret"] or fresh,
            values=form.values(of_site=found.tenant is None) | {"enabled": given["enabled"]},
            seen=given["seen"],
            actor=actor,
        )
    except ValidationError as error:
        form.refuse(error)
        if getattr(error, "code", None) == "clash":  # which is told now
            form.show(seen=selectors.tag(found))
        return _one(request, found, form)
    messages.success(request, _("Changes saved."))
    return _shown_once(request, changed, fresh)


@sensitive_variables()
def _shown_once(request: HttpRequest, found: Channel, fresh: str) -> HttpResponse:
    """The page after a change. A secret that was made is in this one answer alone, which no cache keeps."""
    if not fresh:
        return redirect("web:notification_channel", found.pk)
    response = _one(request, selectors.channel(request.user, found.pk), fresh=fresh)
    response["Cache-Control"] = "private, no-store"
    return response


def _remove(request: HttpRequest, found: Channel, actor: User) -> HttpResponse:
    remove_channel(channel=found, actor=actor)
    tenant = _("Channel deleted. No more notifications for %(tenant)s are sent there.") % {"tenant": found.owner}
    site = _("Channel deleted. No more notifications about the site are sent there.")
    messages.success(request, tenant if found.tenant else site)
    return redirect("web:notifications")


def _test(request: HttpRequest, found: Channel, _actor: User) -> HttpResponse:
    try:
        error = send_test(channel=found).error
    except UndeliveredError as refused:
        error = str(refused)
    if error:
        messages.error(request, _("The test message did not arrive: %(why)s") % {"why": error})
    else:
        messages.success(request, _("%(where)s accepted the test message.") % {"where": found.address})
    return redirect("web:notification_channel", found.pk)


_ACTS: dict[str, Callable[[HttpRequest, Channel, User], HttpResponse]] = {
    "change": _change,
    "remove": _remove,
    "test": _test,
}


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _list(request: HttpRequest, refused: NewChannelForm | None = None) -> HttpResponse:
    tenants = selectors.tenants_of(request.user, "notify")
    of_site = selectors.has_site(request.user, "notify")
    first = {"language": get_language(), "going": True, "preempted": True, "kind": Channel.Kind.WEBHOOK}
    form = refused or NewChannelForm(initial=first)
    site = [(SITE, _("The site"))] if of_site else []
    form.offer("tenant", [*((one.name, one.name) for one in tenants), *site])
    context = {
        "channels": selectors.channels(request.user),
        "may_add": of_site or bool(tenants),
        "of_site": of_site,
        "form": form,
        "can_seal": can_seal(),
        "can_mail": bool(settings.EMAIL_HOST),
    }
    return render(request, "notifications/notifications.html", context, status=422 if refused else 200)


def _one(
    request: HttpRequest, found: Channel, refused: ChangeChannelForm | None = None, fresh: str = ""
) -> HttpResponse:
    shown = {name: getattr(found, name) for name in SETTINGS}
    context = {
        "channel": found,
        "fresh": fresh,
        "form": refused or ChangeChannelForm(initial=shown | {"seen": selectors.tag(found)}),
        "latest": selectors.latest(found),
        "may_change": selectors.has_channels_of(request.user, "notify", found.tenant),
        "of_site": found.tenant is None,
        "states": {
            Notification.State.SENT: "ok",
            Notification.State.WAITING: "wait",
            Notification.State.FAILED: "stop",
            Notification.State.SUMMARIZED: "none",
        },
    }
    return render(request, "notifications/notification_channel.html", context, status=422 if refused else 200)
