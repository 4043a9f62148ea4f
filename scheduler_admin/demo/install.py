"""Install locked packages and print how far that is: ``python -P install.py VENV LOCK``.

It runs before anything is installed, so it imports nothing but the standard library. The full output of pip is in
VENV/install.log. Modules are compiled when they are first used, as most of them never are.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

_EVERY_S = 2.0
"""A line is printed this often where lines can't be overwritten, such as in the log of a CI job."""
_LOOK_S = 0.25
_TAIL = 12
_COLLECTING = "Collecting "
_PRESENT = "Requirement already satisfied"
_INSTALLING = "Installing collected packages: "


@dataclass
class PipProgress:
    """How far pip is, as its output tells."""

    locked: int
    """Packages that the lock file names. Some are for other platforms."""
    fetched: int = 0
    to_install: int = 0
    installed: int = 0

    def read(self, line: str) -> None:
        """Take in one line of the output of pip."""
        if line.startswith((_COLLECTING, _PRESENT)):
            self.fetched += 1
        elif line.startswith(_INSTALLING):
            self.to_install = line.count(",") + 1

    def sentence(self, installed: int) -> str:
        """Return what pip does now, in a few words. The count never goes back, as pip's own temporary files would."""
        if self.to_install:
            self.installed = min(max(installed, self.installed), self.to_install)
            return f"Installing packages: {self.installed} of {self.to_install}"
        return f"Downloading packages: {min(self.fetched, self.locked)} of {self.locked}"


def follow(lines: Iterable[str], progress: PipProgress, log: Path) -> None:
    """Copy the output of a program to a log and take in each line of it."""
    with log.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            file.flush()
            progress.read(line)


def install(venv: Path, lock: Path) -> int:
    """Create a virtual environment and install the packages of a lock file into it. Returns 0, or an exit code."""
    venv.mkdir(exist_ok=True)
    progress = PipProgress(sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines()))
    before = _installed(venv)
    began = time.monotonic()
    code = _run(
        [sys.executable, "-m", "venv", str(venv)],
        venv,
        progress,
        lambda: f"Creating {venv}: {time.monotonic() - began:.0f} s",
    ) or _run(
        [
            *(str(venv / "bin" / "python"), "-u", "-m", "pip", "install", "--disable-pip-version-check"),
            *("--no-compile", "--progress-bar", "off", "--require-hashes", "-r", str(lock)),
        ],
        venv,
        progress,
        lambda: progress.sentence(_installed(venv) - before),
    )
    if not code and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return code


def _run(command: list[str], venv: Path, progress: PipProgress, sentence: Callable[[], str]) -> int:
    """Run a program and show how far it is. Returns its exit code; if that is not 0, the end of its log was shown."""
    log = venv / "install.log"
    with subprocess.Popen(  # noqa: S603 - the paths come from the Makefile
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        reader = Thread(target=follow, args=(program.stdout, progress, log), daemon=True)
        reader.start()
        shown = 0.0
        while program.poll() is None:
            if sys.stderr.isatty() or time.monotonic() - shown > _EVERY_S:
                _show(sentence())
                shown = time.monotonic()
            time.sleep(_LOOK_S)
        reader.join()
    if program.returncode:
        tail = "\n".join(log.read_text(encoding="utf-8").splitlines()[-_TAIL:])
        sys.stderr.write(f"\nThe packages could not be installed. The end of the log {log}:\n{tail}\n")
    return program.returncode


def _installed(venv: Path) -> int:
    return sum(1 for _ in venv.glob("lib/python*/site-packages/*.dist-info"))


def _show(sentence: str) -> None:
    sys.stderr.write(f"\r\x1b[K  {sentence}" if sys.stderr.isatty() else f"  {sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1]), Path(sys.argv[2])))
