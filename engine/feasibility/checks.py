"""Checks of what may keep a pod off a node, for all nodes of a snapshot at once.

A rule holds or not, whichever pods leave the node. A limit is an amount that must not be exceeded, and that shrinks as
pods leave: what they request, ports they take, pods of a topology that must not be there. A pod that must be there is a
limit too, with negative amounts.
"""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from engine.model.columns.node_columns import SAFE, Flags, Numbers
from engine.model.decision import NodeReason

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

    ``added``: by node index, what pods nominated to the node hold in addition. ``upto``: the running sum of ``weight``,
    if it is known. ``mends``: whether pods that come back can only help. ``unless``: a sum of the same kind, with the
    weights ``unless_weight``; once it is down to 0, the limit does not apply.
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
        upto: Numbers | None = None,
        mends: bool = False,
        unless: int | None = None,
        unless_weight: Numbers | None = None,
    ) -> None:
        self.reason, self.detail = reason, detail
        self.held, self.cap, self.weight, self.upto = held, cap, weight, upto
        self.mends = mends
        self.added = {place: amount for place, amount in added.items() if amount}
        self.unless, self.unless_weight = unless, weight if unless_weight is None else unless_weight

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


Check = RuleCheck | AmountCheck
