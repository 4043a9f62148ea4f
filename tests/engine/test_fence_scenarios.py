"""Policy fence on the design's own scenarios: decide, carry out, let victims come back, and look where it ends."""

import pytest

from engine.audit import audit, failed_checks
from engine.model.decision import Decision, Outcome, Reason
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import fence
from tests.builders import (
    MINUTE,
    NOW,
    OPTED_OUT,
    ask,
    daemonset_ask,
    named,
    node,
    pod,
    queue,
    settled,
    snapshot,
    tree,
    victims_of,
)

MOST_ROUNDS = 50
"""Far more than any of these scenarios needs: reaching it is a loop."""


def until_quiet(at: Snapshot, tree: QueueTree) -> tuple[Snapshot, list[Decision]]:
    """Decide for the first ask that can be helped, carry it out, and again until none can."""
    done: list[Decision] = []
    while len(done) < MOST_ROUNDS:
        decisions = (fence.decide(at, tree, asker) for asker in at.asks)
        helped = next((one for one in decisions if one.outcome in (Outcome.PREEMPT, Outcome.FITS)), None)
        if helped is None:
            return at, done
        assert not failed_checks(audit(at, tree, helped))
        done.append(helped)
        at = settled(at, helped)
    pytest.fail("it never comes to rest")


def cpu_of(at: Snapshot, tree: QueueTree, path: str) -> int:
    """Whole cores used by a queue."""
    return at.usage(tree)[path].get("cpu", 0) // 1000


