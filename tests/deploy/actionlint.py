"""actionlint, which finds mistakes in GitHub's workflows: built once from the module that pins it.

``python -m tests.deploy.actionlint`` builds it. It is kept beside the control plane's programs.
"""

import fcntl
import hashlib
import subprocess
from pathlib import Path

from tests.controlplane import binaries
from tests.waiting import PATIENCE_S


def program() -> Path:
    """Where the program is, or will be: under a name made of what it is built from."""
    mark = hashlib.sha256((binaries.HERE / "actionlint" / "go.mod").read_bytes()).hexdigest()[:12]
    return binaries.cache() / f"actionlint-{mark}"


def build() -> Path:
    """Build the program if it is missing; who comes second waits. Raises subprocess.CalledProcessError."""
    wanted = program()
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with (wanted.parent / ".actionlint.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.is_file():
            binaries.compile_program("actionlint", "github.com/rhysd/actionlint/cmd/actionlint", wanted)
    return wanted


def mistakes(workflow: str) -> str:
    """Return what it says of a workflow: nothing, if all is well."""
    command = [program(), "-no-color", "-"]
    done = subprocess.run(command, input=workflow, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    return done.stdout + done.stderr


if __name__ == "__main__":
    build()
