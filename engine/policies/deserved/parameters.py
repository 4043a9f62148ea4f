"""The parameters of policy ``deserved``."""

from typing import Literal

import msgspec


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy.

    Source: the proposal of k8s-arbitrator, which has DRF as its default and leaves fragmentation open.
    """

    method: Literal["drf", "proportional"] = "drf"
    """How the cluster is divided."""
    node_fit: bool = True
    """Whether all who go for an ask go from one node, where it then fits; else so much is free in all."""
    high_priority: tuple[str, ...] = ()
    """Priority classes whose pods may take beyond what their queue deserves."""
