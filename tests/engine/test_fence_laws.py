"""Policy fence keeps every law in random clusters, in whatever order it is told of them, and comes to rest."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.audit import AuditTerms, Invariant, audit, audit_plan, failed_checks
from engine.feasibility.plain import refusal
from engine.model.decision import Decision, Outcome, encode
from engine.model.objects import Node, Pod
from engine.model.quantities import fits
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import fence
from tests.builders import OPTED_OUT, preempting, settled, snapshot
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

LAST_RESORTS = ("daemonset", "any", "never")


def decide(at: Snapshot, tree: QueueTree, asker: Pod, last_resort: str = "daemonset") -> Decision:
    """Decide with one way to treat those who opted out."""
    return fence.decide(at, tree, asker, fence.Parameters(last_resort=last_resort))  # type: ignore[arg-type]


def lacking(at: Snapshot, tree: QueueTree) -> int:
    """What all queues lack of their guarantees, over all resources."""
    usage = at.usage(tree)
    return sum(
        max(0, promised - usage[path].get(resource, 0))
        for path in tree.walk()
        for resource, promised in tree[path].guaranteed.items()
    )


@given(tree=queue_trees(), objects=clusters(), last_resort=st.sampled_from(LAST_RESORTS))
@examples(400)
def test_no_decision_breaks_a_law(tree: QueueTree, objects: list[Node | Pod], last_resort: str) -> None:
    """The audit, which shares no code with the policy, finds nothing to refuse."""
    at = snapshot(tree, objects, OPTED_OUT)
    for asker in at.asks:
        checks = audit(at, tree, decide(at, tree, asker, last_resort), terms=AuditTerms(last_resort=last_resort))
        assert not failed_checks(checks)


@given(tree=queue_trees(), objects=clusters(), random=st.randoms(use_true_random=False))
@examples(300)
def test_what_a_decision_makes_room_for_is_told_as_by_the_objects_alone(
    tree: QueueTree, objects: list[Node | Pod], random: Random
) -> None:
    """Whoever it takes, wherever: with them gone the ask fits or not, and with one of them back as well."""
    at = snapshot(tree, objects, OPTED_OUT)
    asks, bound = [one for one in at.asks if one.queue in tree], [one for one in at.pods if one.node is not None]
    if not asks or not bound:
        return
    asker, place = random.choice(asks), random.choice(at.nodes)
    victims = random.sample(bound, random.randint(1, len(bound)))
    decision = preempting(at, asker.name, [one.name for one in victims], node=place.name)
    checks = {check.law: check for check in audit(at, tree, decision)}
    assert checks[Invariant.FITS].holds == (place.ready and not refused(at, asker, place, victims))
    for victim, line in zip(victims, checks[Invariant.MINIMAL].sums, strict=True):
        left = [one for one in victims if one is not victim]
        needed = refused(at, asker, place, left) or over_max(at, tree, asker, left)
        assert (line.subject, line.holds) == (victim.key, needed)


def refused(at: Snapshot, asker: Pod, place: Node, victims: list[Pod]) -> bool:
    """Whether the node does not let it in with the victims, and all on their way out, gone."""
    leaving = [one for one in at.pods if one.terminating and one.node == place.name]
    return refusal(at, asker, place, {one.uid for one in (*victims, *leaving)}) is not None


def over_max(at: Snapshot, tree: QueueTree, asker: Pod, victims: list[Pod]) -> bool:
    """Whether with the ask, and without the victims below, a queue above it has more than its max."""
    usage = at.usage(tree)
    for path in tree.lineage(asker.queue or ""):
        below = [one for one in victims if one.queue in tree and tree.contains(path, one.queue)]
        for resource, most in tree[path].max.items():
            wanted = asker.requests.get(resource, 0)
            gone = sum(one.requests.get(resource, 0) for one in below)
            if wanted and usage[path].get(resource, 0) - gone + wanted > most:
                return True
    return False


@given(tree=queue_trees(), objects=clusters(), random=st.randoms(use_true_random=False))
@examples(150)
def test_the_order_of_what_it_is_told_does_not_matter(tree: QueueTree, objects: list[Node | Pod], random) -> None:
    """The same objects and queues in another order give the same decision to the byte."""
    shuffled, queues = list(objects), list(tree.queues.values())
    random.shuffle(shuffled)
    random.shuffle(queues)
    at, again = snapshot(tree, objects, OPTED_OUT), snapshot(QueueTree(queues), shuffled, OPTED_OUT)
    for one, other in zip(at.asks, again.asks, strict=True):
        assert encode(decide(at, tree, one)) == encode(decide(again, QueueTree(queues), other))


@given(tree=queue_trees(), objects=clusters())
@examples(200)
def test_every_decision_brings_queues_closer_to_their_guarantees(tree: QueueTree, objects: list[Node | Pod]) -> None:
    """Law 8 as it comes about, with victims that come back as asks: the sum strictly falls, so it ends."""
    at = snapshot(tree, [one for one in objects if not (isinstance(one, Pod) and one.terminating)], OPTED_OUT)
    for _ in range(40):
        decisions = [decide(at, tree, asker) for asker in at.asks if asker.required_node is None]
        chosen = next((one for one in decisions if one.outcome is Outcome.PREEMPT), None)
        if chosen is None:
            return
        after = settled(at, chosen)
        assert lacking(after, tree) < lacking(at, tree)
        at = after
    raise AssertionError("it goes on and on")


@given(tree=queue_trees(), objects=clusters())
@examples(150)
def test_nobody_is_evicted_for_an_ask_that_would_not_fit_then(tree: QueueTree, objects: list[Node | Pod]) -> None:
    """With the victims and those on their way out gone, the request is free on the node; without, it is not."""
    at = snapshot(tree, objects, OPTED_OUT)
    for asker in at.asks:
        decision = decide(at, tree, asker)
        if decision.outcome is not Outcome.PREEMPT:
            assert decision.victims == ()
            continue
        here = next(node for node in at.nodes if node.name == decision.node)
        gone = {verdict.pod.uid for verdict in decision.victims}
        leaving = [pod for pod in at.pods_by_node[here.name] if pod.uid in gone or pod.terminating]
        assert fits(asker.requests, at.free(here, without=leaving))
        assert gone


@given(tree=queue_trees(), objects=clusters())
@examples(100)
def test_opted_out_pods_stay_while_the_last_resort_is_never(tree: QueueTree, objects: list[Node | Pod]) -> None:
    """The annotation is kept without exception when the revision says so."""
    at = snapshot(tree, objects, OPTED_OUT)
    for asker in at.asks:
        assert not any(verdict.pod.opted_out for verdict in decide(at, tree, asker, "never").victims)


@given(tree=queue_trees(), objects=clusters())
@examples(100)
def test_a_plan_audited_as_it_grows_is_refused_only_for_what_came_before(
    tree: QueueTree, objects: list[Node | Pod]
) -> None:
    """The first decision of a plan is judged as if it stood alone."""
    at = snapshot(tree, objects, OPTED_OUT)
    plan = [decide(at, tree, asker) for asker in at.asks]
    assert audit_plan(at, tree, plan)[0] == audit(at, tree, plan[0])
