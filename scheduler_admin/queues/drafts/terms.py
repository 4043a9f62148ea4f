"""Writes to what a draft says beside its queues: how its tree decides, how pods find their leaf, what shares are of."""

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.formats.undecodable import UNDECODABLE
from engine.policies import known_dialects, parameters_of
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.queues.drafts.edits import LONGEST_TEXT
from scheduler_admin.queues.drafts.storage import ConflictError, changed, locked
from scheduler_admin.queues.drafts.tree_document import PLACEMENT, TERMS, assign, capacities, text_of
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.subtrees import FOREIGN

LONGEST_RULES = 200_000
"""Of all placement rules, in characters."""


@transaction.atomic
def set_term(*, draft: Draft, setting: str, text: str, was: str, actor: User) -> Draft:
    """Set what the draft says beside its queues: ``policy``, ``dialect``, ``parameters/last_resort``, ``placement``.

    A policy brings its first dialect along where the present one is of another. Raises as ``edit``, and ValidationError
    for those who may not change the whole tree.
    """
    draft = locked(draft)
    if not scope_of(actor, "edit").everything:
        raise ValidationError(_(FOREIGN))
    _check_term(draft, setting, text)
    now, text = text_of(draft, setting), text.strip()
    if now == text:
        return draft
    if now != was.strip():
        raise ConflictError(now, draft, draft)
    assign(draft, setting, text)
    if setting == "policy" and draft.dialect not in (dialects := known_dialects().get(text, (draft.dialect,))):
        draft.dialect = dialects[0]
    return changed(draft, actor)


def _check_term(draft: Draft, setting: str, text: str) -> None:
    names = [f"parameters/{one.name}" for one in parameters_of(draft.policy, draft.dialect)]
    names += [f"capacity/{name}" for name in draft.capacity]
    if setting not in (*TERMS, PLACEMENT, *names):
        raise ValidationError(_("There is no setting %(name)s.") % {"name": setting})
    most = LONGEST_RULES if setting == PLACEMENT else LONGEST_TEXT
    if len(text) > most:
        raise ValidationError(_("Enter at most %(most)s characters.") % {"most": most})
    if setting.startswith("capacity/") and text not in capacities(draft, setting.removeprefix("capacity/")):
        raise ValidationError(
            _("Percentages must be based on the cluster capacity at publication or on the current capacity.")
        )
    if setting == PLACEMENT and text.strip() and not _is_list(text):
        raise ValidationError(_("Enter the placement rules as a JSON list."))


def _is_list(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), list) and "\\u0000" not in text  # which PostgreSQL does not take
    except UNDECODABLE:
        return False
