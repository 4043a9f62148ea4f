"""Which tests on the real control plane run every time, and which in the long suite alone."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from tests.conftest import MARK


def leave_to_suite(items: Sequence[pytest.Item], folder: Path, but: Collection[str] = ()) -> None:
    """Mark a folder's tests on the real control plane for the long suite, ``but`` those of some modules."""
    for item in items:
        if item.path.is_relative_to(folder) and item.path.stem not in but and item.get_closest_marker(MARK):
            item.add_marker(pytest.mark.suite("control-plane"))
