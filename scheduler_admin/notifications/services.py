"""Writes on channels: checked in full, sealed, audited. What of a webhook is secret is written down sealed alone."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from engine.cluster.errors import ClusterError
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.sealing import reseal, seal
from scheduler_admin.core import limits
from scheduler_admin.core.outbound.address_guard import RefusedError, check_url
from scheduler_admin.notifications.models import Channel
from scheduler_admin.notifications.selectors import Destination, destination, tag

SETTINGS = ("name", "language", "going", "preempted", "refused", "repeated", "loop", "digest", "below_min", "enabled")
"""What of a channel is no secret, and may be changed at any time."""
MOST = 20
"""Channels that a tenant may have: what each pass writes, and the worker sends, is multiplied by them."""
_SHORTEST_SECRET = 16
_LONGEST_SECRET = limits.SIGNING_SECRET
_MADE_BYTES = 32


@sensitive_variables()
def fresh_secret(kind: str, given: str) -> str:
    """One that is made here, to be shown once. Raises ValidationError where it can't be, or another is ``given``."""
    if kind != Channel.Kind.WEBHOOK:
        raise ValidationError(
            {"rotate_secret": _("Only webhook messages are signed, so other channel types have no secret.")}
        )
    if given:
        raise ValidationError({"rotate_secret": _("Enter a secret or generate one, not both.")})
    return secrets.token_urlsafe(_MADE_BYTES)


@sensitive_variables()
def first_secret(kind: str, given: str) -> str:
    """The same for a new channel; empty where none is needed, or one is ``given``."""
    return fresh_secret(kind, given) if kind == Channel.Kind.WEBHOOK and not given else ""


@transaction.atomic
@sensitive_variables()
def add_channel(
    *,
    tenant: Tenant,
    kind: str,
    address: str,
    secret: str = "",
    values: Mapping[str, Any],
    actor: User | None,
) -> Channel:
    """A new channel. ``address``: a URL or a mail address; ``secret`` signs what is sent to a webhook.

    ``values``: of SETTINGS; those that are missing are as the model has them. Raises ValidationError by field.
    """
    if kind not in Channel.Kind.values:
        raise ValidationError({"kind": _("Unknown channel type.")})
    if Channel.objects.filter(tenant=Tenant.objects.select_for_update().get(pk=tenant.pk)).count() >= MOST:
        raise ValidationError(
            _("%(tenant)s already has %(n)s channels, the maximum. Delete one first.")
            % {"tenant": tenant.name, "n": MOST}
        )
    made = Channel(tenant=tenant, kind=kind, **_known(values))
    _lead(made, address.strip(), secret)
    made.full_clean()
    made.save()
    record(actor=actor, verb="channel.add", target=tenant.name, details={**_said(made), "kind": made.kind})
    return made


@transaction.atomic
@sensitive_variables()
def change_channel(
    *,
    channel: Channel,
    address: str = "",
    secret: str = "",
    values: Mapping[str, Any],
    seen: str,
    actor: User | None,
) -> Channel:
    """Change what is given, and where it leads if that is. ``seen``: its ``tag`` as the actor has read it.

    Raises ValidationError by field, and with the code ``clash`` where it has changed since.
    """
    found = Channel.objects.select_for_update().get(pk=channel.pk)
    if seen != tag(found):
        sentence = _(
            "Someone else changed this channel in the meantime. Its current settings are shown above; "
            "save again to replace them."
        )
        raise ValidationError(sentence, code="clash")
    before, sealed = _said(found), found.sealed
    for name, value in _known(values).items():
        setattr(found, name, value)
    if address.strip() or secret:
        former = destination(found)
        _lead(found, address.strip() or former.address, secret or former.secret)
    found.full_clean()
    found.save()
    after = _said(found)
    details = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if found.sealed != sealed:
        details["replaced"] = [*(["address"] * bool(address.strip())), *(["secret"] * bool(secret))]
    if details:
        record(actor=actor, verb="channel.change", target=found.tenant.name, details={"channel": found.name, **details})
    return found


@transaction.atomic
def remove_channel(*, channel: Channel, actor: User | None) -> None:
    """Forget it, with what it has told and what it was still to tell."""
    record(actor=actor, verb="channel.remove", target=channel.tenant.name, details=_said(channel))
    channel.delete()


@transaction.atomic
def reseal_channels() -> int:
    """Seal every webhook with the first key; how many there are. Raises SettingsError."""
    rows = list(Channel.objects.select_for_update().exclude(sealed=""))
    for row in rows:
        row.sealed = reseal(row.sealed)
        row.save(update_fields=["sealed"])
    if rows:
        record(actor=None, verb="channels.reseal", target="all", details={"count": len(rows)})
    return len(rows)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in SETTINGS if name in values}


@sensitive_variables()
def _lead(channel: Channel, address: str, secret: str) -> None:
    """Let a channel lead there; what has to be sealed is. Raises ValidationError."""
    if channel.kind == Channel.Kind.EMAIL:
        channel.address = address
        return
    if not address:
        raise ValidationError({"address": _("Enter a URL.")})
    try:
        channel.address = check_url(address, settings.NOTIFICATION_NETWORKS)
    except RefusedError as error:
        raise ValidationError({"address": str(error)}) from None
    if channel.kind == Channel.Kind.WEBHOOK:
        _check_secret(secret)
    try:
        channel.sealed = seal(json.dumps(Destination(address, secret)._asdict()))
    except ClusterError as error:
        raise ValidationError({"address": told(error)}) from None


@sensitive_variables()
def _check_secret(secret: str) -> None:
    if not (_SHORTEST_SECRET <= len(secret) <= _LONGEST_SECRET and secret.isascii() and secret.isprintable()):
        sentence = _(
            "The signing secret must have %(least)s to %(most)s ASCII characters. Your receiver needs the same secret."
        )
        raise ValidationError({"secret": sentence % {"least": _SHORTEST_SECRET, "most": _LONGEST_SECRET}})


def _said(channel: Channel) -> dict[str, Any]:
    """What of a channel may be written down."""
    return {"address": channel.address, **{name: getattr(channel, name) for name in SETTINGS}}
