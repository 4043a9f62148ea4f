"""Child processes that live and end together."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

_PATIENCE_S = 10.0
"""How long a child may take to end before it is killed."""


class DemoError(Exception):
    """Why the demo can't go on, in a sentence."""


class StoppedError(Exception):
    """Somebody asked for the end."""


class Supervisor:
    """Starts children, each with its own log, notices when one dies, and ends all of them in reverse order."""

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        self._logs, self._environment = logs, dict(environment)
        self.stopping = threading.Event()
        """Set from a signal handler: an exception thrown from there may land where nobody can catch it."""
        self._working = False
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a child. Raises DemoError when its program can't be run."""
        with (self._logs / f"{name}.log").open("wb") as log:
            try:
                self._children[name] = subprocess.Popen(  # noqa: S603 - our own commands
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=self._environment,
                    start_new_session=True,  # a Ctrl-C reaches only us, and we end the children in order
                )
            except OSError as error:
                raise DemoError(f"{command[0]} cannot be run: {error.strerror}.") from error

    def listen(self) -> None:
        """Take SIGINT and SIGTERM for the wish to end, from now on."""

        def hear(_signal: int, _frame: FrameType | None) -> None:
            self.stopping.set()
            if self._working:
                raise StoppedError

        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, hear)

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Do work of our own, which nothing but an exception ends early. Raises StoppedError in the middle of it."""
        self._working = True
        try:
            self.check()
            yield
        finally:
            self._working = False
        self.check()

    @property
    def pids(self) -> dict[str, int]:
        """Name -> process id of every child."""
        return {name: child.pid for name, child in self._children.items()}

    def check(self) -> None:
        """Raise DemoError when a child has died, with the end of its log; StoppedError when it is time to end."""
        if self.stopping.is_set():
            raise StoppedError
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                log = self._logs / f"{name}.log"
                tail = log.read_text(errors="replace").splitlines()[-12:]
                raise DemoError(f"The {name} process {_ended(code)}. The end of its log {log}:\n" + "\n".join(tail))

    def wait_for(self, ready: Callable[[], bool], what: str, timeout_s: float) -> None:
        """Wait until ``ready``, watching over the children. Raises as ``check``, and DemoError when time runs out."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise DemoError(f"{what} was not ready within {timeout_s:.0f} s. The logs are in {self._logs}.")
            self.stopping.wait(0.05)

    def watch(self) -> None:
        """Watch over the children for good. Raises as ``check``."""
        while True:
            self.check()
            self.stopping.wait(0.5)

    def stop(self) -> None:
        """End all children, the last one first; those that don't listen are killed."""
        for child in reversed(self._children.values()):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _PATIENCE_S
        for child in reversed(self._children.values()):
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        self._children.clear()


def _ended(code: int) -> str:
    """Return how a process with this exit code ended."""
    return f"exited with code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"
