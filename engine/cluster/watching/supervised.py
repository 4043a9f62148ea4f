"""Background threads that survive failures: a failure is logged, counted and reported, and the work restarted."""

import contextvars
import logging
import threading
from collections import Counter
from collections.abc import Callable

from engine.cluster.timing import BackOff

log = logging.getLogger(__name__)

LONGEST_S = 60.0
"""The longest wait before failed work is restarted, in seconds."""
SIGNING_IN = "sign-in"
"""The name of the only thread with a single turn: it signs in, while other threads wait for it."""
_FAILURES = Counter({SIGNING_IN: 0})
_COUNTING = threading.Lock()


def failures() -> dict[str, int]:
    """Return how often the threads of this process failed unexpectedly, by their names."""
    with _COUNTING:
        return dict(_FAILURES)


def note_failure(name: str, error: Exception) -> None:
    """Count an unexpected failure of a thread, and log it with its traceback."""
    log.error("Thread %s failed", name, exc_info=error)
    with _COUNTING:
        _FAILURES[name] += 1


class Supervised:
    """A thread that does its work turn after turn, from ``start`` to ``stop``."""

    def __init__(
        self, name: str, turn: Callable[[], float], *, failed: Callable[[str], None] = lambda _why: None
    ) -> None:
        """Create a thread; ``turn`` does one turn and returns how many seconds to wait before the next.

        It ends soon when ``stopping`` is set. An exception ends only that turn; ``failed`` is then called with the
        reason. The waits after that grow until a turn succeeds.
        """
        self._name, self._turn, self._failed = name, turn, failed
        self._back_off = BackOff(longest_s=LONGEST_S)
        with _COUNTING:
            _FAILURES[name] += 0  # so that the metric exists before the first failure
        # The context has what its log lines belong to, such as the cluster.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=name, daemon=True)
        self.stopping = threading.Event()

    def start(self) -> None:
        """Start the thread. Call it once."""
        self._thread.start()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the end that ``stop`` requests; return whether the thread is not running (any more)."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def stop(self, timeout_s: float | None = None) -> bool:
        """End the thread after its current turn; return whether it has ended within ``timeout_s`` seconds."""
        self.stopping.set()
        return self.join(timeout_s)

    def _run(self) -> None:
        self._take_turns()
        del self._turn, self._failed  # with their owner, which is freed as soon as nobody else uses it

    def _take_turns(self) -> None:
        wait_s = 0.0
        while not self.stopping.wait(wait_s):
            try:
                wait_s = self._turn()
                self._back_off.reset()
            except Exception as error:  # noqa: BLE001 - a thread that ended silently would not be noticed
                note_failure(self._name, error)
                self._failed(f"it failed unexpectedly ({type(error).__name__})")
                wait_s = self._back_off.next_s()
