"""What each draft of a list changes: worked out once for each version of a draft, and kept without its queues."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from threading import Lock

from cachetools import LRUCache
from django.db import transaction

from engine.formats.tree_json.diff import QueueChange, Setting
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.selectors import DraftState
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.services.consumers import consumers_of

KEPT_CHANGES = 50_000
"""Changed queues of all drafts that are kept together. One takes about 1 kB; an imported tree may change each queue."""


@dataclass(frozen=True)
class DraftSummary:
    """A draft at one version, with what a list says of it."""

    draft: Draft
    changes: tuple[QueueChange, ...]
    beside: tuple[Setting, ...]
    """What it changes beside its queues."""
    errors: tuple[str, ...]
    """The path of the queue that each error is about; empty: it is about the tree as a whole."""

    def part(self, scope: Scope) -> "DraftSummary":
        """What of it lies inside a scope."""
        if scope.everything:
            return self
        return replace(
            self,
            changes=tuple(change for change in self.changes if scope.has_path(change.path)),
            beside=(),
            errors=tuple(path for path in self.errors if scope.has_path(path)),
        )


_KEPT: LRUCache[tuple[int, datetime], tuple[object, DraftSummary]] = LRUCache(
    KEPT_CHANGES, getsizeof=lambda kept: 1 + len(kept[1].changes)
)
_LOCK = Lock()


def summaries(drafts: Iterable[Draft]) -> list[DraftSummary]:
    """Return the summary of each of some drafts of one hierarchy; only the queues of those are read that changed."""
    found = list(drafts)
    if not found:
        return []
    hierarchy = found[0].hierarchy
    consumers, held = consumers_of(hierarchy), hierarchy.capacity
    now = {draft.pk: (draft.version, draft.base_id, selectors.unenforceable(draft), consumers, held) for draft in found}
    known = {draft.pk: kept for draft in found if (kept := _known(draft, now[draft.pk])) is not None}
    for state in selectors.states([draft for draft in found if draft.pk not in known], consumers):
        made, draft = _summed(state), state.draft
        known[draft.pk] = made
        if 1 + len(made.changes) <= KEPT_CHANGES:
            transaction.on_commit(partial(_keep, draft, (now[draft.pk], made)))  # what is taken back never was
    return [replace(known[draft.pk], draft=draft) for draft in found]


def _known(draft: Draft, now: object) -> DraftSummary | None:
    with _LOCK:
        then, kept = _KEPT.get((draft.pk, draft.created_at), (None, None))
    return kept if then == now else None


def _summed(state: DraftState) -> DraftSummary:
    at = (note.path if note.index is None else state.rows[note.index].path for note in state.errors)
    return DraftSummary(state.draft, state.changes, state.beside, tuple(at))


def _keep(draft: Draft, kept: tuple[object, DraftSummary]) -> None:
    with _LOCK:
        _KEPT[draft.pk, draft.created_at] = kept


def forget() -> None:
    """Work all out anew, as in a process that has just begun."""
    with _LOCK:
        _KEPT.clear()
