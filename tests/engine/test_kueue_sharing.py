"""What Kueue's ConfigMap says of fair sharing is read or refused, whatever people typed there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.reader import DecodeError
from engine.formats.kueue.watched import SHARING_READER
from engine.model.objects import KueueSettings

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def told(fair: Any) -> KueueSettings | None:
    """What is read of a ConfigMap with such a setting; JSON is YAML."""
    data = {"controller_manager_config.yaml": json.dumps({"fairSharing": fair})}
    return SHARING_READER.from_bytes(json.dumps({"metadata": {"name": "kueue-manager-config"}, "data": data}).encode())


def test_the_strategies_are_those_listed() -> None:
    """In their order."""
    named = ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]
    assert told({"preemptionStrategies": named}) == KueueSettings(
        name="kueue-manager-config", fair=True, strategies=tuple(named)
    )


@pytest.mark.parametrize("strategies", [5, True, {"LessThanInitialShare": None}, "LessThanInitialShare", [1]])
def test_strategies_that_are_no_list_of_words_are_refused(strategies: Any) -> None:
    """As a sentence."""
    with pytest.raises(DecodeError, match="must be a list of strings"):
        told({"preemptionStrategies": strategies})


@given(VALUES | st.fixed_dictionaries({}, optional={"enable": VALUES, "preemptionStrategies": VALUES}))
def test_whatever_stands_there_is_read_or_refused(fair: Any) -> None:
    """Nothing else goes wrong: it would end the watch."""
    try:
        found = told(fair)
    except DecodeError:
        return
    assert found is not None
