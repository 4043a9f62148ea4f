"""Fixtures for engine.cluster."""

from pathlib import Path

import pytest

from engine.cluster.connection import Connection
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.marks import leave_to_suite

HERE = Path(__file__).parent
WRITING = (
    *("test_config_map", "test_consumers_copy", "test_evict", "test_kueue_copy", "test_lease", "test_priority_classes"),
    *("test_reserve", "test_rights", "test_signing_in", "test_token_review"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hold what writes, and who may, against a real control plane every time; what only reads, in a long suite.

    The simulator says what a real one says: tests/simulator holds it to that.
    """
    leave_to_suite(items, HERE, but=WRITING)


@pytest.fixture
def connection(cluster: AnyCluster) -> Connection:
    """Return an admin's connection to a cluster of either kind."""
    return cluster.connection()
