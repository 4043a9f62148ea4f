"""What an audit says: plain data, serialisable, with the arithmetic that a page can show line by line."""

import operator
from collections.abc import Callable
from enum import StrEnum

import msgspec


class Law(StrEnum):
    """A rule that every decision is held against before it is carried out."""

    MAY_PREEMPT = "may-preempt"
    """The ask is pending, runs in a leaf, and nothing forbids it to preempt."""
    ONE_NODE = "one-node"
    """There are victims, and all are bound to the decision's node and not yet on their way out."""
    FITS = "fits"
    """With the victims, and whoever is on the way out already, gone, the ask fits on the node."""
    MINIMAL = "minimal"
    """No victim could stay."""
    MAX = "max"
    """With the victims gone the ask fits under the max of its leaf and of every queue above."""
    OPT_OUT = "opt-out"
    """A pod that opted out goes only as the last resort."""
    GUARANTEE = "guarantee"
    """No queue is taken below its guarantee."""
    APPLICATION = "application"
    """Nothing is taken from the ask's own application or queue."""
    ENTITLED = "entitled"
    """The ask's queue is below its guarantee, and the victims lie outside of what claims it."""
    ABOVE_GUARANTEE = "above-guarantee"
    """Victims come from queues above their guarantee."""
    PRIORITY = "priority"
    """Victims have lower or equal priority."""
    FENCE = "fence"
    """Victims lie inside the ask's fence."""
    DISABLED = "disabled"
    """Nothing is taken where preemption is turned off."""
    SHIELDED = "shielded"
    """Protected pods, a DaemonSet's pods and pods of no queue are never victims."""
    WHOLE = "whole"
    """A workload goes as a whole."""
    QUOTA = "quota"
    """With the victims gone the quota of the ask's queue holds what it asks."""
    BORROWS = "borrows"
    """Other queues give only of what they borrow."""
    DESERVED = "deserved"
    """With the ask its queue has no more than it deserves."""
    OVERUSED = "overused"
    """Victims come from queues that use more than they deserve."""
    TOLD = "told"
    """The victims' queues were told to give back, and had the time to do so by themselves."""
    BUDGETS = "budgets"
    """Disruption budgets are kept."""
    PAUSED = "paused"
    """Nothing is taken where people have paused evictions."""
    SCOPE = "scope"
    """Nothing is taken, and for nobody, outside the places that enforce is limited to."""
    SYSTEM = "system"
    """Nothing is taken from the cluster's own namespace."""
    PROGRESS = "progress"
    """What queues lack of their guarantees gets less, so that preemption alone can't loop."""


class Relation(StrEnum):
    """How the two sides of a line are compared."""

    AT_LEAST = ">="
    ABOVE = ">"
    BELOW = "<"
    AT_MOST = "<="
    EQUAL = "="
    DIFFERS = "≠"
    INSIDE = "inside"
    """The left queue lies in the subtree of the right one, or is it."""
    OUTSIDE = "outside"


class Sum(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="sum"):
    """``start - minus... + plus = result``, compared with ``bound``; amounts in the resource's integer unit."""

    subject: str
    """A queue's path, a node's name, a pod's ``namespace/name``; empty: the whole tree."""
    resource: str
    start: int
    minus: tuple[int, ...] = ()
    plus: int = 0
    relation: Relation
    bound: int
    result: int

    @property
    def holds(self) -> bool:
        """Whether the comparison is true."""
        compare = _COMPARISONS.get(self.relation)
        if compare is None:
            raise ValueError(f"{self.relation} compares queues, not amounts")
        return compare(self.result, self.bound)


class ComparedValues(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="comparison"):
    """Two things that are not amounts, compared: ``500 <= 1000``, ``root.a ≠ root.b``."""

    subject: str
    """The pod's ``namespace/name`` or the node's name that it is about."""
    left: str
    relation: Relation
    right: str
    holds: bool


Line = Sum | ComparedValues


class LawCheck(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One law held against one decision. Without lines there was nothing that could break it."""

    law: Law
    holds: bool
    sums: tuple[Line, ...] = ()

    @classmethod
    def of(cls, law: Law, lines: list[Sum] | list[ComparedValues] | list[Line]) -> "LawCheck":
        """A check that holds when all its lines do."""
        return cls(law=law, holds=all(line.holds for line in lines), sums=tuple(lines))


def amount(
    subject: str,
    resource: str,
    start: int,
    relation: Relation,
    bound: int,
    *,
    minus: tuple[int, ...] = (),
    plus: int = 0,
) -> Sum:
    """A line of arithmetic with its result worked out."""
    return Sum(
        subject=subject,
        resource=resource,
        start=start,
        minus=minus,
        plus=plus,
        relation=relation,
        bound=bound,
        result=start - sum(minus) + plus,
    )


def same(subject: str, left: str, right: str) -> ComparedValues:
    """A line that holds when both texts are equal."""
    return ComparedValues(subject=subject, left=left, relation=Relation.EQUAL, right=right, holds=left == right)


def differs(subject: str, left: str, right: str) -> ComparedValues:
    """A line that holds when the texts are not equal."""
    return ComparedValues(subject=subject, left=left, relation=Relation.DIFFERS, right=right, holds=left != right)


_COMPARISONS: dict[Relation, Callable[[int, int], bool]] = {
    Relation.AT_LEAST: operator.ge,
    Relation.ABOVE: operator.gt,
    Relation.BELOW: operator.lt,
    Relation.AT_MOST: operator.le,
    Relation.EQUAL: operator.eq,
    Relation.DIFFERS: operator.ne,
}
