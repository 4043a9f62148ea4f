"""A queue of a draft that gets another path keeps what it was called: its pods name that."""

from collections.abc import Iterable

from scheduler_admin.queues.draft_form import listed
from scheduler_admin.queues.draft_rows import placed_rows
from scheduler_admin.queues.models import Draft, DraftQueue

LONGEST_LIST = 5000
"""Of any text, such as many namespaces, in characters."""


def remember_path(draft: Draft, queue: DraftQueue) -> list[DraftQueue]:
    """Let a queue that gets another path say which it has in the base: its pods name that. Who else said so by now.

    What lies below it needs none of its own: it is found by that of the queue above.
    """
    above = next(one.path for one in placed_rows(draft) if one.pk == queue.parent_id)
    now, was = f"{above}.{queue.name}", queue.origin
    kept = [path for path in listed(queue.former_paths) if path not in (now, was)]
    queue.former_paths = joined([*kept, was] if was and was != now else kept)
    others = draft.queues.filter(former_paths__contains=was).exclude(pk=queue.pk) if was else ()
    claiming = [one for one in others if was in listed(one.former_paths)]
    for one in claiming:
        one.former_paths = joined(path for path in listed(one.former_paths) if path != was)
    return claiming


def joined(paths: Iterable[str]) -> str:
    """A list of names as it is typed; of more than fit, the last."""
    kept = [*paths]
    while len(text := ", ".join(kept)) > LONGEST_LIST:
        del kept[0]
    return text
