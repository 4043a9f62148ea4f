"""Checks of what may keep a pod off a node, for all nodes of a snapshot at once.

A rule holds or not, whichever pods leave the node. A limit is an amount that must not be exceeded, and that shrinks as
pods leave: what they request, ports they take, pods of a topology that must not be there. A pod that must be there is a
limit too, with negative amounts.
"""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.columns.node_fields import SAFE
from engine.model.decision import NodeReason
from engine.model.objects import Pod

CURABLE = frozenset(
    {
        NodeReason.HOST_PORT,
        NodeReason.INSUFFICIENT,
        NodeReason.CLAIM_IN_USE,
        NodeReason.SPREAD,
        NodeReason.ANTI_AFFINITY,
        NodeReason.KEPT_OUT,
    }
)
"""The reasons that may no longer apply once pods leave."""


class NodeRefusal(msgspec.Struct, frozen=True):
    """Why a pod can't run on a node; ``detail`` names the taint, label or resource."""

    reason: NodeReason
    detail: str = ""

    @property
    def curable(self) -> bool:
        """Return whether the reason may no longer apply once pods have left the node.

        Source: the status Unschedulable of kube-scheduler's filters, as opposed to UnschedulableAndUnresolvable.
        """
        return self.reason in CURABLE


class RuleCheck:
    """A check that refuses the nodes in ``refused``, whichever pods leave.

    ``detail``: a text, or a function that returns it for a node index.
    """

    def __init__(self, reason: NodeReason, refused: Flags, detail: Callable[[int], str] | str = "") -> None:
        self.reason, self.refused, self._detail = reason, refused, detail

    def refusal(self, place: int) -> NodeRefusal:
        """Return why the check refuses the node with this index."""
        return NodeRefusal(self.reason, self._detail if isinstance(self._detail, str) else self._detail(place))


class AmountCheck:
    """A check that refuses nodes where ``held``, less the ``weight`` of each pod that leaves, is above ``cap``.

    ``added``: by node index, what pods nominated to the node hold in addition. ``times``: the weight of any pod that
    is on a node that counts. ``back``: its weight where kube-scheduler puts it back after taking it away, if that
    counts otherwise. ``upto``: the running sum of ``weight``, if it is known. ``mends``: whether pods that come back
    can only help. ``unless``: a sum of the same kind, with the weights ``unless_weight``, and ``unless_times`` for any
    pod at a node; once it is down to 0, the limit does not apply. ``topology``: which pods count at a node; None: those
    of the node itself.
    """

    def __init__(
        self,
        reason: NodeReason,
        detail: str,
        *,
        held: Numbers,
        cap: Numbers,
        weight: Numbers,
        added: Mapping[int, int],
        times: Callable[[Pod], int],
        back: Callable[[Pod], int] | None = None,
        upto: Numbers | None = None,
        mends: bool = False,
        unless: int | None = None,
        unless_weight: Numbers | None = None,
        unless_times: Callable[[Pod, int], int] | None = None,
        topology: "CountedTopology | None" = None,
    ) -> None:
        self.reason, self.detail = reason, detail
        self.held, self.cap, self.weight, self.upto, self.topology = held, cap, weight, upto, topology
        self.times, self.back, self.mends = times, back or times, mends
        self.added = {place: amount for place, amount in added.items() if amount}
        self.unless, self.unless_weight = unless, weight if unless_weight is None else unless_weight
        self.unless_times = unless_times

    def refusal(self) -> NodeRefusal:
        """Return why the check refuses a node."""
        return NodeRefusal(self.reason, self.detail)

    def more(self) -> Numbers:
        """Return ``added`` as an array by node index."""
        small = max(map(abs, self.added.values()), default=0) <= SAFE
        more = np.zeros(len(self.held), self.held.dtype if small else object)
        for place, amount in self.added.items():
            more[place] = amount
        return more


class CountedTopology(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Which pods count at a node where those of other nodes do: the ones in the same topology."""

    numbers: Rows
    """By node index, the number of its topology; -1: it is in none."""
    counted: Flags | None = None
    """By node index, whether pods there count; None: all do."""
    caps: Callable[[Numbers], Numbers] | None = None
    """Return ``cap`` by node index for what each topology holds; None: the cap does not depend on that."""


Check = RuleCheck | AmountCheck
