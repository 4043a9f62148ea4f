"""Define the results of an audit: plain, serializable data with the arithmetic that a page shows line by line."""

import operator
from collections.abc import Callable
from enum import StrEnum

import msgspec


class Invariant(StrEnum):
    """An invariant that every decision is checked against before it is carried out."""

    MAY_PREEMPT = "may-preempt"
    """The preemptor is a pending pod of a leaf, and nothing forbids it to preempt."""
    ONE_NODE = "one-node"
    """There are victims, and all are bound to the decision's node and not yet terminating."""
    MEMBER_NODES = "member-nodes"
    """Each victim, or a pod of its whole group, is on the node of a member of the gang, and not yet terminating."""
    FITS = "fits"
    """The pending pod fits on the node once the victims and all terminating pods are gone."""
    MINIMAL = "minimal"
    """No victim could be reprieved."""
    MAX = "max"
    """Without the victims, the pending pod fits under the max of its leaf and of every queue above."""
    OPT_OUT = "opt-out"
    """A pod that opted out is evicted only as the last resort."""
    GUARANTEE = "guarantee"
    """No queue is taken below its guarantee."""
    APPLICATION = "application"
    """Nothing is taken from the preemptor's own application or queue."""
    ENTITLED = "entitled"
    """The preemptor's queue is below its guarantee, and the victims are outside the queue that claims it."""
    ABOVE_GUARANTEE = "above-guarantee"
    """Victims come from queues above their guarantee."""
    PRIORITY = "priority"
    """Victims have lower or equal priority."""
    FENCE = "fence"
    """Victims are inside the preemptor's fence."""
    DISABLED = "disabled"
    """Nothing is taken where preemption is disabled."""
    SHIELDED = "shielded"
    """Protected pods, DaemonSet pods and pods of no queue are never victims."""
    WHOLE = "whole"
    """A workload is evicted as a whole."""
    QUOTA = "quota"
    """Without the victims, the quota of the preemptor's queue is enough for its request."""
    BORROWS = "borrows"
    """Other queues lose only what they borrow."""
    DESERVED = "deserved"
    """With the pending pod, its queue has no more than it deserves."""
    OVERUSED = "overused"
    """Victims come from queues that use more than they deserve."""
    NOTIFIED = "told"
    """The victims' queues were notified to give back, and had the time to do so by themselves."""
    BUDGETS = "budgets"
    """Disruption budgets are respected."""
    PAUSED = "paused"
    """Nothing is taken from, or for, a queue in which evictions are paused."""
    SCOPE = "scope"
    """Nothing is taken from, or for, pods outside the queues and namespaces that enforce mode is limited to."""
    SYSTEM = "system"
    """Nothing is taken from the cluster's own namespace."""
    PROGRESS = "progress"
    """The total by which queues are below their guarantees decreases, so that preemption alone cannot loop."""


class Relation(StrEnum):
    """How the two sides of a line are compared."""

    AT_LEAST = ">="
    ABOVE = ">"
    BELOW = "<"
    AT_MOST = "<="
    EQUAL = "="
    DIFFERS = "≠"
    INSIDE = "inside"
    """The left queue is in the subtree of the right queue, or is that queue."""
    OUTSIDE = "outside"


class Sum(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="sum"):
    """One line of arithmetic, ``start - minus... + plus = result``, compared with ``bound``.

    Amounts are in the resource's integer unit.
    """

    subject: str
    """A queue's path, a node's name, or a pod's ``namespace/name``; empty for the whole tree."""
    resource: str
    start: int
    minus: tuple[int, ...] = ()
    plus: int = 0
    relation: Relation
    bound: int
    result: int

    @property
    def holds(self) -> bool:
        """Return whether the comparison is true. Raises ValueError for a relation between queues."""
        compare = _COMPARISONS.get(self.relation)
        if compare is None:
            raise ValueError(f"{self.relation} compares queues, not amounts")
        return compare(self.result, self.bound)


class ComparedValues(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="comparison"):
    """A comparison of two values that are not amounts, for example ``500 <= 1000`` or ``root.a ≠ root.b``."""

    subject: str
    """The pod's ``namespace/name`` or the node's name that the line is about."""
    left: str
    relation: Relation
    right: str
    holds: bool


Line = Sum | ComparedValues


class InvariantCheck(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of checking one decision against one invariant; without lines, nothing could break the invariant."""

    law: Invariant
    holds: bool
    sums: tuple[Line, ...] = ()

    @classmethod
    def of(cls, law: Invariant, lines: list[Sum] | list[ComparedValues] | list[Line]) -> "InvariantCheck":
        """Return a check that holds if all its lines hold."""
        return cls(law=law, holds=False not in [line.holds for line in lines], sums=tuple(lines))


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
    """Return a line of arithmetic with its result calculated."""
    return Sum(
        subject=subject,
        resource=resource,
        start=start,
        minus=minus,
        plus=plus,
        relation=relation,
        bound=bound,
        result=start - sum(minus) + plus if minus else start + plus,
    )


def same(subject: str, left: str, right: str) -> ComparedValues:
    """Return a line that holds if both texts are equal."""
    return ComparedValues(subject=subject, left=left, relation=Relation.EQUAL, right=right, holds=left == right)


def differs(subject: str, left: str, right: str) -> ComparedValues:
    """Return a line that holds if the texts are not equal."""
    return ComparedValues(subject=subject, left=left, relation=Relation.DIFFERS, right=right, holds=left != right)


_COMPARISONS: dict[Relation, Callable[[int, int], bool]] = {
    Relation.AT_LEAST: operator.ge,
    Relation.ABOVE: operator.gt,
    Relation.BELOW: operator.lt,
    Relation.AT_MOST: operator.le,
    Relation.EQUAL: operator.eq,
    Relation.DIFFERS: operator.ne,
}
