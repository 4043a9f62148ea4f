"""Clocks of the simulator: the event loop's time, a test's manual time, and the script's own pace."""

import asyncio
import heapq
from collections.abc import Callable, Hashable
from datetime import UTC, datetime, timedelta
from typing import Protocol

Action = Callable[[], None]


class Timer(Protocol):
    """A scheduled call that can be canceled."""

    def cancel(self) -> None:
        """Cancel the call."""


class SimulationClock(Protocol):
    """A source of time that can schedule calls."""

    def now(self) -> datetime:
        """Return the time of day, in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""

    def call_later(self, delay: float, action: Action) -> Timer:
        """Call `action` after `delay` seconds; calls of the same moment run in the order of their scheduling."""


class LoopClock:
    """The time of the running event loop."""

    def __init__(self) -> None:
        """Create the clock; it looks up the loop at the first use: a cluster can be built before a loop runs."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the loop's time in seconds."""
        return self._running().time()

    def call_later(self, delay: float, action: Action) -> Timer:
        """Call `action` from the loop after `delay` seconds."""
        return self._running().call_later(delay, action) if delay > 0 else self._running().call_soon(action)


class _Entry:
    """A timer of the manual clock."""

    def __init__(self, due: float, number: int, action: Action) -> None:
        self.due = due
        self.number = number
        self.action: Action | None = action

    def __lt__(self, other: "_Entry") -> bool:
        return (self.due, self.number) < (other.due, other.number)

    def cancel(self) -> None:
        self.action = None


class ManualClock:
    """A clock that advances only on demand: a whole day takes an instant, and every run is the same."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)) -> None:
        """Create a clock that shows `start` until it is advanced."""
        self._start = start
        self._seconds = 0.0
        self._number = 0
        self._entries: list[_Entry] = []

    def now(self) -> datetime:
        """Return the time of day, in UTC."""
        return self._start + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self._seconds

    def call_later(self, delay: float, action: Action) -> Timer:
        """Call `action` when the clock has been advanced by `delay` seconds."""
        self._number += 1
        entry = _Entry(self._seconds + max(delay, 0.0), self._number, action)
        heapq.heappush(self._entries, entry)
        return entry

    def advance(self, seconds: float = 0.0) -> None:
        """Move the clock forward; everything due until then runs, in order."""
        end = self._seconds + seconds
        while self._entries and self._entries[0].due <= end:
            self._step()
        self._seconds = end

    def until(self, condition: Callable[[], object], limit: float = 60.0) -> float:
        """Move forward until `condition` holds; return how long that took. Raises TimeoutError after `limit`."""
        begin = self._seconds
        while not condition():
            if not self._entries or self._entries[0].due > begin + limit:
                raise TimeoutError(f"still not so after {limit:g} s")
            self._step()
        return self._seconds - begin

    def _step(self) -> None:
        entry = heapq.heappop(self._entries)
        self._seconds = max(self._seconds, entry.due)
        if entry.action is not None:
            entry.action()


class Pace:
    """The script's time: `speed` times as fast as the clock's, also for timers that are already pending."""

    def __init__(self, clock: SimulationClock, speed: float = 1.0) -> None:
        """Create a pace that begins at zero when it is first read."""
        self.speed = speed
        self._clock = clock
        self._base: tuple[float, float] | None = None
        self._pending: dict[_Paced, None] = {}

    def elapsed(self) -> float:
        """Return the script seconds since the first use."""
        moment = self._clock.monotonic()
        if self._base is None:
            self._base = (moment, 0.0)
        begin, passed = self._base
        return passed + (moment - begin) * self.speed

    def call_later(self, delay: float, action: Action) -> Timer:
        """Call `action` after `delay` script seconds, even if the speed changes in the meantime."""
        paced = _Paced(self._pending, self.elapsed() + delay, action)
        self._pending[paced] = None
        self._arm(paced)
        return paced

    def set_speed(self, speed: float) -> None:
        """Continue at another speed."""
        self._base = (self._clock.monotonic(), self.elapsed()) if self._base else None
        self.speed = speed
        for paced in list(self._pending):
            self._arm(paced)

    def _arm(self, paced: "_Paced") -> None:
        if paced.timer is not None:
            paced.timer.cancel()
        paced.timer = self._clock.call_later((paced.due - self.elapsed()) / self.speed, paced.fire)


class _Paced:
    """A timer in script time."""

    def __init__(self, pending: dict["_Paced", None], due: float, action: Action) -> None:
        self.due = due
        self.timer: Timer | None = None
        self._pending = pending
        self._action = action

    def fire(self) -> None:
        self._pending.pop(self, None)
        self._action()

    def cancel(self) -> None:
        self._pending.pop(self, None)
        if self.timer is not None:
            self.timer.cancel()


class Calls(Protocol):
    """A source of timers: a clock or a pace."""

    def call_later(self, delay: float, action: Action) -> Timer:
        """Call `action` after `delay` seconds."""


class Timers:
    """Timers by key: a new timer replaces the old one of its key, and all can be canceled at once."""

    def __init__(self, clock: Calls) -> None:
        """Take timers from `clock` unless another source is named."""
        self._clock = clock
        self._timers: dict[Hashable, Timer] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._timers

    def set(self, key: Hashable, delay: float, action: Action, source: Calls | None = None) -> None:
        """Call `action` after `delay` seconds, in place of the key's earlier timer."""
        self.cancel(key)

        def fire() -> None:
            self._timers.pop(key, None)
            action()

        self._timers[key] = (source or self._clock).call_later(delay, fire)

    def cancel(self, key: Hashable) -> None:
        """Cancel the timer of a key, if there is one."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def clear(self) -> None:
        """Cancel all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
