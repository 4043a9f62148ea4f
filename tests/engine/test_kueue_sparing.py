"""What of its own would have spared a Workload that Kueue preempted: each change made, and decided again."""

from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec
import pytest

from engine.analysis.counterfactuals import Counterfactual
from engine.explain import change_sentence, no_counterfactuals_reason
from engine.explain.observed.kueue_replay import NOT_SPARED
from engine.explain.observed.replay import OTHER_ANSWER
from engine.formats.kueue.cluster import quota_cluster
from engine.model.change import Change
from engine.model.quota import QuotaCluster
from engine.observation.replay import kueue_counterfactuals
from engine.policies import cohort
from tests.engine.test_hindsight_kueue import borrowed, recorded


def test_what_of_its_own_would_have_spared_a_workload_is_told_of_its_pods() -> None:
    """Its queue's quota so much higher that it borrows nothing, each amount as its queue has it."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    found = world.seen()
    assert found.weighed is not None
    (one,) = (one for one in found.weighed.spared_pod("uid-pod-of-new") if one.change is Change.GUARANTEE)
    assert (one.queue, one.spared) == ("b", found.weighed.theirs[0].key)
    assert change_sentence(one).params["queue"] == "b"
    assert found.weighed.spared_pod("uid-of-another") == ()
    assert no_counterfactuals_reason(found, is_stored=False) == ()


def test_where_ours_differs_nothing_is_said_to_have_spared_it() -> None:
    """By rules that come to another answer nothing can be told."""
    world = borrowed()
    world.preempts("ask", old="InCohortReclamation")
    found = world.seen()
    assert found.weighed is not None
    assert found.weighed.spared is None
    assert [one.id for one in no_counterfactuals_reason(found, is_stored=False)] == [OTHER_ANSWER]


def test_of_a_large_cluster_it_is_said_not_to_be_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would hold up the pass."""
    monkeypatch.setattr(kueue_counterfactuals, "_WORKLOADS", 3)
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    assert [one.id for one in no_counterfactuals_reason(world.seen(), is_stored=False)] == [NOT_SPARED]


@pytest.mark.parametrize("case", list(recorded())[::7])
def test_every_change_that_is_told_does_and_a_little_less_does_not(case: dict[str, Any]) -> None:
    """On Kueue's own decisions."""
    now_ms = int(datetime.fromisoformat(case["now"]).timestamp() * 1000)
    given = quota_cluster(case["objects"], now_ms=now_ms)
    fair = case["fair_sharing"]
    named = (fair or {}).get("preemptionStrategies") or cohort.STRATEGIES
    strategies = None if fair is None else tuple(map(cohort.Strategy, named))
    ask = next(one for one in given.workloads if one.key == case["asker"])
    going = [target.workload for target in cohort.decide(given, ask, strategies).search.targets]
    for one in kueue_counterfactuals.workload_counterfactuals(given, ask, strategies, going) or ():
        for less, stays in ((0, True), (1, False)):
            changed = with_change(given, one, less)
            if changed is not None:
                targets = cohort.decide(changed, ask, strategies).search.targets
                assert (one.spared not in {target.workload.key for target in targets}) is stays


def with_change(given: QuotaCluster, one: Counterfactual, less: int) -> QuotaCluster | None:
    """With a change made, or by so much less than that; None where there is no less of it."""
    if one.change is Change.PRIORITY:
        if less or one.priority is None:
            return None  # not every priority in between is tried
        changed = [
            msgspec.structs.replace(each, priority=one.priority) if each.key == one.spared else each
            for each in given.workloads
        ]
        return msgspec.structs.replace(given, workloads=tuple(changed))
    queue = given.queues[one.queue]
    if one.weight is not None:
        found = msgspec.structs.replace(queue, weight=Fraction(one.weight - less * 10**6, 10**9))
    else:
        ((name, amount),) = one.amounts.items()
        resource, _at, flavor = name.partition("@")
        of = next(each for each in queue.quotas if each[1] == resource and flavor in ("", each[0]))
        nominal = msgspec.structs.replace(queue.quotas[of], nominal=amount - less)
        found = msgspec.structs.replace(queue, quotas={**queue.quotas, of: nominal})
    return msgspec.structs.replace(given, queues={**given.queues, queue.name: found})
