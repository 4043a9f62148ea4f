"""A decision is one that can be carried out: victims are chosen among those whom lasting safeguards let go."""

from collections.abc import Iterator
from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import Invariant, audit, failed_checks
from engine.model.decision import Decision, Interlock, Outcome, PodFacts, PodReason, PodVerdict
from engine.model.objects import DisruptionBudget, Node, Pod
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.scheduling_pass import plan
from engine.policies import decisions_of_other_policies, fence, policy
from tests.builders import ask, budget, named, node, pod, queue, snapshot, tree, victims_of
from tests.engine.safeguard_worlds import world
from tests.properties import examples

TREE = tree({"prod": queue("8"), "test.a": queue(), "test.b": queue()})
TWO_NODES = (
    node("n1", 1),
    node("n2", 1),
    pod("young", queue="test.a", node="n1", created_ms=2, labels={"app": "young"}),
    pod("old", queue="test.b", node="n2", created_ms=1, labels={"app": "old"}),
)
"""Each node is full; the policy prefers the young pod."""


def decided(*objects: Node | Pod | DisruptionBudget, paused: tuple[str, ...] = (), known: bool = True) -> Decision:
    """What ``want``, an ask of Prod for a core, comes to."""
    given = Safeguards(paused=paused) if known else None
    at = snapshot(TREE, ask("want", queue="prod"), objects, safeguards=given)
    return fence.decide(at, at.tree, named(at, "want"))


def held_by(decision: Decision) -> str:
    """The safeguard that holds a decision back, with the queue or the budgets; empty: none."""
    return f"{decision.safeguard.interlock} {decision.safeguard.detail}" if decision.safeguard else ""


def test_without_a_safeguard_the_young_pod_goes() -> None:
    """Else the tests below would show nothing."""
    assert victims_of(decided(*TWO_NODES)) == ["young"]


@pytest.mark.parametrize(
    "budgets",
    [
        pytest.param([budget(0, app="young")], id="a budget at 0"),
        pytest.param([budget(5, "one", app="young"), budget(5, "two", app="young")], id="two budgets"),
    ],
)
def test_a_pod_whose_eviction_would_be_refused_is_no_candidate(budgets: list[DisruptionBudget]) -> None:
    """The other one goes, at once; the trace names the budgets."""
    decision = decided(*TWO_NODES, pod("third", queue="test.a", node="n2", cpu=0, labels={"app": "young"}), *budgets)
    assert (victims_of(decision), held_by(decision)) == (["old"], "")
    verdict = next(one for one in decision.trace.excluded if one.pod.name == "third")
    names = ", ".join(one.name for one in budgets)
    assert (verdict.reason, verdict.detail) == (PodReason.OVER_BUDGET, names)


def test_a_paused_queue_keeps_its_pods() -> None:
    """Also where a queue above is paused."""
    decision = decided(*TWO_NODES, paused=("root.test.a",))
    assert (victims_of(decision), held_by(decision)) == (["old"], "")
    above = decided(*TWO_NODES, paused=("root.test",))
    assert held_by(above) == "queue-paused root.test"


@pytest.mark.parametrize(
    ("paused", "victims", "holds"),
    [
        ((), ["young"], ""),
        (("root.test.a",), ["old"], ""),
        (("root.test",), ["young"], "queue-paused root.test"),
    ],
)
def test_so_it_is_where_shares_are_deserved(paused: tuple[str, ...], victims: list[str], holds: str) -> None:
    """Both have been told to give back, and their grace is over."""
    told = {"root.test.a": 0, "root.test.b": 0}
    given = Safeguards(paused=paused)
    at = snapshot(TREE, ask("want", queue="prod"), TWO_NODES, notices=told, safeguards=given)
    decision = policy("deserved", "arbitrator")(at, at.tree, named(at, "want"))
    assert (victims_of(decision), held_by(decision)) == (victims, holds)


def test_a_budget_with_an_empty_selector_covers_its_whole_namespace() -> None:
    """As the Eviction API has it, whatever kube-scheduler takes it for."""
    decision = decided(*TWO_NODES, budget(0, "everybody"))
    assert (decision.outcome, held_by(decision)) == (Outcome.PREEMPT, "disruption-budget ns/everybody")


def test_a_budget_that_is_used_up_by_a_decision_keeps_the_next_one_away() -> None:
    """Within one pass: the second ask takes the pod that no budget covers, though it is the dearer one."""
    covered = {"queue": "test.a", "labels": {"app": "young"}}
    objects = [node("n1", 1), node("n2", 1), node("n3", 1)]
    objects += [pod(f"young-{number}", node=f"n{number}", created_ms=9, **covered) for number in (1, 2)]
    asks = [ask("want-1", queue="prod"), ask("want-2", queue="prod")]
    at = snapshot(
        TREE, objects, asks, pod("old", queue="test.b", node="n3"), budget(1, app="young"), safeguards=Safeguards()
    )
    considered = plan(at, at.tree, policy("fence", "design"))
    assert [victims_of(one.decision) for one in considered] == [["young-1"], ["old"]]
    assert not any(one.hold or one.refused for one in considered)


