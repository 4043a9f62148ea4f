"""Whom a queue may preempt and who may preempt it, each with the reason at the border."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from engine.explain import Message, border_clause, conditions
from engine.model.queue_tree import QueueTree
from engine.tree.reach import Border, neighbours
from engine.tree.reach import Reach as Rules


@dataclass(frozen=True)
class Group:
    """Leaves behind one border, none where they are not told.

    ``because`` is None where that would tell of a queue that the reader may not see.
    """

    queues: list[str]
    because: Message | None


@dataclass(frozen=True)
class Reach:
    """Both sides of a queue: open borders, then the shut ones that the reader may know of.

    ``itself``: why its asks may take from the queue itself, None where they may not. ``conditions``: on what that
    depends.
    """

    may_preempt: list[Group]
    spared: list[Group]
    preempted_by: list[Group]
    kept_away: list[Group]
    itself: Message | None
    conditions: Message


neighbours_of = cached(LRUCache(40_000, getsizeof=len), key=hashkey, lock=Lock())(neighbours)
"""``neighbours``, kept as a page asks again at each of its refreshes: of forty queues of a tree of 1,000, some 8 MB."""


@lru_cache(maxsize=32)
def reach(tree: QueueTree, path: str, seen: frozenset[str], rules: Rules, *, tells_askers: bool = True) -> Reach:
    """Both sides of a queue for a reader who may see the queues ``seen``: of others only names, where they matter.

    ``tells_askers``: whether those that may preempt it are named, though they are others'.
    """
    found = neighbours_of(tree, path, rules)
    own = rules.open_to_itself(tree, path)
    out = [(each.path, each.out) for each in found]
    into = [(each.path, each.into) for each in found]
    return Reach(
        may_preempt=_groups(out, seen, allowed=True),
        spared=_groups(out, seen, allowed=False),
        preempted_by=_groups(into, seen, allowed=True, names_others=tells_askers),
        kept_away=_groups(into, seen, allowed=False),
        itself=border_clause(rules.border(tree, path, path)) if own else None,
        conditions=conditions(rules),
    )


def _groups(
    borders: Sequence[tuple[str, Border]], seen: Container[str], *, allowed: bool, names_others: bool = True
) -> list[Group]:
    groups: dict[str, Group] = {}
    clauses: dict[tuple[str, str], tuple[str, Message]] = {}  # few: most of a thousand borders are alike
    for path, each in borders:
        if each.allowed is allowed and path not in seen and not names_others:
            groups.setdefault("", Group([], None))
        elif each.allowed is allowed and (allowed or path in seen):
            key, because = "hidden", None
            if path in seen:
                if (each.reason, each.queue) not in clauses:
                    clause = border_clause(each)
                    clauses[each.reason, each.queue] = repr(clause), clause
                key, because = clauses[each.reason, each.queue]
            groups.setdefault(key, Group([], because)).queues.append(path)
    return list(groups.values())
