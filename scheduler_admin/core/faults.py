"""Dying at a chosen point, to prove that what was begun is continued from there."""

import os
import signal

from django.conf import settings

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


def reached(point: str) -> None:
    """Kill or stop this very process where ``settings.FAULT_AT`` (``kill:POINT``, ``stop:POINT``) says so.

    Set by tests of crashes alone; nothing happens where it is empty.
    """
    how, _, where = settings.FAULT_AT.partition(":")
    if where == point:
        os.kill(os.getpid(), _SIGNALS[how])
