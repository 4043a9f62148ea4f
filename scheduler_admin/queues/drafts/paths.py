"""A queue of a draft that gets another path keeps what it was called: its pods name that."""

from collections.abc import Iterable

from scheduler_admin.queues.drafts.rows import placed_rows
from scheduler_admin.queues.drafts.texts import listed
from scheduler_admin.queues.drafts.tree_document import assign, text_of
from scheduler_admin.queues.models import Draft, DraftQueue

FORMER_PATHS = "former_paths"
LONGEST_LIST = 5000
"""Of any text, such as many namespaces, in characters."""


def remember_path(draft: Draft, queue: DraftQueue) -> list[DraftQueue]:
    """Let a queue that gets another path say which it has in the base: its pods name that. Who else said so by now.

    What lies below it needs none of its own: it is found by that of the queue above.
    """
    above = next(one.path for one in placed_rows(draft) if one.pk == queue.parent_id)
    now, was = f"{above}.{queue.name}", queue.origin
    kept = [path for path in _former_paths(queue) if path not in (now, was)]
    assign(queue, FORMER_PATHS, joined([*kept, was] if was and was != now else kept))
    others = draft.queues.filter(settings__former_paths__icontains=was).exclude(pk=queue.pk) if was else ()
    claiming = [one for one in others if was in _former_paths(one)]
    for one in claiming:
        assign(one, FORMER_PATHS, joined(path for path in _former_paths(one) if path != was))
    return claiming


def _former_paths(queue: DraftQueue) -> list[str]:
    return listed(text_of(queue, FORMER_PATHS))


def joined(paths: Iterable[str]) -> str:
    """A list of names as it is typed; of more than fit, the last."""
    kept = [*paths]
    while len(text := ", ".join(kept)) > LONGEST_LIST:
        del kept[0]
    return text
