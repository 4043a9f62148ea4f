"""What the audit calculates quickly is what the plain rules and sums give, whatever a decision claims."""

from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.audit.audit_case import AuditCase, AuditTerms
from engine.audit.audit_state import AuditState
from engine.audit.node_room import node_refusal
from engine.audit.shares.deserved_amounts import DeservedAmounts
from engine.feasibility.plain import refusal
from engine.model.decision import Decision, apply_decision
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies.deserved import Method, deserved
from tests.builders import OPTED_OUT, preempting, snapshot
from tests.engine.crowds import crowds
from tests.engine.deserved_worlds import World, side_by_side
from tests.engine.deserved_worlds import crowds as crowds_of_consumers
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

FINE = 10**6
"""Units so small that rounding to whole ones is nothing."""


def decided(at: Snapshot, random: Random) -> Decision | None:
    """A decision that takes anybody, for anybody undecided, anywhere; None if there is no such ask, or nobody runs."""
    bound = [one for one in at.pods if one.node is not None]
    asks = [one for one in at.asks if one.uid not in at.kept_for]
    if not asks or not bound:
        return None
    victims = random.sample(bound, random.randint(1, min(4, len(bound))))
    place = random.choice([*at.nodes, *(one for one in at.nodes if one.name == victims[0].node)])
    return preempting(at, random.choice(asks).name, [one.name for one in victims], node=place.name)


@given(crowds(), st.randoms(use_true_random=False))
@examples(300)
def test_a_node_refuses_a_pod_for_what_the_objects_say(
    world: tuple[QueueTree, list[Node | Pod | Reservation]], random: Random
) -> None:
    """With the victims gone, and with any of them put back: the same reason, in the same words."""
    tree, objects = world
    at = snapshot(tree, objects, OPTED_OUT)
    for _ in range(4):
        decision = decided(at, random)
        if decision is None:
            return
        state = AuditState(at, tree)
        node, ask = state.node(decision.node), at.pod(decision.ask.uid)
        assert node is not None
        assert ask is not None
        found = (at.pod(verdict.pod.uid, verdict.pod.node) for verdict in decision.victims)
        victims = tuple(pod for pod in found if pod is not None)
        case = AuditCase(ledger=state, decision=decision, ask=ask, node=node, victims=victims, terms=AuditTerms())
        for back in ((), *((pod,) for pod in victims)):
            assert node_refusal(case, *back) == refusal(at, ask, node, case.departing_uids(*back))
        at = apply_decision(at, decision)


@given(queue_trees(), clusters(), st.randoms(use_true_random=False))
@examples(200)
def test_what_queues_use_is_the_sum_over_their_pods(tree: QueueTree, objects: list[Node | Pod], random: Random) -> None:
    """After any decisions, some of whose victims are on their way out already."""
    at = snapshot(tree, objects, OPTED_OUT)
    state = AuditState(at, tree)
    for _ in range(4):
        pods = [None, *random.sample(at.asks, min(2, len(at.asks)))]
        for path in random.sample(tree.walk(), random.randint(0, len(tree.walk()))):
            for pod in pods:
                assert _usage(state, path, pod) == _plain_usage(at, tree, path, pod)
        if random.random() < 0.7:
            assert state.shortfalls == _plain_shortfalls(at, tree)
        decision = decided(at, random)
        if decision is None:
            return
        at = apply_decision(at, decision)
        state.carry_out(decision, at)


def _usage(state: AuditState, path: str, pod: Pod | None) -> list[tuple[int, int, int]]:
    pods = () if pod is None else (pod,)
    return [
        (state.claimant_usage(path, name, *pods), state.victim_usage(path, name), state.settled(path, name, *pods))
        for name in ("cpu", "memory", "pods")
    ]


def _plain_usage(at: Snapshot, tree: QueueTree, path: str, pod: Pod | None) -> list[tuple[int, int, int]]:
    bound = [one for one in at.pods if one.node is not None and _inside(tree, path, one.queue)]
    staying = [one for one in bound if not one.terminating]
    waits = {one.uid for one in at.pods if one.node is None}
    reserved = [one for one in at.reservations if one.ask_uid in waits and _inside(tree, path, one.queue)]
    others = [one for one in reserved if pod is None or one.ask_uid != pod.uid]
    sums = []
    for name in ("cpu", "memory", "pods"):
        used, left, kept = (sum(one.requests.get(name, 0) for one in those) for those in (bound, staying, others))
        sums.append((used + kept, left, left + kept))
    return sums


def _plain_shortfalls(at: Snapshot, tree: QueueTree) -> Amounts:
    lacking: Amounts = {}
    for path, queue in tree.queues.items():
        settled = dict(zip(("cpu", "memory", "pods"), _plain_usage(at, tree, path, None), strict=True))
        for name, promised in queue.guaranteed.items():
            lacking[name] = lacking.get(name, 0) + max(0, promised - settled[name][2])
    return lacking


def _inside(tree: QueueTree, path: str, queue: str | None) -> bool:
    return queue is not None and queue in tree and tree.contains(path, queue)


@given(side_by_side(), st.data())
@examples(300)
def test_consumers_side_by_side_deserve_what_exact_arithmetic_gives_them(world: World, data: st.DataObject) -> None:
    """Without floors, as what some request falls and at times rises, in one level or in several."""
    queues = (_without_floor(queue) for queue in world.tree.queues.values())
    tree, capacity = QueueTree(queues), _times(FINE, world.capacity)
    requests = {leaf: _times(FINE, amounts) for leaf, amounts in world.requests.items()}
    kept = DeservedAmounts(tree, requests, capacity, alone=world.method is Method.PROPORTIONAL)
    for _ in range(4):
        exact = deserved(tree, dict(requests), capacity, world.method)
        for leaf in tree.leaves:
            for name, amount in kept.of(leaf).items():
                assert abs(exact[leaf].get(name, 0) - amount) <= FINE // 1000, (leaf, name)
        leaf = data.draw(st.sampled_from(tree.leaves))
        requests[leaf] = _times(data.draw(st.sampled_from((0, 1, 2, 2, 4))), _halved(requests[leaf]))
        kept.change(leaf, requests[leaf])


@given(crowds_of_consumers(), st.randoms(use_true_random=False))
@examples(200)
def test_a_level_that_rises_gives_what_dividing_anew_gives(world: World, random: Random) -> None:
    """Of forty queues and amounts of any size, where most take another way: all that they deserve is divided anew."""
    alone, requests = world.method is Method.PROPORTIONAL, dict(world.requests)
    kept = DeservedAmounts(world.tree, requests, world.capacity, alone=alone)
    for _ in range(4):
        anew = DeservedAmounts(world.tree, requests, world.capacity, alone=alone)
        for division in anew.divisions:
            division.follows_from_level = False
        for path in world.tree.queues:
            for name, amount in kept.of(path).items():
                assert abs(anew.of(path)[name] - amount) <= world.capacity[name] / FINE, (path, name)
        leaf, times = random.choice(sorted(requests)), random.choice([0, 1, 1, 2, 3])
        requests[leaf] = {name: times * amount // 2 for name, amount in requests[leaf].items()}
        kept.change(leaf, requests[leaf])


def _without_floor(queue: Queue) -> Queue:
    return msgspec.structs.replace(queue, guaranteed={}, max=_times(FINE, queue.max))


def _times(many: int, amounts: Amounts) -> Amounts:
    return {name: many * amount for name, amount in amounts.items()}


def _halved(amounts: Amounts) -> Amounts:
    return {name: amount // 2 for name, amount in amounts.items()}
