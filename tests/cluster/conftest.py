"""Fixtures for engine.cluster."""

import pytest

from engine.cluster.connecting.connection import Connection
from tests.controlplane.anycluster import AnyCluster


@pytest.fixture
def connection(cluster: AnyCluster) -> Connection:
    """Return an admin's connection to a cluster of either kind."""
    return cluster.connection()
