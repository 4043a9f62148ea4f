"""What a queue has of others beyond what it is promised, and they of it, as far as a reader may know them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
        for path, amount in lent_amounts(tree, matches(tree, dict(used), dict(promised))).items():
            found[path][name] = amount
    return found


_Each = tuple[tuple[str, int], ...]


def _grounds(figures: Figures, revision: Revision, tree: QueueTree) -> Iterator[tuple[str, _Each, _Each]]:
    """Each resource, what leaves use of it, and what queues are promised."""
    used = {leaf: figures[leaf]["used"] for leaf in tree.leaves if leaf in figures}
    promised = _promises(figures, revision, tree)
    for name in sorted({name for one in promised.values() for name in one} - {PODS}, key=column):
        yield name, _each(used, name), _each(promised, name)


@lru_cache(maxsize=64)  # every page of a queue asks, and all have the same figures until the next pass
def _matched(tree: QueueTree, used: _Each, promised: _Each) -> tuple[Match, ...]:
    return tuple(matches(tree, dict(used), dict(promised)))


def _promises(figures: Figures, revision: Revision, tree: QueueTree) -> Mapping[str, Amounts]:
    """Path -> what it deserves, or is guaranteed; empty where lending goes by other rules, or by none."""
    shares = {leaf: figures[leaf]["deserved"] for leaf in tree.leaves if "deserved" in figures.get(leaf, {})}
    if shares or reach_of(revision.policy, {}).promise is not Promise.GUARANTEE:
        return shares
    return {path: queue.guaranteed for path, queue in tree.queues.items()}


def _each(amounts: Mapping[str, Amounts], resource: str) -> _Each:
    return tuple([(path, each[resource]) for path, each in amounts.items() if resource in each])


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
