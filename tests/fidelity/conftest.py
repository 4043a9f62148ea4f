import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.controlplane import binaries
from tests.fidelity import recorder


@pytest.fixture(scope="session")
def built_recorder() -> Path:
    """The recorder's program; skipped, with the reason, where there is none and none can be built."""
    if not recorder.program().is_file() and not binaries.can_build():
        pytest.skip("there is no Go here to build the recorder with")
    try:
        return recorder.build()
    except subprocess.CalledProcessError as error:  # as where no module proxy can be reached
        pytest.skip(f"the recorder can't be built here: {error}")


@pytest.fixture(scope="session")
def record(built_recorder: Path) -> Callable[..., list[recorder.Manifest]]:
    """``recorder.record``, where it can be had."""
    return recorder.record
