"""How Python runs in a process that holds a cluster: that follows it, and runs passes."""

import gc
import sys

_SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while others want it. A watcher gives it away at each read of some events;
if it got it back only after Python's 5 ms, a long pass would let it read fewer than happen."""
_COLLECTIONS = (50_000, 20, 20)
"""After so many new containers the garbage collector looks at them, and every so often at the older ones. A pass makes
very many that hold no circles and go as soon as they are not needed: looking at them after 700 each takes 5 % of it."""


def suit_a_cluster() -> None:
    """Set this process up for it."""
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(*_COLLECTIONS)
