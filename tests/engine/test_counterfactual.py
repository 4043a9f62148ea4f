"""What would have been decided otherwise: every change that is told of does what is said, and no smaller one does."""

import msgspec
import pytest
from hypothesis import given

from benchmarks.scenario_p import scenario_p
from engine.analysis.counterfactuals import Again, Counterfactual, Then, counterfactuals, counterfactuals_of_victim
from engine.model.change import Change
from engine.model.decision import Decision, Outcome, PodReason
from engine.model.objects import DisruptionBudget, Pod, Requirement
from engine.model.queue_tree import ROOT, Queue, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import priority
from tests.builders import NOW, amounts, ask, node, pod
from tests.engine.priority_worlds import worlds
from tests.properties import examples

TREE = QueueTree([Queue(path=ROOT)])


def decide(snapshot: Snapshot, asker: Pod) -> Decision:
    return priority.decide(snapshot, TREE, asker)


def changes(snapshot: Snapshot, asker: Pod) -> tuple[Counterfactual, ...]:
    """All that would have changed what the policy decides."""
    again, decision = Again(snapshot, TREE, asker, decide_under), decide(snapshot, asker)
    own = [one for victim in decision.victims[:3] for one in counterfactuals_of_victim(again, decision, victim.pod.uid)]
    return (*counterfactuals(again, decision), *own)


def decide_under(snapshot: Snapshot, tree: QueueTree, asker: Pod) -> Decision:
    return priority.decide(snapshot, tree, asker)


def told(snapshot: Snapshot, asker: Pod, *, then: Then, change: Change):
    """What is told of one kind of change."""
    found = changes(snapshot, asker)
    return [one for one in found if (one.then, one.change) == (then, change)]


def cluster(*objects, budgets=()):
    """A snapshot of nodes and pods."""
    pods = sorted((one for one in objects if isinstance(one, Pod)), key=lambda one: one.name)
    nodes = tuple(one for one in objects if not isinstance(one, Pod))
    return Snapshot(now_ms=NOW, nodes=nodes, pods=tuple(pods), budgets=tuple(budgets))


def web(name: str, allowed: int) -> DisruptionBudget:
    return DisruptionBudget(
        namespace="ns", name=name, expressions=(Requirement("app", "In", (name,)),), allowed=allowed
    )


ASK = ask("ask", cpu=3, priority=1000)


def test_a_smaller_request_fits_without_any_preemption():
    """On the node that lacks least, told by how much."""
    at = cluster(node("n2", 4), node("n3", 4), pod("a", cpu=3, node="n2"), pod("b", cpu="2500m", node="n3"), ASK)
    (found,) = told(at, ASK, then=Then.FITS, change=Change.REQUEST)
    assert (found.smaller, found.node) == (amounts("1500m"), "n3")


def test_where_no_resource_alone_helps_both_are_told():
    """The node whose larger part of the request is the smallest."""
    asker = ask("ask", cpu=4, resources={"memory": "4Gi"}, priority=1000)
    full = {"memory": "4Gi"}
    at = cluster(
        node("n1", 4, resources=full),
        node("n2", 4, resources=full),
        pod("a", cpu=3, resources={"memory": "1Gi"}, node="n1"),
        pod("b", cpu=2, resources={"memory": "2Gi"}, node="n2"),
        asker,
    )
    (found,) = told(at, asker, then=Then.FITS, change=Change.REQUEST)
    assert (found.smaller, found.node) == (amounts({"cpu": 2, "memory": "2Gi"}), "n2")


def test_of_one_that_gets_no_room_nothing_is_told_here():
    """What would help it is told tier by tier: see engine.analysis.pending_reasons."""
    at = cluster(node("n1", 4), pod("high", cpu=2, priority=2000, node="n1"), pod("low", cpu=2, node="n1"), ASK)
    assert changes(at, ASK) == ()


def test_a_budget_that_allows_more_leaves_no_violation():
    """How many more is told."""
    labels = {"app": "web"}
    at = cluster(
        node("n1", 4),
        pod("a", cpu=2, labels=labels, node="n1"),
        pod("b", cpu=2, labels=labels, node="n1"),
        ASK,
        budgets=[web("web", 0)],
    )
    (found,) = told(at, ASK, then=Then.NO_VIOLATION, change=Change.BUDGET)
    assert found.budgets == {"ns/web": 2}


def test_several_budgets_are_told_together_where_one_does_not_do():
    at = cluster(
        node("n1", 4),
        pod("a", cpu=2, labels={"app": "web"}, node="n1"),
        pod("b", cpu=2, labels={"app": "db"}, node="n1"),
        ASK,
        budgets=[web("web", 0), web("db", 0)],
    )
    (found,) = told(at, ASK, then=Then.NO_VIOLATION, change=Change.BUDGET)
    assert found.budgets == {"ns/web": 1, "ns/db": 1}


def test_a_victim_is_spared_by_a_priority_above_its_neighbour():
    """Long before it is out of the ask's reach."""
    at = cluster(node("n1", 4), pod("a", cpu=2, priority=10, node="n1"), pod("b", cpu=2, priority=20, node="n1"),
                 asker := ask("ask", cpu=2, priority=1000))  # fmt: skip
    (found,) = told(at, asker, then=Then.SPARED, change=Change.PRIORITY)
    assert (found.spared, found.priority, found.victims) == ("ns/a", 20, ("ns/b",))


