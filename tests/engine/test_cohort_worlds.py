"""Policies ``cohort`` and ``fair-share`` on many small clusters: laws are kept, and the way there does not matter."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.forecast import Settling, forecast
from engine.journal import Moment
from engine.planning import each
from engine.policies import policy, terms
from tests.builders import NOW
from tests.engine.pod_worlds import world
from tests.properties import examples


@pytest.mark.parametrize("name", ["cohort", "fair-share"])
@given(st.integers(0, 10**6), st.sampled_from(["nested", "kueue"]))
@examples(60)
def test_every_law_is_kept_and_a_forecast_comes_to_rest(name: str, seed: int, guarantees: str) -> None:
    """Each decision is the same on the moment alone, without what was worked out before it in the pass."""
    state, where = world(random.Random(seed))
    parameters = {"guarantees": guarantees}
    decide, said = policy(name, "kueue", parameters), terms(parameters)
    at = state.snapshot(where, now_ms=NOW)
    for seen, considered in each(at, where, decide, terms=said):
        assert not considered.refused
        alone = msgspec.structs.replace(seen)
        again = next(one for one in alone.asks if one.uid == considered.decision.ask.uid)
        assert decide(alone, where, again) == considered.decision
    assert forecast(state, Moment(now_ms=NOW), where, decide, terms=said).settles is Settling.QUIET
