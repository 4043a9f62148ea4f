"""What YuniKorn's departures from its own design changed, in whole sentences with their numbers."""

import pytest

from engine.explain import quirk_messages
from engine.policies.yunikorn import Quirk, decide, effects, quota_effects
from tests.engine.test_explain import whole
from tests.engine.yunikorn_scenarios import SCENARIOS


def told(which: Quirk) -> str:
    """All sentences on the departure in its own scenario."""
    scenario = SCENARIOS[which]
    at = scenario.snapshot()
    if not at.asks:
        found = quota_effects(at, scenario.tree)
        return next(" ".join(map(whole, quirk_messages(one))) for one in found if one.quirk is which)
    decision = decide(at, scenario.tree, at.asks[0])
    found = effects(at, scenario.tree, at.asks[0], decision)
    return next(" ".join(map(whole, quirk_messages(one, decision))) for one in found if one.quirk is which)


@pytest.mark.parametrize("which", Quirk)
def test_every_quirk_is_told_with_what_would_have_been(which: Quirk) -> None:
    """Who would have gone, or that nothing would."""
    named = SCENARIOS[which].without
    assert "YuniKorn" in told(which)
    assert all(name in told(which) for name in named)
    assert named or "Otherwise, no " in told(which)


def test_two_victims_where_three_would_do() -> None:
    assert told(Quirk.TWO_VICTIMS) == "YuniKorn preempts at most two pods. 3 victims on n1 would be enough: t4, t3, t2."


def test_a_queue_that_is_left_below_its_guarantee_is_named_with_its_numbers() -> None:
    """The victim's leaf, or the queue above it that the departure is about."""
    assert "test keeps 4 of its guarantee of 5 cpu." in told(Quirk.LEAF_BELOW)
    assert "team keeps 4 of its guarantee of 6 cpu." in told(Quirk.PARENT_BELOW)
    assert "test keeps 1 of its guarantee of 2 cpu." in told(Quirk.DAEMONSET_BELOW)


def test_an_ask_that_is_more_than_what_is_left_is_told_with_both() -> None:
    assert "prod has 1 cpu of its guarantee left, and the pod requests 2." in told(Quirk.WHOLE_ASK)


def test_what_would_have_fitted_says_where() -> None:
    assert told(Quirk.LEAVING_HOLD).endswith("it fits on n1 once the terminating pods are gone.")
