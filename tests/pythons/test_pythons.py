"""The command line and the server on each version of Python that is promised and that this machine has.

The packages come from the network, so this is a long suite: make test-long SUITE=pythons.
"""

import os
import subprocess
from pathlib import Path

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin_client import __version__
from tests.client.test_distribution import built  # noqa: F401
from tests.deploy.test_compose import BASE
from tests.pythons import interpreters
from tests.runner.suites import VARIABLE

PARTS = ("engine", "queues", "worker", "accounts", "clusters", "client")
"""Folders of tests that the server runs on another Python: what decides, what is stored, and what people send."""
LOCK = BASE / "requirements-dev.lock"
_INSTALL_S, _TESTS_S = 900, 3600


def found(version: str) -> Path:
    """Return an interpreter, or skip the test that asks for one that is not there."""
    if path := interpreters.interpreter(version):
        return path
    pytest.skip(f"Python {version} is not on this machine")


def done(program: list[str | Path], timeout_s: float, **environment: str) -> tuple[int, str]:
    """Return the exit code and the output of a program that knows nothing of this checkout's packages."""
    known = {name: value for name, value in os.environ.items() if name not in {VARIABLE, "PYTHONPATH"}}
    run = subprocess.run(
        program, cwd="/", env={**known, **environment}, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.suite("pythons")
@pytest.mark.parametrize("version", interpreters.named(interpreters.CLIENT))
def test_the_client_plans_and_applies(
    version: str,
    site: Cluster,
    queues: Path,
    built: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The wheel is installed as people install it, into an environment with nothing else."""
    python = interpreters.environment(found(version), tmp_path / "venv")
    (wheel,) = built.glob("*.whl")
    assert done([python, "-m", "pip", "install", "--quiet", wheel], _INSTALL_S)[0] == 0
    command, file = python.with_name("scheduler-admin"), queues.absolute()
    assert done([command, "--version"], _INSTALL_S) == (0, f"scheduler-admin-client {__version__}\n")
    plan = tmp_path / "plan.json"
    assert done([command, "plan", "prod-tree", file, "--out", plan], _INSTALL_S)[0] == 2
    code, said = done([command, "apply", "prod-tree", file, "--plan", plan, "--reason", version], _INSTALL_S)
    assert (code, Revision.objects.get(number=2).reason) == (0, version), said
    assert "发布" in done([command, "apply", "--help"], _INSTALL_S, LANG="zh_CN.UTF-8")[1]


@pytest.mark.suite("pythons")
@pytest.mark.parametrize(
    "version", [one for one in interpreters.named(interpreters.SERVER) if one != interpreters.own()]
)
def test_the_server_passes_its_tests(version: str, tmp_path: Path) -> None:
    """With the locked packages, of which each Python has the same versions."""
    python = interpreters.environment(found(version), tmp_path / "venv")
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", LOCK]
    code, said = done(install, _INSTALL_S)
    assert code == 0, said[-2000:]
    tests = [BASE / "tests" / part for part in PARTS]
    program = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", BASE, *tests]
    run = subprocess.run(
        program,
        cwd=BASE,
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
        capture_output=True,
        text=True,
        timeout=_TESTS_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]


def test_the_python_that_runs_the_tests_is_one_that_is_promised() -> None:
    """Both distributions name it, and it is found as the others are."""
    assert interpreters.own() in interpreters.named(interpreters.SERVER)
    assert interpreters.own() in interpreters.named(interpreters.CLIENT)
    assert interpreters.interpreter(interpreters.own()) is not None
    assert interpreters.interpreter("3.99") is None
