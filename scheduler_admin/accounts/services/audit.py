"""The audit log: who did what, when and why."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import AuditEvent, User

COMMAND_LINE = "command line"
SERVICE = "service account"


def name_of(actor: User | None) -> str:
    """What somebody is called in what they did: no person's name has a blank. Nobody means the command line."""
    if actor is None:
        return COMMAND_LINE
    return f"{SERVICE} {actor.get_username()}" if actor.service else actor.get_username()


def record(
    *,
    actor: User | None,
    verb: str,
    target: str,
    reason: str = "",
    details: Mapping[str, Any] | None = None,
    by: str = "",
) -> AuditEvent:
    """Write down who did what, when and why, and by which token. ``by``: what did it where nobody did."""
    token = actor.token.facts if actor and actor.token else {}
    event = AuditEvent(
        actor=actor,
        actor_name=by or name_of(actor),
        verb=verb,
        target=target,
        reason=reason,
        details={**(details or {}), **token},
    )
    event.full_clean(exclude=[] if actor else ["actor"])  # the column may be null, a form may not leave it blank
    event.save()
    return event


def check_reason(reason: str) -> None:
    """Raise ValidationError where nobody says why."""
    if not reason.strip():
        raise ValidationError({"reason": _("Enter a reason. Other people will see it.")})
