"""Matches what queues use beyond their promise with what others are promised and do not use.

The promise of a queue is its guarantee, or under policy ``deserved`` what it deserves. A parent without a promise of
its own is promised what those below it are promised together; a parent with more lends the rest itself, to those below
it first. The nearest queues lend first: what queues below a parent use of each other is no part of what the parent
borrows or lends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
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
    def unused(self) -> int:
        """Return what nobody below the queue uses of its promise."""
        return max(0, self.promised - self.within)

    def take(self, match: Match) -> None:
        """Count a match that was found below the queue."""
        self.within += sum(match.lent.values())
        self.over, self.idle = _less(self.over, match.borrowed), _less(self.idle, match.lent)


def matches(tree: QueueTree, used: Mapping[str, int], promised: Mapping[str, int]) -> Iterator[Match]:
    """Yield the matches of one resource below every parent that has any, the deepest first.

    The last match is what is used beyond all promises. ``used``: leaf -> amount. ``promised``: path -> amount; if
    missing, what is promised below that path.
    """
    sides: dict[str, _Side] = {}
    for path in reversed(tree.walk()):
        if not tree.children[path] and path != tree.root:
            continue
        sides[path] = side = _side(path, tree.children[path], sides, used, promised)
        if match := _match(path, side):
            yield match
            side.take(match)
        side.idle = divide(min(sum(side.idle.values()), side.unused), side.idle)
    if beyond := sides[tree.root].over:
        yield Match(parent=NOBODY, borrowed=beyond, lent={NOBODY: sum(beyond.values())})


def loans(tree: QueueTree, matched: Iterable[Match], path: str) -> Iterator[Loan]:
    """Yield what a queue, with those below it, borrows and lends of one resource.

    ``matched``: all matches of the resource. Each borrower borrows from every lender in proportion to what that lends
    there. The amounts are exact to the unit.
    """
    above = {NOBODY, *tree.lineage(path)} - {path}
    for match in matched:
        if match.parent in above:
            yield from _pairs(match, path)


def lent_amounts(tree: QueueTree, matched: Iterable[Match]) -> dict[str, int]:
    """Return by path what a queue, with those below it, lends to queues beside and above it, unless that is nothing."""
    lent: dict[str, int] = {}
    for match in matched:
        for lender, amount in match.lent.items():
            for path in () if lender == NOBODY else tree.lineage(lender):
                if path == match.parent:
                    break
                lent[path] = lent.get(path, 0) + amount
    return lent


def divide(amount: int, limits: Mapping[str, int]) -> dict[str, int]:
    """Return an amount divided in proportion to limits whose sum is at least the amount.

    The parts are whole units, none is above its limit, and together they are the amount. Parts of 0 are left out.
    """
    parts = _parts(amount, list(limits.values()))
    return {name: part for name, part in zip(limits, parts, strict=True) if part}


def _side(
    path: str, children: Sequence[str], sides: dict[str, _Side], used: Mapping[str, int], promised: Mapping[str, int]
) -> _Side:
    """Return a parent's side, and take those of its children out of ``sides``, where leaves are not.

    Of a large tree nearly all queues are leaves, so they have no side of their own. A root without children is a leaf.
    """
    together = within = 0
    over: dict[str, int] = {}
    idle: dict[str, int] = {}
    for child in children or (path,):
        if side := sides.pop(child, None):
            together += side.promised
            within += side.within
            over.update(side.over)
            idle.update(side.idle)
            continue
        uses, own = used.get(child, 0), promised.get(child, 0)
        together += own
        within += min(uses, own)
        if uses > own:
            over[child] = uses - own
        elif uses < own:
            idle[child] = own - uses
    guarantee = promised.get(path, together)
    if guarantee > together:
        idle[path] = guarantee - together
    return _Side(promised=guarantee, within=within, over=over, idle=idle)


def _match(path: str, side: _Side) -> Match | None:
    """Return the match of the queues below a parent, or None if nothing is borrowed.

    The parent's own rest is lent first, as it is promised to all queues below it and to no other.
    """
    over = sum(side.over.values())
    from_parent = min(over, side.idle.get(path, 0), side.unused)
    idle_children = {lender: amount for lender, amount in side.idle.items() if lender != path}
    from_children = min(over - from_parent, sum(idle_children.values()), side.unused - from_parent)
    if not from_parent + from_children:
        return None
    lent = divide(from_children, idle_children) | ({path: from_parent} if from_parent else {})
    return Match(parent=path, borrowed=divide(from_parent + from_children, side.over), lent=lent)


def _less(amounts: Mapping[str, int], parts: Mapping[str, int]) -> dict[str, int]:
    return {name: remaining for name, amount in amounts.items() if (remaining := amount - parts.get(name, 0))}


def _pairs(match: Match, path: str) -> Iterator[Loan]:
    """Yield the loans of which exactly one side is the queue or lies below it."""
    inside = _inside(path, (*match.borrowed, *match.lent))
    lenders, unlent = list(match.lent), list(match.lent.values())
    if len(lenders) == 1:  # as of all that is used beyond all promises: nothing has to be divided
        (lender,) = lenders
        for borrower, amount in match.borrowed.items():
            if (borrower in inside) != (lender in inside):
                yield Loan(borrower=borrower, lender=lender, amount=amount)
        return
    last = max(inside, default="") if inside.isdisjoint(match.lent) else max(match.borrowed)
    for borrower, amount in sorted(match.borrowed.items()):
        if borrower > last:  # what the following borrowers have does not concern the queue
            return
        parts = _parts(amount, unlent)
        unlent = list(map(sub, unlent, parts))
        for lender, part in zip(lenders, parts, strict=True):
            if part and (borrower in inside) != (lender in inside):
                yield Loan(borrower=borrower, lender=lender, amount=part)


def _inside(path: str, members: Iterable[str]) -> set[str]:
    below = f"{path}."
    return {member for member in members if member == path or member.startswith(below)}


def _parts(amount: int, limits: Sequence[int]) -> list[int]:
    upto = list(accumulate(limits, initial=0))
    whole = upto[-1] or 1
    bounds = [amount * bound // whole for bound in upto]
    return [high - low for low, high in pairwise(bounds)]
