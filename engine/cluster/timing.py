"""The clocks, and how long to wait before a retry; both are replaced in tests."""

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime


class Clock:
    """The clocks of this machine."""

    def wall_ms(self) -> int:
        """Return milliseconds since 1970, for people to read. May jump."""
        return time.time_ns() // 1_000_000

    def steady_s(self) -> float:
        """Return steadily growing seconds, for ages and deadlines; they include the machine's sleep, where possible."""
        boot_time = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


def sent_at_s(date: str | None) -> float | None:
    """Return an answer's ``Date`` header in seconds since 1970; None where it has no valid time.

    Anybody may impersonate an API server and send any value: also years that no calendar has.
    """
    try:
        return parsedate_to_datetime(date or "").timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


class BackOff:
    """Waits that double after every failure, with jitter, so that many clients do not retry in step."""

    def __init__(
        self, first_s: float = 0.5, longest_s: float = 30.0, jitter: Callable[[], float] = random.random
    ) -> None:
        """Create a back-off; ``jitter`` returns numbers from 0 to 1: each wait is between half and all of the step."""
        self._first_s = first_s
        self._longest_s = longest_s
        self._jitter = jitter
        self._step_s = first_s

    def next_s(self, at_least_s: float | None = None) -> float:
        """Return how long to wait now, in seconds; never less than the server asked for."""
        wait_s = self._step_s * (0.5 + self._jitter() / 2)
        self._step_s = min(self._step_s * 2, self._longest_s)
        return max(wait_s, at_least_s or 0.0)

    def reset(self) -> None:
        """Begin with the first step again after a success."""
        self._step_s = self._first_s
