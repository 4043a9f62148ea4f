"""The real control plane, built in the background while other tests run, and a cluster of either kind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.cache import caches
from hypothesis import HealthCheck, settings

from scheduler_admin.queues import draft_rows, draft_selectors, selectors
from tests.controlplane import anycluster, binaries
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane

# A machine that does much else meanwhile is slow, and no example is the worse for it.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

MARK = "controlplane"
EITHER = ["simulated", pytest.param("real", marks=pytest.mark.controlplane)]
"""The parameters of a fixture for tests that hold on both."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the real control plane come last, so that there is time to build it."""
    items.sort(key=lambda item: item.get_closest_marker(MARK) is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to build at once; ``plane`` waits for it."""
    wanted = any(item.get_closest_marker(MARK) for item in session.items)
    if wanted and not session.config.option.collectonly and binaries.missing() and binaries.can_build():
        command = ["nice", sys.executable, "-m", "tests.controlplane.binaries"]
        subprocess.Popen(command, cwd=session.config.rootpath, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    """Nothing is remembered from another test, whose rows may have had the same numbers."""
    for cache in caches.all(initialized_only=True):
        cache.clear()
    draft_rows.forget()
    draft_selectors.forget()
    selectors.forget()


@pytest.fixture(scope="session")
def built() -> None:
    """What a real control plane is run from; skipped, with the reason, where there is none and none can be built."""
    if binaries.missing() and not binaries.can_build():
        pytest.skip("there is no Go here to build a control plane with, nor KUBEBUILDER_ASSETS")
    try:
        binaries.build()
    except subprocess.CalledProcessError as error:  # as where no module proxy can be reached
        pytest.skip(f"a control plane can't be built here: {error}")


@pytest.fixture(scope="session")
def plane(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real control plane, one for all tests."""
    with ControlPlane(tmp_path_factory.mktemp("plane")) as running:
        yield running


@pytest.fixture(params=EITHER)
def cluster(request: pytest.FixtureRequest) -> Iterator[AnyCluster]:
    """A simulated cluster, and the real control plane: one test is run on both."""
    if request.param == "simulated":
        opened = anycluster.simulated()
    else:
        opened = anycluster.real(request.getfixturevalue("plane"))
    with opened as cluster:
        yield cluster


@pytest.fixture
def kubectl(cluster: AnyCluster, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs kubectl in the test's namespace; skips where there is no kubectl."""
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not installed")
    config = tmp_path / "kubeconfig"
    config.write_text(cluster.entrance.kubeconfig(cluster.namespace))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(config)}

    def run(*arguments: str, stdin: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [program, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    return run
