"""The services of docker-compose.yml as processes in a container of the image, beside each other on this machine.

A container of buildah shares the machine's network, so each service listens at a free port of its own.
"""

import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import yaml

from tests.image.building import CHECKOUT, ENVIRONMENT, buildah
from tests.waiting import wait_for

COMPOSE: Mapping[str, Any] = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
_REFERENCE = re.compile(r"\$\{(\w+):([-?])([^}]*)\}")


def environment(service: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return a service's environment as Compose makes it of ``given``, the contents of .env."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        assert kind == "-" or name in given, f"{name} is required"
        return given.get(name) or rest

    found = {}
    for name, text in COMPOSE[service]["environment"].items():
        if text is not None:
            found[name] = _REFERENCE.sub(value, text)
        elif name in given:
            found[name] = given[name]
    return found


@dataclass
class Process:
    """A command that runs in a container."""

    name: str
    child: "subprocess.Popen[bytes]"
    log: Path
    output: IO[bytes]

    def text(self) -> str:
        """Return all that it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """End it and all its children, as Compose does."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.output.close()


@dataclass
class Container:
    """A container of an image, in which commands run as its user, each with a /tmp of its own."""

    image: str
    folder: Path
    """Where logs, and the folders that are /tmp for each command, are put."""
    volumes: tuple[str, ...] = ()
    processes: list[Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.id = buildah("from", "--pull-never", self.image)

    def start(self, name: str, command: list[str], variables: Mapping[str, str], *, user: str = "") -> Process:
        """Start a command."""
        log = self.folder / f"{name}.log"
        output = log.open("wb")
        child = subprocess.Popen(
            self._command(name, command, variables, user), env=ENVIRONMENT, stdout=output, stderr=subprocess.STDOUT
        )
        self.processes.append(Process(name, child, log, output))
        return self.processes[-1]

    def run(self, name: str, command: list[str], variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, in the /tmp of the process ``name``."""
        words = self._command(name, command, variables, "")
        return subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)

    def healthy(self, name: str, test: list[str]) -> bool:
        """Tell what a health check of Compose finds."""
        command = ["sh", "-c", test[1].replace("$$", "$")] if test[0] == "CMD-SHELL" else test[1:]
        return self.run(name, command, {}).returncode == 0

    def close(self) -> None:
        """Stop everything, the last first, and remove the container."""
        for process in reversed(self.processes):
            process.stop()
        buildah("rm", self.id)

    def _command(self, name: str, command: list[str], variables: Mapping[str, str], user: str) -> list[str]:
        own = self.folder / f"{name}-tmp"
        if not own.exists():
            own.mkdir()
            own.chmod(0o1777)
        options = [word for key, value in variables.items() for word in ("--env", f"{key}={value}")]
        for volume in (f"{own}:/tmp", *self.volumes):
            options += ["--volume", volume]
        return ["buildah", "run", *options, *(["--user", user] if user else []), self.id, "--", *command]


def ended(process: Process) -> bool:
    """Wait until a command has ended, and tell whether it succeeded."""
    wait_for(lambda: process.child.poll() is not None, process.name)
    return process.child.returncode == 0