def prod_and_test(shape: QueueTree, prod: int, test: int, asks: int) -> Snapshot:
    """A full cluster of pods of 2 cores, and Prod's asks."""
    return snapshot(
        shape,
        node("n1", prod + test),
        [pod(f"p{i}", queue="prod", cpu=2, node="n1") for i in range(prod // 2)],
        [pod(f"t{i}", queue="test", cpu=2, node="n1") for i in range(test // 2)],
        [ask(f"want{i}", queue="prod", cpu=2) for i in range(asks)],
    )


def test_scenario_1_one_pod_goes_and_both_end_at_or_above() -> None:
    """Prod 4 of 5, Test 8 over 5: one goes, 6 and 6; Test's new pod waits, and Prod's second ask too."""
    shape = tree({"prod": queue("5"), "test": queue("5")})
    end, done = until_quiet(prod_and_test(shape, prod=4, test=8, asks=2), shape)
    assert [(one.outcome, len(one.victims)) for one in done] == [(Outcome.PREEMPT, 1)]
    assert (cpu_of(end, shape, "root.prod"), cpu_of(end, shape, "root.test")) == (6, 6)
    assert {fence.decide(end, shape, one).reason for one in end.asks} == {Reason.AT_GUARANTEE}


def test_scenario_2_nothing_happens_where_it_would_go_too_far() -> None:
    """Test 6 over 5, pods of 2: Prod waits."""
    shape = tree({"prod": queue("5"), "test": queue("5")})
    end, done = until_quiet(prod_and_test(shape, prod=4, test=6, asks=1), shape)
    assert done == []
    assert fence.decide(end, shape, named(end, "want0")).outcome is Outcome.NO_CANDIDATE


def test_scenario_3_goes_on_one_ask_at_a_time_and_ends() -> None:
    """Prod 4 of 10, Test 8 over 2: three steps to 10 and 2, however many asks there are."""
    shape = tree({"prod": queue("10"), "test": queue("2")})
    end, done = until_quiet(prod_and_test(shape, prod=4, test=8, asks=6), shape)
    assert [len(one.victims) for one in done] == [1, 1, 1]
    assert (cpu_of(end, shape, "root.prod"), cpu_of(end, shape, "root.test")) == (10, 2)


FENCES = tree(
    {
        "system": queue("4"),
        "tenant1": queue(fence=True),
        "tenant1.queue-a": queue("4", fence=True),
        "tenant1.queue-b": queue("4"),
        "tenant2": queue(fence=True),
        "tenant2.queue1": queue("4"),
        "tenant2.queue2": queue("4"),
    }
)


def fenced(asker: str, over: str) -> Snapshot:
    """One pod of 1 core more than its guarantee in ``over``, on a full node; ``asker`` below its guarantee."""
    return snapshot(
        FENCES, node("n1", 5), [pod(f"v{i}", queue=over, node="n1") for i in range(5)], ask("a", queue=asker)
    )


@pytest.mark.parametrize(
    ("asker", "over", "reaches"),
    [
        ("tenant1.queue-a", "tenant1.queue-b", False),
        ("tenant1.queue-a", "system", False),
        ("tenant1.queue-a", "tenant2.queue1", False),
        ("tenant1.queue-b", "tenant1.queue-a", True),
        ("tenant1.queue-b", "system", False),
        ("tenant1.queue-b", "tenant2.queue2", False),
        ("tenant2.queue1", "tenant2.queue2", True),
        ("tenant2.queue2", "tenant2.queue1", True),
        ("tenant2.queue1", "tenant1.queue-b", False),
        ("tenant2.queue1", "system", False),
        ("system", "tenant1.queue-a", True),
        ("system", "tenant1.queue-b", True),
        ("system", "tenant2.queue1", True),
        ("system", "tenant2.queue2", True),
    ],
)
def test_the_fence_example(asker: str, over: str, reaches: bool) -> None:
    """Who reaches whom: one way out of System, nowhere out of a tenant, not even within for Queue A."""
    at = fenced(asker, over)
    decision = fence.decide(at, FENCES, named(at, "a"))
    assert decision.outcome is (Outcome.PREEMPT if reaches else Outcome.NO_CANDIDATE)
    assert decision.reason is (Reason.BELOW_GUARANTEE if reaches else Reason.FENCE)
    assert len(decision.victims) == reaches


def test_siblings_take_from_beside_never_from_each_other() -> None:
    """A 4 and B 4 under T (8 of its 10), S 2 beside: B's ask takes S's pod and then nothing."""
    shape = tree({"t": queue("10"), "t.a": queue(), "t.b": queue(), "s": queue()})
    running = [pod(f"{name}{i}", queue=f"t.{name}", cpu=2, node="n1") for name in "ab" for i in range(2)]
    asks = [ask(f"want{i}", queue="t.b", cpu=2) for i in range(2)]
    at = snapshot(shape, node("n1", 10), running, pod("s0", queue="s", cpu=2, node="n1"), asks)
    _, done = until_quiet(at, shape)
    assert [victims_of(one) for one in done] == [["s0"]]


def one_over(**asker: object) -> tuple[QueueTree, Snapshot]:
    """Test is over its guarantee by the one pod that Prod's ask needs."""
    shape = tree({"prod": queue("2"), "test": queue("1")})
    pods = [pod(f"t{i}", queue="test", node="n1") for i in range(2)]
    return shape, snapshot(shape, node("n1", 2), pods, ask("a", **{"queue": "prod", **asker}))


@pytest.mark.parametrize(
    ("asker", "reason"),
    [
        ({"never_preempts": True}, Reason.NEVER),
        ({"queue": "nowhere"}, Reason.NO_QUEUE),
        ({"unread_rules": ("inter-pod affinity",)}, Reason.UNREAD_RULES),
        ({"unschedulable_ms": None}, Reason.NOT_TRIED),
        ({"unschedulable_ms": NOW - MINUTE // 2 + 1}, Reason.DELAY),
    ],
)
def test_who_may_not_preempt_is_told_why(asker: dict[str, object], reason: Reason) -> None:
    """Each refusal names its own reason, and nobody is evicted."""
    shape, at = one_over(**asker)
    decision = fence.decide(at, shape, named(at, "a"))
    assert (decision.outcome, decision.reason, decision.victims) == (Outcome.NOT_ELIGIBLE, reason, ())


def test_the_delay_counts_from_when_it_was_found_unschedulable() -> None:
    """At 30 s to the millisecond the ask is due; before, the decision says when."""
    shape, at = one_over(unschedulable_ms=NOW - MINUTE // 2)
    assert fence.decide(at, shape, named(at, "a")).outcome is Outcome.PREEMPT
    shape, early = one_over(unschedulable_ms=NOW - MINUTE // 2 + 1)
    assert fence.decide(early, shape, named(early, "a")).due_ms == NOW + 1


def test_opted_out_pods_go_only_for_a_daemonset_and_only_last() -> None:
    """Law 1: the ordinary ask finds nothing, the DaemonSet's takes the other pod while there is one."""
    shape = tree({"prod": queue("2"), "agents": queue(), "test": queue()})
    kept = pod("kept", queue="test", node="n1", priority_class="keep")
    asks = [ask("plain", queue="prod"), daemonset_ask("agent", on="n1", queue="agents")]
    alone = snapshot(shape, node("n1", 1), OPTED_OUT, kept, asks)
    assert fence.decide(alone, shape, named(alone, "plain")).outcome is Outcome.NO_CANDIDATE
    resort = fence.decide(alone, shape, named(alone, "agent"))
    assert (victims_of(resort), resort.reason) == (["kept"], Reason.LAST_RESORT)
    beside = snapshot(shape, node("n1", 2), OPTED_OUT, kept, pod("other", queue="test", node="n1"), asks)
    assert victims_of(fence.decide(beside, shape, named(beside, "agent"))) == ["other"]


def test_a_daemonset_ask_looks_at_its_node_alone() -> None:
    """Room on another node is no room for it."""
    shape = tree({"agents": queue(), "test": queue()})
    running = pod("t", queue="test", node="n1")
    at = snapshot(shape, node("n1", 1), node("n2", 1), running, daemonset_ask("agent", on="n1", queue="agents"))
    decision = fence.decide(at, shape, named(at, "agent"))
    assert (decision.node, victims_of(decision)) == ("n1", ["t"])


@pytest.mark.parametrize(
    ("cheaper", "dearer"),
    [
        ({}, {"app": "spark"}),
        ({"priority": -1}, {}),
        ({"started_ms": NOW - MINUTE}, {}),
        ({"created_ms": 5}, {}),
    ],
    ids=["no originator", "lower priority", "less work lost", "newer"],
)
def test_the_cheaper_pod_goes(cheaper: dict[str, object], dearer: dict[str, object]) -> None:
    """On one node and between two, in the order of the rules; every test differs in one thing."""
    shape = tree({"prod": queue("2"), "test": queue()})
    # Both but the one meant as originator belong to an application whose first pod runs elsewhere.
    first = pod("first", queue="test", node="n0", app="app", created_ms=-1)
    for nodes in (("n1", "n1"), ("n1", "n2")):
        pods = [
            pod("dear", queue="test", node=nodes[0], **{"app": "app", **dearer}),
            pod("cheap", queue="test", node=nodes[1], **{"app": "app", **cheaper}),
        ]
        full = [node("n0", 1), node("n1", nodes.count("n1")), *([node("n2", 1)] if "n2" in nodes else [])]
        frozen = pod("frozen", queue="prod", node="n0", cpu=0)
        at = snapshot(shape, full, first, frozen, pods, ask("a", queue="prod"))
        assert victims_of(fence.decide(at, shape, named(at, "a"))) == ["cheap"]
