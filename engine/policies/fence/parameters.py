"""The parameters of policy ``fence`` in its own dialect."""

from typing import Literal

import msgspec


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy.

    Source: rule 1 of YuniKorn's design document "Preemption", and preemption.delay in its section on queue
    configuration.
    """

    last_resort: Literal["daemonset", "any", "never"] = "daemonset"
    """Which pending pods may evict pods that opted out when nothing else makes room (invariant 1)."""
    check_delay: bool = True
    """Whether pending pods wait for their queue's delay; turned off only to find out what would happen."""
