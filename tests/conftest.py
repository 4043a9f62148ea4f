"""The real control plane, for every test that wants one: built in the background while the others run."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.controlplane import binaries
from tests.controlplane.plane import ControlPlane

MARK = "controlplane"


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


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real control plane; skipped, with the reason, where there is none and none can be built."""
    if binaries.missing() and not binaries.can_build():
        pytest.skip("there is no Go here to build a control plane with, nor KUBEBUILDER_ASSETS")
    try:
        binaries.build()
    except subprocess.CalledProcessError as error:  # as where no module proxy can be reached
        pytest.skip(f"a control plane can't be built here: {error}")
    with ControlPlane(tmp_path_factory.mktemp("plane")) as running:
        yield running
