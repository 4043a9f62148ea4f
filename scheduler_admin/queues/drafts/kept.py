"""What a process keeps of the drafts that people are at: an act changes a few of a thousand queues."""

from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache, cached

from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.services.hierarchies import tree_of

if TYPE_CHECKING:
    from engine.formats.tree_json.document import Known
    from engine.formats.tree_json.percentages import PercentageBase
    from scheduler_admin.accounts.scopes import Scope
    from scheduler_admin.queues.drafts.selectors import DraftState
    from scheduler_admin.queues.drafts.tree_document import Placed

KEPT_QUEUES = 75_000
"""Queues of all drafts that are kept together, as three of the largest trees have. A queue takes 4 kB."""
KEPT_DRAFTS = 8
"""The most drafts that are kept, however small they are."""


class KeptDraft:
    """What was read and found out about a draft the last time. Whoever uses it compares it with what is there now."""

    def __init__(self, queues: int) -> None:
        self.size = max(queues, KEPT_QUEUES // KEPT_DRAFTS)
        """How much of KEPT_QUEUES it takes."""
        self.rows: dict[int, DraftQueue] = {}
        """Key -> queue."""
        self.placed: dict[int, Placed] = {}
        """Key -> queue in its place."""
        self.read: Known = {}
        """What its queues were read as."""
        self.states: dict[Scope, tuple[object, PercentageBase | None, DraftState]] = {}
        """For each scope that changes are checked against, what was found, with all that it came from."""


_KEPT: LRUCache[tuple[int | None, datetime | None], KeptDraft] = LRUCache(KEPT_QUEUES, getsizeof=lambda kept: kept.size)
_LOCK = Lock()


@cached(_KEPT, key=lambda draft: (draft.pk, draft.created_at), lock=_LOCK)
def kept_of(draft: Draft) -> KeptDraft:
    """Return what is kept of a draft, nothing at first.

    The time tells a draft from one that had its number before a database was restored.
    """
    return KeptDraft(len(tree_of(draft.base).queues))


def forget() -> None:
    """Read and work out all anew, as after rows were written by other means than acts."""
    with _LOCK:
        _KEPT.clear()
