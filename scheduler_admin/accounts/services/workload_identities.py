"""Workload identities: which pipelines may sign in with the ID tokens of their platform, and as what."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import OperationalError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User, WorkloadIdentity, WorkloadToken
from scheduler_admin.accounts.services.audit import check_reason, record
from scheduler_admin.accounts.services.tokens import TOUCH_EVERY, not_waiting_for_locks
from scheduler_admin.core.entity_tags import check_seen, keyed
from scheduler_admin.core.outbound.address_guard import RefusedError, check_url

MOST = 200
"""Of a site."""


@transaction.atomic
def create_identity(
    *,
    name: str,
    user: User,
    issuer: str,
    audience: str,
    claims: Mapping[str, str],
    scopes: Iterable[str],
    subtree: str = "",
    actor: User | None,
    reason: str,
) -> WorkloadIdentity:
    """Let the pipelines whose ID tokens have these claims act as a service account. Raises ValidationError by field."""
    check_reason(reason)
    if WorkloadIdentity.objects.count() >= MOST:
        raise ValidationError(_("There are already %(most)s workload identities. Delete one first.") % {"most": MOST})
    made = WorkloadIdentity(
        name=name.strip(),
        user=user,
        issuer=issuer.strip(),
        audience=audience.strip(),
        claims=dict(claims),
        scopes=sorted(set(scopes)),
        subtree=subtree.strip(),
    )
    _check(made)
    made.save()
    record(actor=actor, verb="workload.create", target=made.name, reason=reason.strip(), details=facts_of(made))
    return made


@transaction.atomic
def change_identity(
    *, identity: WorkloadIdentity, values: Mapping[str, Any], actor: User | None, reason: str, seen: str | None = None
) -> WorkloadIdentity:
    """Change what ``values`` hold of an identity, for the next request.

    ``seen``: ``identity_tag`` as the actor has read it. Raises ValidationError by field, also without a reason.
    """
    check_reason(reason)
    found = WorkloadIdentity.objects.select_for_update().get(pk=identity.pk)
    check_seen(seen, identity_tag(found))
    before, name = facts_of(found), found.name
    for field, value in values.items():
        setattr(found, field, value.strip() if isinstance(value, str) else value)
    found.scopes = sorted(set(found.scopes))
    _check(found)
    found.save()
    if changed := {field: [before[field], now] for field, now in facts_of(found).items() if now != before[field]}:
        record(actor=actor, verb="workload.change", target=name, reason=reason.strip(), details={"changes": changed})
    return found


@transaction.atomic
def delete_identity(*, identity: WorkloadIdentity, actor: User | None, reason: str, seen: str | None = None) -> None:
    """Refuse the pipeline's tokens from the next request on. ``seen``: ``identity_tag`` as the actor has read it.

    Raises ValidationError without a reason.
    """
    check_reason(reason)
    found = WorkloadIdentity.objects.select_for_update().get(pk=identity.pk)
    check_seen(seen, identity_tag(found))
    record(actor=actor, verb="workload.delete", target=found.name, reason=reason.strip(), details=facts_of(found))
    found.delete()


def touch_identity(token: WorkloadToken, now: datetime) -> None:
    """Note who last used an identity, at most once a minute, and never while others lock the row."""
    used = token.identity.last_used_at
    if used is not None and used > now - TOUCH_EVERY and token.identity.last_subject == token.subject:
        return
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - TOUCH_EVERY) | ~Q(last_subject=token.subject)
    try:
        with not_waiting_for_locks():
            rows = WorkloadIdentity.objects.filter(due, pk=token.identity.pk)
            rows.update(last_used_at=now, last_subject=token.subject)
    except OperationalError:
        return


def facts_of(identity: WorkloadIdentity) -> dict[str, Any]:
    """Return what the audit log says of an identity."""
    names = ("name", "issuer", "audience", "claims", "scopes", "subtree")
    return {"service_account": identity.user.get_username(), **{name: getattr(identity, name) for name in names}}


def identity_tag(identity: WorkloadIdentity) -> str:
    """Return what tells one state of an identity from another."""
    return keyed(json.dumps(facts_of(identity), sort_keys=True))


def _check(identity: WorkloadIdentity) -> None:
    """Raise ValidationError, by field, for an identity that cannot be."""
    wrong: dict[str, list[str]] = {}
    if not identity.user.service:
        sentence = _("%(name)s is a person’s account, not a service account.") % {"name": identity.user}
        wrong["service_account"] = [sentence]
    if not identity.scopes:
        wrong["scopes"] = [_("Choose at least one scope.")]
    try:
        check_url(identity.issuer, settings.ISSUER_NETWORKS)
        if "?" in identity.issuer:
            wrong["issuer"] = [_("Enter a valid URL.")]
    except RefusedError as error:
        wrong["issuer"] = [str(error)]
    try:
        identity.full_clean()
    except ValidationError as error:
        wrong = {**error.message_dict, **wrong}
    if wrong:
        raise ValidationError(wrong)