def test_a_victim_is_spared_by_a_smaller_ask():
    at = cluster(node("n1", 6), pod("a", cpu=1, priority=10, node="n1"), pod("b", cpu=2, priority=5, node="n1"),
                 pod("c", cpu=3, priority=2000, node="n1"), ASK)  # fmt: skip
    found = told(at, ASK, then=Then.SPARED, change=Change.REQUEST)
    assert [(one.spared, one.smaller) for one in found] == [("ns/a", amounts(1)), ("ns/b", amounts(3))]


def test_a_victim_is_spared_by_a_tighter_budget_where_another_node_then_costs_less():
    at = cluster(
        node("n1", 4),
        node("n2", 4),
        pod("a", cpu=4, priority=1, labels={"app": "web"}, node="n1"),
        pod("b", cpu=4, priority=2, node="n2"),
        ASK,
        budgets=[web("web", 1)],
    )
    (found,) = told(at, ASK, then=Then.SPARED, change=Change.BUDGET)
    assert (found.spared, found.budgets, found.node) == ("ns/a", {"ns/web": 0}, "n2")


def test_nothing_is_told_of_an_ask_that_fits_or_can_not_be_read():
    fitting = cluster(node("n1", 4), ASK)
    assert changes(fitting, ASK) == ()
    odd = msgspec.structs.replace(ASK, unread=True)
    at = cluster(node("n1", 4), pod("a", cpu=4, node="n1"), odd)
    assert changes(at, odd) == ()


@examples(150)
@given(worlds())
def test_what_is_told_comes_true_and_is_the_least(world):
    """Held against every smaller change of the same kind, tried one by one."""
    at, asker = world
    for one in changes(at, asker):
        match one.change:
            case Change.REQUEST if len(one.smaller) == 1:
                ((name, least),) = one.smaller.items()
                tried = [(by, _smaller(at, asker, name, by)) for by in range(1, least + 1)]
            case Change.PRIORITY:
                before = asker if one.pod == asker.key else next(pod for pod in at.pods if pod.key == one.pod)
                tried = [
                    (by, _with_priority(at, asker, before, by)) for by in range(before.priority + 1, one.priority + 1)
                ]
            case Change.OWN_REQUEST:
                ((name, least),) = one.smaller.items()
                tried = [(by, _victim_with(at, asker, one, less={name: by})) for by in (least - 1, least)]
            case Change.START:
                tried = [(0, _victim_with(at, asker, one, started_ms=one.started_ms))]
            case Change.BUDGET:
                tried = [(0, _with_budgets(at, asker, one.budgets))]
            case _:
                continue
        came = [_came(one, again) for _, again in tried]
        assert came[-1], one
        assert not any(came[:-1]), one
        assert (one.node, one.victims) == (
            tried[-1][1].node or "",
            tuple(each.pod.key for each in tried[-1][1].victims),
        )


@examples(150)
@given(worlds())
def test_a_smaller_request_that_would_fit_is_never_missed(world):
    """Of one resource alone, or of both."""
    at, asker = world
    decision = decide(at, asker)
    found = [one for one in changes(at, asker) if one.then is Then.FITS and one.smaller]
    if decision.outcome is not Outcome.PREEMPT:
        assert found == []
        return
    alone = {name for name, amount in asker.requests.items() if name != "pods" and any(
        _smaller(at, asker, name, by).outcome is Outcome.FITS for by in range(1, amount + 1))}  # fmt: skip
    assert {name for one in found if len(one.smaller) == 1 for name in one.smaller} == alone
    if not alone:
        nothing = msgspec.structs.replace(asker, requests={"pods": 1})
        assert bool(found) == (decide(at, nothing).outcome is Outcome.FITS)


def _smaller(at, asker, name, by):
    return decide(at, msgspec.structs.replace(asker, requests={**asker.requests, name: asker.requests[name] - by}))


def _with_priority(at, asker, whose, value):
    changed = msgspec.structs.replace(whose, priority=value)
    pods = tuple(changed if pod.uid == whose.uid else pod for pod in at.pods)
    return decide(msgspec.structs.replace(at, pods=pods), changed if whose.uid == asker.uid else asker)


def _victim_with(at, asker, one, *, less=None, **changed):
    victim = next(pod for pod in at.pods if pod.key == one.spared)
    if less is not None:
        changed["requests"] = {name: amount - less.get(name, 0) for name, amount in victim.requests.items()}
    pods = tuple(msgspec.structs.replace(pod, **changed) if pod.uid == victim.uid else pod for pod in at.pods)
    return decide(msgspec.structs.replace(at, pods=pods), asker)


def _with_budgets(at, asker, allowed):
    budgets = (msgspec.structs.replace(one, allowed=allowed.get(f"ns/{one.name}", one.allowed)) for one in at.budgets)
    return decide(msgspec.structs.replace(at, budgets=tuple(budgets)), asker)


def _came(one, again) -> bool:
    going = {each.pod.key for each in again.victims}
    match one.then:
        case Then.FITS:
            return again.outcome is Outcome.FITS
        case Then.NO_VIOLATION:
            return again.outcome is Outcome.PREEMPT and all(
                each.reason is not PodReason.OVER_BUDGET for each in again.victims
            )
        case _:
            return one.spared not in going


@pytest.mark.parametrize("rules", [False, True])
def test_the_work_is_bounded_on_a_large_cluster(rules, monkeypatch):
    """Some tens of decisions, whatever the cluster's size."""
    at, _, asker = scenario_p(0.04, budgets=True, rules=rules)
    count = []
    original = priority.decide
    monkeypatch.setattr(priority, "decide", lambda *given: count.append(1) or original(*given))
    assert changes(at, asker)
    assert len(count) < 100
