"""The parameters of policy ``priority``."""

from typing import Literal

import msgspec


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy."""

    budgets: Literal["kept", "counted"] = "kept"
    """Where decisions are carried out or advised: victims within budgets only, or whoever kube-scheduler would take."""
