"""Fixtures for engine.cluster."""

from collections.abc import Iterator

import pytest

from engine.cluster.connection import Connection
from tests.cluster.doubles import Simulated, simulate


@pytest.fixture
def cluster() -> Iterator[Simulated]:
    """Return an empty simulated cluster."""
    with simulate() as simulated:
        yield simulated


@pytest.fixture
def connection(cluster: Simulated) -> Connection:
    """Return a connection to the simulated cluster."""
    return cluster.connection()
