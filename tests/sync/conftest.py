"""A cluster with a copy of its own."""

from pathlib import Path

import pytest

from tests.controlplane.anycluster import AnyCluster
from tests.sync.builders import Kept


@pytest.fixture
def kept(cluster: AnyCluster, tmp_path: Path, db: None) -> Kept:
    """In step with revision 1, as after a look."""
    return Kept(cluster, tmp_path)
