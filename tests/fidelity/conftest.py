from collections.abc import Callable

import pytest

from tests.controlplane import binaries
from tests.fidelity import recorder


@pytest.fixture(scope="session")
def record() -> Callable[..., list[recorder.Manifest]]:
    """``recorder.record``, where its program can be had."""
    binaries.provide("the recorder of kube-scheduler's decisions", recorder.program().is_file, recorder.build)
    return recorder.record
