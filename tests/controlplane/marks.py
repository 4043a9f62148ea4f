"""Which tests on the real control plane run every time, and which in the long suite alone."""

from pathlib import Path

import pytest

MARK = "controlplane"
SUITE = "control-plane"
_CLUSTER = Path(__file__).parents[1] / "cluster"
_WRITING = frozenset(
    {
        *("test_config_map", "test_consumers_copy", "test_evict", "test_kueue_copy", "test_lease"),
        *("test_priority_classes", "test_reserve", "test_rights", "test_signing_in", "test_token_review"),
    }
)
"""Modules of tests/cluster: what writes to a cluster, and who may."""


def leave_to_suite(item: pytest.Item) -> None:
    """Mark a test on the real control plane for the long suite, unless it is of what writes to a cluster.

    The simulator says what a real one says, and the long suite holds it to that.
    """
    every_time = item.path.parent == _CLUSTER and item.path.stem in _WRITING
    if item.get_closest_marker(MARK) and not every_time:
        item.add_marker(pytest.mark.suite(SUITE))