def test_a_budget_is_kept_by_all_victims_together() -> None:
    """Of two pods that it covers one may go, so another goes with it, or another node is taken."""
    covered = {"node": "n1", "queue": "test.a", "labels": {"app": "young"}, "created_ms": 9}
    objects = [node("n1", 3), pod("a", **covered), pod("b", **covered), pod("c", queue="test.b", node="n1")]
    at = snapshot(TREE, ask("want", queue="prod", cpu=2), objects, budget(1, app="young"), safeguards=Safeguards())
    decision = fence.decide(at, at.tree, named(at, "want"))
    assert (victims_of(decision), held_by(decision)) == (["a", "c"], "")


def test_where_every_set_is_refused_the_best_one_is_named_with_what_holds_it_back() -> None:
    """It is held back, and takes nothing from the asks after it."""
    budgets = [budget(0, "of-young", app="young"), budget(0, "of-old", app="old")]
    decision = decided(*TWO_NODES, *budgets)
    assert victims_of(decision) == ["young"]
    assert held_by(decision) == "disruption-budget ns/of-young"
    at = snapshot(TREE, ask("want", queue="prod"), TWO_NODES, budgets, safeguards=Safeguards())
    (considered,) = plan(at, at.tree, policy("fence", "design"))
    assert (considered.hold, considered.refused) == (Interlock.DISRUPTION_BUDGET, False)


def test_nothing_is_evicted_for_a_paused_queue() -> None:
    """Whoever would go: others still see who."""
    decision = decided(*TWO_NODES, paused=("root.prod",))
    assert (victims_of(decision), held_by(decision)) == (["young"], "queue-paused root.prod")


def test_where_nobody_acts_budgets_are_not_looked_at() -> None:
    """As in a recorded case."""
    assert victims_of(decided(*TWO_NODES, budget(0, app="young"), known=False)) == ["young"]


def test_another_scheduler_is_not_given_our_safeguards() -> None:
    """What kube-scheduler would do at that moment is what it does: it spends budgets as it likes."""
    objects = [msgspec.structs.replace(one, priority=-1) if isinstance(one, Pod) else one for one in TWO_NODES]
    at = snapshot(TREE, ask("want", queue="prod"), objects, budget(0, "everybody"), safeguards=Safeguards())
    ours = fence.decide(at, at.tree, named(at, "want"))
    theirs = next(
        one for one in decisions_of_other_policies(at, at.tree, named(at, "want"), ours) if one.policy == "priority"
    )
    assert (theirs.outcome, held_by(theirs)) == (Outcome.PREEMPT, "")


DECIDE = {"fence": policy("fence", "design"), "priority": policy("priority", "kube-scheduler")}
"""Those whose victims the safeguards have a say in."""


def sets(at: Snapshot, decision: Decision) -> Iterator[Decision]:
    """Every set of pods of a node, as the same policy's decision for the same ask."""
    for one in at.nodes:
        pods = at.pods_by_node[one.name]
        for count in range(1, len(pods) + 1):
            for chosen in combinations(pods, count):
                victims = tuple(PodVerdict(pod=PodFacts.of(each), reason=PodReason.OVER_GUARANTEE) for each in chosen)
                yield msgspec.structs.replace(
                    decision, outcome=Outcome.PREEMPT, node=one.name, victims=victims, safeguard=msgspec.UNSET
                )


def is_allowed(at: Snapshot, decision: Decision) -> bool:
    """Whether no law is broken, those on safeguards included; that some victim could stay is no matter here."""
    return {check.law for check in failed_checks(audit(at, at.tree, decision))} <= {Invariant.MINIMAL}


@pytest.mark.parametrize("by", DECIDE)
@given(seed=st.integers(0, 2**32))
@examples(400)
def test_an_allowed_set_is_chosen_whenever_there_is_one(by: str, seed: int) -> None:
    """Every set of every node is tried, and held against the audit, which counts budgets and pauses by itself."""
    at = world(seed, TREE)
    decision = DECIDE[by](at, at.tree, named(at, "want"))
    exists = any(is_allowed(at, one) for one in sets(at, decision))
    assert exists == (decision.evicts and not held_by(decision))
    if exists:
        assert not failed_checks(audit(at, at.tree, decision))
