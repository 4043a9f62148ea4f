"""Drafts in a line each: for the list of all, and for the notice that somebody else has one open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.explain import Message
from engine.formats.tree_json.diff import describe_change
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.summaries import DraftSummary, summaries
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.presenters.setting_words import beside

_FEW = 1
"""Changes of a draft that are listed: its notice takes one line."""


@dataclass(frozen=True)
class DraftLine:
    """A draft and what it changes."""

    draft: Draft
    changes: int
    errors: int
    first: Sequence[Message]
    """The first few changes, in words."""
    more: int
    """How many more such sentences there are."""


@dataclass(frozen=True)
class Rivals:
    """Other drafts of the same hierarchy: the latest that changes anything, and how many more are open."""

    line: DraftLine | None
    more: int


def draft_lines(user: Who, drafts: Iterable[Draft]) -> list[DraftLine]:
    """Each draft and the number of its changes, as far as the user sees them."""
    sees = scope_of(user, "view")
    return [_line(summary.part(sees)) for summary in summaries(drafts)]


def rivals(user: Who, draft: Draft) -> Rivals:
    """Of a draft; those that change nothing are none."""
    others = selectors.rivals_of(user, draft)
    latest = [line for line in draft_lines(user, others[:1]) if line.changes]
    return Rivals(latest[0] if latest else None, max(0, others.count() - 1))


def _line(found: DraftSummary) -> DraftLine:
    said = [message for setting in found.beside for message in beside(setting)]
    said += [message for change in found.changes for message in describe_change(change)]
    return DraftLine(
        found.draft, len(found.changes) + len(found.beside), len(found.errors), said[:_FEW], max(0, len(said) - _FEW)
    )
