"""A simulated API server and the clients that talk to it."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kubernetes import client
from simulated_api import Running, serve

from engine.simulator.store import Store
from tests.controlplane.anycluster import AnyCluster


@pytest.fixture
def server() -> Iterator[Running]:
    """Return a running server with an empty cluster."""
    with serve(Store(lambda: datetime.now(UTC), seed=1)) as running:
        yield running


@pytest.fixture
def core(cluster: AnyCluster) -> Iterator[client.CoreV1Api]:
    """Return the official client for the core group of a cluster of either kind."""
    with cluster.api() as api:
        yield client.CoreV1Api(api)


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
