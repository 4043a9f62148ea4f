"""Drafts in a line each: for the list of all, and for the notice that somebody else has one open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.changes import sentences
from engine.explain import Message
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.queues import draft_selectors
from scheduler_admin.queues.models import Draft

_FEW = 3


@dataclass(frozen=True)
class DraftLine:
    """A draft and what it changes."""

    draft: Draft
    changes: int
    errors: int
    first: Sequence[Message]
    """The first few changes, in words."""


def draft_lines(drafts: Iterable[Draft]) -> list[DraftLine]:
    """Each draft, with its queues, and the number of its changes."""
    return [_line(draft) for draft in drafts]


def rivals(user: Who, draft: Draft) -> list[DraftLine]:
    """Other drafts of the same hierarchy, the latest few; those that change nothing are no rivals."""
    others = draft_selectors.drafts_of(user, draft.hierarchy, but=draft, most=_FEW)
    return [line for line in draft_lines(others) if line.changes]


def _line(draft: Draft) -> DraftLine:
    found = draft_selectors.state(draft)
    first = [message for change in found.changes[:_FEW] for message in sentences(change)]
    return DraftLine(draft, len(found.changes), len(found.errors), first[:_FEW])
