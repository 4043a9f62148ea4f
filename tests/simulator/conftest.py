"""A simulated API server and the clients that talk to it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from kubernetes import client
from simulated_api import Running, serve

from simulator.storage.store import Store
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
