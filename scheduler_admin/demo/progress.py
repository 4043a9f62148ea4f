"""What the demo prints while it starts: each step, and on a terminal for how long it has been running."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_TICK_S = 0.5
_CLEAR = "\r\x1b[K"


class Progress:
    """Prints steps to a stream. On a terminal the line of a step counts the seconds, so that it is never silent."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._terminal = stream, stream.isatty()

    def say(self, text: str) -> None:
        """Print a text and a line break."""
        self._write(f"{text}\n")

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show that a step runs while the block runs."""
        if not self._terminal:
            self.say(f"{text} …")
            yield
            return
        began, done = time.monotonic(), threading.Event()
        ticker = threading.Thread(target=self._tick, args=(text, began, done), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()
            self._write(f"{_CLEAR}{text} … {time.monotonic() - began:.1f} s\n")

    def _tick(self, text: str, began: float, done: threading.Event) -> None:
        self._write(f"{text} …")
        while not done.wait(_TICK_S):
            self._write(f"{_CLEAR}{text} … {time.monotonic() - began:.0f} s")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
