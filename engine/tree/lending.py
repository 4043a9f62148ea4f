"""Matches what queues use beyond their promise with what others are promised and do not use.

The promise of a queue is its guarantee, or under policy ``deserved`` what it deserves. A parent without a promise of
its own is promised what those below it are promised together; a parent with more lends the rest itself, to those below
it first. The nearest queues lend first: what queues below a parent use of each other is no part of what the parent
borrows or lends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from operator import sub

import msgspec

from engine.model.queue_tree import QueueTree

NOBODY = ""
"""The lender of what is used beyond all promises."""


class Loan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one queue uses of another queue's promise, in one resource. Queues are leaves, or parents with a rest."""

    borrower: str
    lender: str
    amount: int


class Match(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What queues borrow from each other whose nearest common parent is ``parent``. Both sides have the same sum."""

    parent: str
    borrowed: dict[str, int]
    lent: dict[str, int]


class _Side(msgspec.Struct, kw_only=True, gc=False):
    """A queue as it is seen by the queues beside it."""

    promised: int
    within: int
    """What it, or the queues below it, use of its promise."""
    over: dict[str, int]
    idle: dict[str, int]

    @property
    def left(self) -> int:
        """Return what nobody below the queue uses of its promise."""
        return max(0, self.promised - self.within)

    def take(self, found: Match) -> None:
        """Count a match that was found below the queue."""
        self.within += sum(found.lent.values())
        self.over, self.idle = _less(self.over, found.borrowed), _less(self.idle, found.lent)


def matches(tree: QueueTree, used: Mapping[str, int], promised: Mapping[str, int]) -> Iterator[Match]:
    """Yield the matches of one resource below every parent that has any, the deepest first.

    The last match is what is used beyond all promises. ``used``: leaf -> amount. ``promised``: path -> amount; if
    missing, what is promised below that path.
    """
    sides: dict[str, _Side] = {}
    for path in reversed(tree.walk()):
        below = [sides.pop(child) for child in tree.children[path]]
        if not below:
            sides[path] = _leaf(path, used.get(path, 0), promised.get(path, 0))
            continue
        sides[path] = side = _parent(path, below, promised)
        if found := _match(path, side):
            yield found
            side.take(found)
        side.idle = divide(min(sum(side.idle.values()), side.left), side.idle)
    if beyond := sides[tree.root].over:
        yield Match(parent=NOBODY, borrowed=beyond, lent={NOBODY: sum(beyond.values())})


def loans(tree: QueueTree, matched: Iterable[Match], path: str) -> tuple[Loan, ...]:
    """Return what a queue, with those below it, borrows and lends of one resource, by the borrowers' names.

    ``matched``: all matches of the resource. Each borrower borrows from every lender in proportion to what that lends
    there. The amounts are exact to the unit.
    """
    above = {NOBODY, *tree.lineage(path)} - {path}
    near = [found for found in matched if found.parent in above]
    return tuple(sorted(chain.from_iterable(_pairs(found, tree, path) for found in near), key=_order))


def lent_amounts(tree: QueueTree, matched: Iterable[Match]) -> dict[str, int]:
    """Return by path what a queue, with those below it, lends to queues beside and above it, unless that is nothing."""
    found: dict[str, int] = {}
    for match in matched:
        for lender, amount in match.lent.items():
            for path in () if lender == NOBODY else tree.lineage(lender):
                if path == match.parent:
                    break
                found[path] = found.get(path, 0) + amount
    return found


def divide(amount: int, limits: Mapping[str, int]) -> dict[str, int]:
    """Return an amount divided in proportion to limits whose sum is at least the amount.

    The parts are whole units, none is above its limit, and together they are the amount. Parts of 0 are left out.
    """
    parts = _parts(amount, list(limits.values()))
    return {one: part for one, part in zip(limits, parts, strict=True) if part}


def _leaf(path: str, used: int, promised: int) -> _Side:
    within = min(used, promised)
    over, idle = used - within, promised - within
    return _Side(promised=promised, within=within, over={path: over} if over else {}, idle={path: idle} if idle else {})


def _parent(path: str, below: Sequence[_Side], promised: Mapping[str, int]) -> _Side:
    together = sum(one.promised for one in below)
    own = promised.get(path, together)
    idle = {lender: amount for one in below for lender, amount in one.idle.items()}
    if own > together:
        idle[path] = own - together
    return _Side(
        promised=own,
        within=sum(one.within for one in below),
        over={borrower: amount for one in below for borrower, amount in one.over.items()},
        idle=idle,
    )


def _match(path: str, side: _Side) -> Match | None:
    """Return the match of the queues below a parent, or None if nothing is borrowed.

    The parent's own rest is lent first, as it is promised to all queues below it and to no other.
    """
    over = sum(side.over.values())
    rest = min(over, side.idle.get(path, 0), side.left)
    others = {lender: amount for lender, amount in side.idle.items() if lender != path}
    more = min(over - rest, sum(others.values()), side.left - rest)
    if not rest + more:
        return None
    given = divide(more, others) | ({path: rest} if rest else {})
    return Match(parent=path, borrowed=divide(rest + more, side.over), lent=given)


def _less(amounts: Mapping[str, int], parts: Mapping[str, int]) -> dict[str, int]:
    return {one: left for one, amount in amounts.items() if (left := amount - parts.get(one, 0))}


def _pairs(found: Match, tree: QueueTree, path: str) -> Iterator[Loan]:
    """Yield the loans of which exactly one side is the queue or lies below it."""
    inside = {one for one in (*found.borrowed, *found.lent) if one != NOBODY and tree.contains(path, one)}
    last = max(inside, default="") if inside.isdisjoint(found.lent) else max(found.borrowed)
    lenders, left = list(found.lent), list(found.lent.values())
    for borrower, amount in sorted(found.borrowed.items()):
        if borrower > last:  # what the following borrowers have does not concern the queue
            return
        parts = _parts(amount, left)
        left = list(map(sub, left, parts))
        for lender, part in zip(lenders, parts, strict=True):
            if part and (borrower in inside) != (lender in inside):
                yield Loan(borrower=borrower, lender=lender, amount=part)


def _parts(amount: int, limits: Sequence[int]) -> list[int]:
    upto = list(accumulate(limits, initial=0))
    whole = upto[-1] or 1
    bounds = [amount * one // whole for one in upto]
    return [high - low for low, high in pairwise(bounds)]


def _order(loan: Loan) -> tuple[str, str]:
    return loan.borrower, loan.lender
