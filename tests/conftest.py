"""The real control plane, built in the background while other tests run, and a cluster of either kind."""

import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.utils import translation
from hypothesis import HealthCheck, settings

from scheduler_admin.queues.drafts import kept, summaries
from scheduler_admin.queues.services.kept_trees import forget_trees
from tests.controlplane import anycluster, binaries
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.marks import MARK, leave_to_suite
from tests.controlplane.plane import ControlPlane
from tests.controlplane.pod_groups import two_nodes
from tests.runner import database, suites
from tests.waiting import PATIENCE_S, logs

# A machine that does much else meanwhile is slow, and no example is the worse for it.
for name, examples in (("quick", 10), ("usual", 15), ("long", 300)):
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("usual")

EITHER = ["simulated", pytest.param("real", marks=pytest.mark.controlplane)]
"""The parameters of a fixture for tests that hold on both."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other long suites; those on the real control plane come last, when all else is done."""
    for item in items:
        leave_to_suite(item)
    marks = {item: item.get_closest_marker("suite") for item in items}
    others = [item for item, mark in marks.items() if mark is not None and not suites.runs(*mark.args)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    items.sort(key=lambda item: item.get_closest_marker(MARK) is not None)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """A database of this process, migrated, without rows."""
    with django_db_blocker.unblock(), database.copied():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside what went wrong, the logs of every process that is at work."""
    report = yield
    if report.failed:
        report.sections += logs().items()
    return report


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    """Nothing is remembered from another test, whose rows may have had the same numbers."""
    for cache in caches.all(initialized_only=True):
        cache.clear()
    translation.deactivate()  # else the language of the last request is that of what comes next
    kept.forget()
    summaries.forget()
    forget_trees()


@pytest.fixture(scope="session")
def built() -> None:
    """What a real control plane is run from."""
    binaries.provide("a control plane", lambda: not binaries.missing(), binaries.build)


@pytest.fixture(scope="session")
def plane(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real control plane, one for all tests."""
    with ControlPlane(tmp_path_factory.mktemp("plane")) as running:
        yield running


@pytest.fixture(scope="session")
def groups_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real control plane of the release with groups of pods, one for all tests."""
    release = binaries.GROUPS_RELEASE
    what = "a control plane with groups of pods"
    binaries.provide(what, lambda: not binaries.missing(release), partial(binaries.build, release))
    with ControlPlane(tmp_path_factory.mktemp("groups-plane"), release) as running:
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


@pytest.fixture(params=EITHER)
def groups_cluster(request: pytest.FixtureRequest) -> Iterator[AnyCluster]:
    """Two nodes of a cluster that schedules groups of pods: a simulated one, and the real control plane."""
    if request.param == "simulated":
        opened = anycluster.simulated()
    else:
        opened = anycluster.real(request.getfixturevalue("groups_plane"))
    with two_nodes(opened) as cluster:
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

    def run(*arguments: str, stdin: str = "", code: int = 0, until: str = "") -> subprocess.CompletedProcess[str]:
        """``until``: what ends a command that does not end by itself, as soon as it is printed."""
        if until:
            return _printed([program, *arguments], until, environment)
        done = subprocess.run(
            [program, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=environment,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == code, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    return run


def _printed(command: list[str], until: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What a command printed, which is ended once some words stand there."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stdout is not None
        out = ""
        for line in running.stdout:
            out += line
            if until in line:
                break
        running.terminate()
    return subprocess.CompletedProcess(command, 0, out, "")
