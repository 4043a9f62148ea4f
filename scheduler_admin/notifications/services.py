"""Writes on channels: checked in full, sealed, audited. What of a webhook is secret is written down sealed alone."""

import base64
import binascii
import json
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from engine.cluster.errors import ClusterError
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.sealing import reseal, seal
from scheduler_admin.core.outbound.address_guard import RefusedError, check_url
from scheduler_admin.notifications.models import TENANT_EVENTS, Channel
from scheduler_admin.notifications.selectors import SECRET_PREFIX, Destination, destination, tag

SETTINGS = ("name", "language", *TENANT_EVENTS, "site_events", "payload_format", "enabled")
"""What of a channel is no secret, and may be changed at any time."""
MOST = 20
"""Channels that a tenant or the site may have: what each pass writes, and the worker sends, is multiplied by them."""
BOTH_SECRETS = timedelta(days=1)
"""For so long messages are also signed with the secret that another one replaced."""
_KEY_BYTES = range(24, 65)
"""Length of a key, as Standard Webhooks demands."""
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
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_MADE_BYTES)).decode()


@sensitive_variables()
def first_secret(kind: str, given: str) -> str:
    """The same for a new channel; empty where none is needed, or one is ``given``."""
    return fresh_secret(kind, given) if kind == Channel.Kind.WEBHOOK and not given else ""


@transaction.atomic
@sensitive_variables()
def add_channel(
    *,
    tenant: Tenant | None,
    kind: str,
    address: str,
    secret: str = "",
    values: Mapping[str, Any],
    actor: User | None,
) -> Channel:
    """A new channel. ``address``: a URL or a mail address; ``secret`` signs what is sent to a webhook.

    ``tenant`` None: one of the site. ``values``: of SETTINGS; those that are missing are as the model has them, but a
    channel of the site reports nothing of tenants. Raises ValidationError by field.
    """
    if kind not in Channel.Kind.values:
        raise ValidationError({"kind": _("Unknown channel type.")})
    reports: Mapping[str, Any] = {"going": False, "preempted": False} if tenant is None else {}
    made = Channel(tenant=tenant, kind=kind, **{**reports, **_known(values)})
    if tenant is not None:
        Tenant.objects.select_for_update().get(pk=tenant.pk)
    if Channel.objects.filter(tenant=tenant).count() >= MOST:
        raise ValidationError(
            _("%(tenant)s already has %(n)s channels, the maximum. Delete one first.")
            % {"tenant": made.owner, "n": MOST}
        )
    _lead(made, address.strip(), Destination("", secret))
    made.full_clean()
    made.save()
    record(actor=actor, verb="channel.add", target=made.target, details={**_said(made), "kind": made.kind})
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
        _lead(found, address.strip() or former.address, _rotated(former, secret))
    found.full_clean()
    found.save()
    after = _said(found)
    details = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if found.sealed != sealed:
        details["replaced"] = [*(["address"] * bool(address.strip())), *(["secret"] * bool(secret))]
    if details:
        record(actor=actor, verb="channel.change", target=found.target, details={"channel": found.name, **details})
    return found


@transaction.atomic
def remove_channel(*, channel: Channel, actor: User | None) -> None:
    """Forget it, with what it has told and what it was still to tell."""
    record(actor=actor, verb="channel.remove", target=channel.target, details=_said(channel))
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
def _rotated(former: Destination, secret: str) -> Destination:
    """The secrets of a channel from now on: a new one, beside which the former one still signs for a while."""
    if not secret or secret == former.secret:
        return former
    until = timezone.now() + BOTH_SECRETS
    return Destination("", secret, former=former.secret, former_until_s=int(until.timestamp()))


@sensitive_variables()
def _lead(channel: Channel, address: str, signed: Destination) -> None:
    """Let a channel lead there, ``signed`` with these secrets; what has to be sealed is. Raises ValidationError."""
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
        _check_secret(signed.secret)
    try:
        channel.sealed = seal(json.dumps(signed._replace(address=address)._asdict()))
    except ClusterError as error:
        raise ValidationError({"address": told(error)}) from None


@sensitive_variables()
def _check_secret(secret: str) -> None:
    """Raise ValidationError for what is no secret in the form of Standard Webhooks."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):  # ValueError: not ASCII
        key = b""
    if not secret.startswith(SECRET_PREFIX) or len(key) not in _KEY_BYTES:
        sentence = _(
            "The signing secret must be %(prefix)s followed by %(least)s to %(most)s random bytes in base64. "
            "Your receiver needs the same secret."
        )
        numbers = {"prefix": SECRET_PREFIX, "least": min(_KEY_BYTES), "most": max(_KEY_BYTES)}
        raise ValidationError({"secret": sentence % numbers})


def _said(channel: Channel) -> dict[str, Any]:
    """What of a channel may be written down."""
    return {"address": channel.address, **{name: getattr(channel, name) for name in SETTINGS}}
