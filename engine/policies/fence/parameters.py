"""The parameters of policy ``fence`` in its own dialect."""

from typing import Literal

import msgspec


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy."""

    last_resort: Literal["daemonset", "any", "never"] = "daemonset"
    """Whose asks may take pods that opted out, when nothing else makes room (law 1)."""
    check_delay: bool = True
    """Whether asks wait for their queue's delay; off only to ask what would happen."""
