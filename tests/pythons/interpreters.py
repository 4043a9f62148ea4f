"""Finds the interpreters of a machine: by their names on the path, and where pyenv keeps them."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.test_compose import BASE

SERVER, CLIENT = BASE / "pyproject.toml", BASE / "scheduler_admin_client" / "pyproject.toml"


def named(project: Path) -> list[str]:
    """Return the versions of Python that a distribution names, such as 3.12."""
    text = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: "
    return [one.removeprefix(prefix) for one in text["classifiers"] if one.startswith(prefix)]


def interpreter(version: str) -> Path | None:
    """Return the interpreter of a version that starts, or None."""
    return next((path for path in _places(version) if _version(path) == version), None)


def own() -> str:
    """Return the version that runs the tests."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def environment(interpreter: Path, folder: Path) -> Path:
    """Make a virtual environment and return its interpreter. Raises subprocess.CalledProcessError."""
    subprocess.run([interpreter, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


def _places(version: str) -> Iterator[Path]:
    if version == own():
        yield Path(sys.executable)
    if found := shutil.which(f"python{version}"):
        yield Path(found)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted((root / "versions").glob(f"{version}.*/bin/python"))


def _version(path: Path) -> str:
    command = [path, "-c", "import sys; print('.'.join(map(str, sys.version_info[:2])))"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
