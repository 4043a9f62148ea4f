"""Policies ``cohort`` and ``fair-share`` on many small clusters: laws are kept, and the way there does not matter."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import PodReason
from engine.model.queue_tree import Take
from engine.planning.forecast import Forecast, Settling, forecast
from engine.planning.journal import PassInputs
from engine.planning.scheduling_pass import plan_steps
from engine.policies import audit_terms, policy
from tests.builders import NOW, ask, node, pod, queue, tree
from tests.engine.pod_worlds import world
from tests.engine.test_journal import state_of
from tests.properties import examples


@pytest.mark.parametrize("name", ["cohort", "fair-share"])
@given(st.integers(0, 10**6), st.sampled_from(["nested", "kueue"]))
@examples(60)
def test_every_law_is_kept_and_a_forecast_ends(name: str, seed: int, guarantees: str) -> None:
    """Each decision is the same on the moment alone, without what was worked out before it in the pass."""
    state, where = world(random.Random(seed))
    parameters = {"guarantees": guarantees}
    decide, said = policy(name, "kueue", parameters), audit_terms(name, "kueue", parameters)
    at = state.snapshot(where, now_ms=NOW)
    for seen, considered in plan_steps(at, where, decide, terms=said):
        assert not considered.refused
        alone = msgspec.structs.replace(seen)
        again = next(one for one in alone.asks if one.uid == considered.decision.ask.uid)
        assert decide(alone, where, again) == considered.decision
    found = forecast(state, PassInputs(now_ms=NOW), where, decide, terms=said)
    assert found.settles is Settling.STABLE or loops_for_fair_shares(found)


def loops_for_fair_shares(found: Forecast) -> bool:
    """Whether it is the loop that Kueue's fair sharing itself has: in it some go for the sake of shares."""
    rounds = found.rounds[-found.loop.passes :] if found.loop else ()
    victims = [victim for each_round in rounds for decided in each_round.preemptions for victim in decided.victims]
    return any(victim.reason is PodReason.FAIR_SHARING for victim in victims)


def test_fair_sharing_takes_the_same_pods_in_turn_for_ever_and_says_so() -> None:
    """Kueue's second rule, LessThanInitialShare, looks at what the other one has before, not at what it has after.

    The large one of ``y`` is taken for the small one of ``x``, into whose room the other of ``x`` follows unasked.
    """
    shape = tree({"c": queue("10"), **{f"c.{name}": queue("0", take_reclaim=Take.ANY) for name in "xy"}})
    runs = [("x", 4, 3), ("x", 1, 0), ("x", 3, 0), ("y", 2, 3)]
    state = state_of(
        node("n1", 100),
        [pod(f"{q}-{cpu}", queue=f"c.{q}", cpu=cpu, priority=priority, node="n1") for q, cpu, priority in runs],
        ask("y-4", queue="c.y", cpu=4),
    )
    found = forecast(state, PassInputs(now_ms=NOW), shape, policy("fair-share", "kueue"))
    assert found.settles is Settling.LOOP
    assert found.loop is not None
    assert set(found.loop.queues) == {"root.c.x", "root.c.y"}
    assert loops_for_fair_shares(found)
