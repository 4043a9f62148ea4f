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
    assert told(which).startswith("YuniKorn ")
    assert all(name in told(which) for name in named)
    assert named or "Without that nothing " in told(which)


def test_two_victims_where_three_would_do() -> None:
    assert told(Quirk.TWO_VICTIMS) == "YuniKorn takes at most two victims. 3 would have sufficed on n1: t4, t3, t2."


def test_a_queue_that_is_left_below_its_guarantee_is_named_with_its_numbers() -> None:
    """The victim's leaf, or the queue above it that the departure is about."""
    assert "test is left with 4 of the 5 cpu that it is guaranteed." in told(Quirk.LEAF_BELOW)
    assert "team is left with 4 of the 6 cpu that it is guaranteed." in told(Quirk.PARENT_BELOW)
    assert "test is left with 1 of the 2 cpu that it is guaranteed." in told(Quirk.DAEMONSET_BELOW)


def test_an_ask_that_is_more_than_what_is_left_is_told_with_both() -> None:
    assert "prod has 1 cpu of it left, the ask wants 2." in told(Quirk.WHOLE_ASK)


def test_what_would_have_fitted_says_where() -> None:
    assert told(Quirk.LEAVING_HOLD).endswith("it fits on n1 once the pods that are on their way out are gone.")
