"""Whatever the cluster: no plan by deserved shares breaks a law."""

import random
from functools import partial

import msgspec
import pytest

from engine.audit import failed_checks
from engine.model.decision import Outcome
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import audit_terms
from engine.policies.deserved import decide
from tests.engine.reclaim_worlds import world

WORLDS = 120
PARTS = 4


def planned(seed: int) -> list[AuditedDecision]:
    """What is decided in the world of a seed."""
    at, tree, parameters = world(random.Random(seed))
    return plan(
        at,
        tree,
        partial(decide, parameters=parameters),
        terms=audit_terms("deserved", "arbitrator", msgspec.structs.asdict(parameters)),
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_no_plan_breaks_a_law(part: int) -> None:
    """Of any of them, and they do preempt."""
    taken = 0
    for seed in range(part, WORLDS, PARTS):
        for one in planned(seed):
            assert not failed_checks(one.laws), (seed, one.decision.ask.name, failed_checks(one.laws))
            taken += one.decision.outcome is Outcome.PREEMPT
    assert taken > WORLDS // PARTS // 10
