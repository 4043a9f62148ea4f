"""Tunes the Python runtime of a process that watches a cluster and runs passes."""

import gc
import sys
import threading

_SWITCH_S = 0.0005
"""How many seconds a thread may keep the interpreter while others wait for it.

A watcher releases it at each read of some events; if it got it back only after Python's default of 5 ms, it would read
fewer events than occur during a long pass.
"""
_SWITCH_PER_THREAD_S = 0.00002
"""How many seconds more for each thread of the process.

Each thread that waits for the interpreter wakes after that time to ask for it. If the threads of a hundred clusters
did so every 0.5 ms, as when all of them connect again, the processor would do little else, and they would never catch
up.
"""
_COLLECTIONS = (50_000, 20, 20)
"""The thresholds of the garbage collector's generations.

A pass creates very many containers that form no cycles and are freed as soon as they are not needed: with the default
of 700, collecting takes 5 % of a pass.
"""


def tune_runtime() -> None:
    """Apply these runtime settings to this process. Call it again when the number of its threads has changed."""
    sys.setswitchinterval(max(_SWITCH_S, _SWITCH_PER_THREAD_S * threading.active_count()))
    gc.set_threshold(*_COLLECTIONS)
