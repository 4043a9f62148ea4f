"""What a queue has of others beyond what it is promised, and they of it, as far as a reader may know them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from engine.model.quantities import PODS, Amounts, column
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import QueueTree
from engine.policies import reach_of
from engine.tree.lending import NOBODY, Loan, Match, lent_amounts, loans, matches
from engine.tree.reach import Promise
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.queues.models import Revision


@dataclass(frozen=True)
class Part:
    """Of whom, or whose, and how much."""

    who: Literal["queue", "others", "unguaranteed"]
    """``others``: queues that are not the reader's to see; ``unguaranteed``: what no queue is guaranteed."""
    amount: int
    queue: str = ""


@dataclass(frozen=True)
class Dealing:
    """All that a queue, with those below it, borrows or lends of one resource."""

    resource: str
    borrows: bool
    amount: int
    parts: tuple[Part, ...]
    """The largest first."""


Figures = Mapping[str, Mapping[str, Any]]
"""As ClusterStatus.queues."""


def dealings(scope: Scope, figures: Figures, revision: Revision, tree: QueueTree, path: str) -> list[Dealing]:
    """What a queue borrows of others and lends them."""
    return [
        dealing
        for name, used, promised in _grounds(figures, revision, tree)
        for dealing in _of(scope, loans(tree, _matched(tree, used, promised), path), name, path)
    ]


def lent_by_queue(figures: Figures, revision: Revision, tree: QueueTree) -> dict[str, Amounts]:
    """Path -> what it lends of each resource; of those that lend any."""
    found: dict[str, Amounts] = defaultdict(dict)
    for name, used, promised in _grounds(figures, revision, tree):
        for path, amount in lent_amounts(tree, _matches(tree, used, promised)).items():
            found[path][name] = amount
    return found


_Each = tuple[int | None, ...]
"""An amount for each queue in the order of the tree; None where it has none."""


def _grounds(figures: Figures, revision: Revision, tree: QueueTree) -> Iterator[tuple[str, _Each, _Each]]:
    """Each resource, what queues use of it, and what they are promised."""
    used = [figures.get(path, _NOTHING).get("used", _NOTHING) for path in tree.walk()]
    promised = _promises(figures, revision, tree)
    for name in sorted(set[str]().union(*promised) - {PODS}, key=column):
        yield name, tuple([one.get(name) for one in used]), tuple([one.get(name) for one in promised])


@lru_cache(maxsize=16)  # every page of a queue asks, and all have the same figures until the next pass
def _matched(tree: QueueTree, used: _Each, promised: _Each) -> tuple[Match, ...]:
    return tuple(_matches(tree, used, promised))


def _matches(tree: QueueTree, used: _Each, promised: _Each) -> Iterator[Match]:
    return matches(tree, _by_path(tree, used), _by_path(tree, promised))


def _by_path(tree: QueueTree, amounts: _Each) -> dict[str, int]:
    return {path: amount for path, amount in zip(tree.walk(), amounts, strict=True) if amount is not None}


def _promises(figures: Figures, revision: Revision, tree: QueueTree) -> Sequence[Mapping[str, int]]:
    """What each queue deserves, or is guaranteed; empty where lending goes by other rules, or by none."""
    if any("deserved" in one for one in figures.values()):
        leaves = frozenset(tree.leaves)
        return [figures.get(path, _NOTHING).get("deserved", {}) if path in leaves else {} for path in tree.walk()]
    if reach_of(revision.policy, {}).promise is not Promise.GUARANTEE:
        return ()
    return tree.once("guarantees", lambda: tuple(tree[path].guaranteed for path in tree.walk()))


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _of(scope: Scope, found: Iterable[Loan], resource: str, path: str) -> Iterator[Dealing]:
    sides: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for loan in found:
        borrows = is_inside(loan.borrower, path)
        other = _other(scope, loan, borrows=borrows)
        sides[borrows][other] = sides[borrows].get(other, 0) + loan.amount
    for borrows, amounts in sides.items():
        if amounts:
            yield Dealing(resource, borrows, sum(amounts.values()), tuple(_parts(amounts.items())))


_OTHERS = "*"


def _other(scope: Scope, loan: Loan, *, borrows: bool) -> str:
    other = loan.lender if borrows else loan.borrower
    return other if other == NOBODY or scope.has_path(other) else _OTHERS


def _parts(amounts: Iterable[tuple[str, int]]) -> Iterator[Part]:
    for other, amount in sorted(amounts, key=lambda pair: (-pair[1], pair[0])):
        if other in (NOBODY, _OTHERS):
            yield Part("unguaranteed" if other == NOBODY else "others", amount)
        else:
            yield Part("queue", amount, other)
