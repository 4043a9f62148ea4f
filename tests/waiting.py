"""The one way in which tests wait: for a condition, with a generous deadline.

A wait ends as soon as its condition holds, so the deadline costs nothing: it is for a machine that does much else. The
report of a test that fails shows what it waited for, and the logs of every process that is ``logged`` at the time.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE_S = 180.0
"""Longer than anything takes that takes some seconds on an idle machine."""
_FIRST_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.1
_LOG_TAIL = 16_000

Found = TypeVar("Found")
_LOGS: dict[str, Callable[[], str]] = {}


def wait_for(condition: Callable[[], Found], what: str, within_s: float = PATIENCE_S) -> Found:
    """Call a condition until its answer is true, and return the answer.

    Raises AssertionError with ``what`` was waited for and the last answer.
    """
    deadline, pause, pauses = time.monotonic() + within_s, _FIRST_PAUSE_S, threading.Event()
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within_s:.0f} s in vain for: {what} (last answer: {found!r})")
        pauses.wait(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    return found


def join(thread: threading.Thread, what: str) -> None:
    """Wait until a thread has ended. Raises AssertionError as ``wait_for``."""
    wait_for(lambda: not thread.is_alive(), what)


@contextmanager
def logged(name: str, read: Callable[[], str]) -> Iterator[None]:
    """Show what ``read`` returns in the report of a test that fails in the block: the log of a process of the test."""
    _LOGS[name] = read
    try:
        yield
    finally:
        _LOGS.pop(name, None)


def logs() -> dict[str, str]:
    """Return the end of the log of every process that is ``logged`` now, by name."""
    return {name: text[-_LOG_TAIL:] for name, read in list(_LOGS.items()) if (text := read().strip())}
