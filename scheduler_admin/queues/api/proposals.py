"""A tree that was sent, held against the one in force: and what it would change."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from engine.formats.tree_json.canonical import encode_tree
from engine.formats.tree_json.diff import (
    ChangeKind,
    QueueChange,
    Setting,
    changes,
    describe_change,
    describe_tree_setting,
)
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.core.translation import text
from scheduler_admin.queues.api.documents import Sent
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors.differences import differing_terms, differing_tree
from scheduler_admin.queues.services.hierarchies import Terms, terms_of, tree_of
from scheduler_admin.queues.subtrees import beside, outside


@dataclass(frozen=True)
class Proposal:
    """The tree that was sent, and the revision in force; None before the first."""

    sent: Sent
    current: Revision | None

    @property
    def changed(self) -> bool:
        """Whether publishing it makes a revision."""
        if self.current is None:
            return True
        return bool(self.terms) or encode_tree(self.sent.tree).decode() != self.current.document

    @property
    def number(self) -> int:
        """Of the revision that is in force once it is published."""
        return (self.current.number if self.current else 0) + self.changed

    @property
    def before(self) -> QueueTree:
        """The tree in force."""
        return tree_of(self.current) if self.current else ROOT_ONLY

    @cached_property
    def changes(self) -> tuple[QueueChange, ...]:
        """Queue by queue."""
        return changes(self.before, self.sent.tree)

    @cached_property
    def terms(self) -> tuple[Setting, ...]:
        """What changes of policy, dialect, parameters and placement rules."""
        before = terms_of(self.current) if self.current else Terms()
        return (*differing_terms(before, self.sent.terms), *differing_tree(self.before, self.sent.tree))

    def outside(self, scope: Scope) -> list[dict[str, Any]]:
        """Members of a problem's errors for all that it changes outside of a scope. Unseen queues are not named."""
        notes = (*outside(self.before, self.sent.tree, scope), *beside(self.terms, scope))
        return [self.sent.error(note) for note in notes]

    def diff(self) -> list[dict[str, Any]]:
        """All changes, a row for each sentence."""
        return differing(self.changes, self.terms)


def differing(found: Iterable[QueueChange], beside: Iterable[Setting]) -> list[dict[str, Any]]:
    """Changes as rows of an answer, one for each sentence, first of what is ``beside`` the queues."""
    rows = [_row("", ChangeKind.CHANGED, one, text(describe_tree_setting(one))) for one in beside]
    for change in found:
        told = zip(_settings(change), describe_change(change), strict=True)
        rows += [_row(change.path, change.kind, one, text(message)) for one, message in told]
    return rows


def _settings(change: QueueChange) -> tuple[Setting, ...]:
    """What each sentence is about; of a queue that moved the first is where it was, and is."""
    if change.kind is ChangeKind.CHANGED:
        return change.settings
    if change.kind is ChangeKind.MOVED:
        return (Setting(field="", before=change.former, after=change.path), *change.settings)
    return (Setting(field=""),)


def _row(queue: str, kind: ChangeKind, setting: Setting, sentence: str) -> dict[str, Any]:
    return {"queue": queue, "kind": kind.value, **msgspec.structs.asdict(setting), "sentence": sentence}
