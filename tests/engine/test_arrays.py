"""What is said of many objects becomes an array, part by part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.collections import arrays
from engine.model.collections.arrays import array_of


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=25), at_once=st.integers(1, 12))
def test_an_array_holds_the_values_in_their_order(values: list[int], at_once: int) -> None:
    """It does not matter how many of them are read at once, nor whether the last part is full."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_AT_ONCE", at_once)
        found = array_of(iter(values), np.int64, len(values))
    assert (found.tolist(), found.dtype) == (values, np.int64)


def test_too_few_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="too short"):
        array_of(iter([1, 2]), np.int64, 3)
