"""What may keep a pod off a node, for all nodes of a snapshot at once.

A rule holds or not whoever leaves the node. A limit is an amount that must not be exceeded, and that sinks as pods
leave: what they request, ports they take, pods of a topology that must not be there. What must be there is a limit
too, counted below nothing.
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
"""What the leaving of pods may cure."""


class NodeRefusal(msgspec.Struct, frozen=True):
    """Why a pod can't run on a node; ``detail`` names the taint, label or resource."""

    reason: NodeReason
    detail: str = ""

    @property
    def curable(self) -> bool:
        """Whether it may be otherwise once pods have left the node."""
        return self.reason in CURABLE


class RuleCheck:
    """Keeps the pod off where ``refused``, whoever leaves. ``detail`` takes a node's place."""

    def __init__(self, reason: NodeReason, refused: Flags, detail: Callable[[int], str] | str = "") -> None:
        self.reason, self.refused, self._detail = reason, refused, detail

    def refusal(self, place: int) -> NodeRefusal:
        """What it says at a node that it refuses."""
        return NodeRefusal(self.reason, self._detail if isinstance(self._detail, str) else self._detail(place))


class AmountCheck:
    """Keeps the pod off where ``held``, less the ``weight`` of each pod that leaves, is above ``cap``.

    ``added``, by place: what pods nominated to the node hold beside. ``upto``: the running sum of ``weight``, where it
    is known. ``mends``: whether pods that come back can only mend it. ``unless``: a sum of the same kind, of weight
    ``unless_weight``, with which the limit is lifted once it is down to nothing.
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
        """What it says at a node that it refuses."""
        return NodeRefusal(self.reason, self.detail)

    def more(self) -> Numbers:
        """Place -> ``added``."""
        small = max(map(abs, self.added.values()), default=0) <= SAFE
        more = np.zeros(len(self.held), self.held.dtype if small else object)
        for place, amount in self.added.items():
            more[place] = amount
        return more


Check = RuleCheck | AmountCheck
