"""Which candidates go on a node, and which node is cheapest, under policy ``fence``."""

from collections.abc import Iterable, Sequence

import msgspec

from engine.feasibility import NodeChecks
from engine.model.decision import JointLimit, NodeReason, NodeVerdict, PodFacts, PodReason, PodVerdict
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, add, fits, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from tests.engine.plain_fence.usage import Ledger

CRITERIA = ("opted-out", "originators", "priority", "victims", "distance", "work-lost", "age", "name")
"""What sets are compared by, in this order; the least wins."""
Cost = tuple[int, int, int, int, int, int, int, str]
_TRIES = 500
"""Sets tried on a node where greedy is stuck; among very many unlike pods a lawful one may go unfound."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The victims on one node, most expendable first, and the candidates that may stay."""

    node: str
    victims: tuple[Pod, ...]
    reprieved: tuple[PodVerdict, ...]
    cost: Cost


def choose_on(
    snapshot: Snapshot,
    tree: QueueTree,
    ledger: Ledger,
    ask: Pod,
    node: Node,
    spot: NodeChecks,
    candidates: Sequence[Pod],
) -> Choice | None:
    """The victims on ``node``: greedy from the most expendable, then reprieved from the most valuable back.

    Where greedy is stuck, because what it took leaves its queue too little for what would have made the room, or
    because what the ask wants to be near is in the way, other sets are tried. None when the candidates make no room
    without breaking a law. The set is inclusion-minimal: put any one back and the ask no longer fits.
    """
    leaf = ask.queue or tree.root
    ordered = sorted(candidates, key=lambda pod: _expendable(snapshot, tree, leaf, pod))
    room = _Room(snapshot, ledger, ask, node, spot)
    taken, passed = _greedy(ledger, ask, ordered, room)
    if not room.made_by(taken):
        instead = _Search(ledger, ask, room).lawful_set((), tuple(ordered)) if room.may_be_made_by(ordered) else None
        if instead is None:
            return None
        taken, passed = list(instead), []
    for pod in reversed(taken.copy()):
        without = [other for other in taken if other is not pod]
        if room.made_by(without):
            taken = without
            passed.append((pod, PodReason.NOT_NEEDED))
    chosen = {pod.uid for pod in taken}
    known = {pod.uid for pod, _ in passed} | chosen
    passed += [(pod, PodReason.NOT_NEEDED) for pod in ordered if pod.uid not in known]
    reprieved = tuple(PodVerdict(pod=PodFacts.of(pod), reason=reason, detail=pod.queue or "") for pod, reason in passed)
    cost = _cost(snapshot, tree, leaf, node.name, taken)
    return Choice(node=node.name, victims=tuple(taken), reprieved=reprieved, cost=cost)


def limit_on(
    snapshot: Snapshot,
    tree: QueueTree,
    ledger: Ledger,
    ask: Pod,
    node: Node,
    spot: NodeChecks,
    candidates: Sequence[Pod],
) -> JointLimit | None:
    """What stops the fewest candidates that would make the room: the first queue from the leaves upwards."""
    leaf = ask.queue or tree.root
    room = _Room(snapshot, ledger, ask, node, spot)
    needed = sorted(candidates, key=lambda pod: _expendable(snapshot, tree, leaf, pod))
    if not room.made_by(needed):
        return None
    for pod in reversed(needed.copy()):
        without = [other for other in needed if other is not pod]
        if room.made_by(without):
            needed = without
    paths = {path for pod in needed for path in tree.lineage(pod.queue or tree.root)}
    for path in sorted(paths, key=lambda one: (-len(tree.lineage(one)), one)):
        for resource, guaranteed in sorted(tree[path].guaranteed.items()):
            held = sum(pod.requests.get(resource, 0) for pod in needed if tree.contains(path, pod.queue or tree.root))
            left = ledger.may_lose(ask, path, resource)
            if held > max(0, left):
                used = ledger.giving[path].get(resource, 0)
                amounts = {"guaranteed": guaranteed, "used": used, "left": max(0, left), "held": held}
                return JointLimit(queue=path, resource=resource, **amounts)
    return None


class _Room:
    """Whether an ask has room on a node once some pods are gone."""

    def __init__(self, snapshot: Snapshot, ledger: Ledger, ask: Pod, node: Node, spot: NodeChecks) -> None:
        self.ledger, self.ask, self.spot = ledger, ask, spot
        leaving = [pod for pod in snapshot.pods_by_node[node.name] if pod.terminating]
        self.leaving = tuple(pod.uid for pod in leaving)
        self.free = snapshot.free(node, without=leaving)

    def made_by(self, victims: Iterable[Pod]) -> bool:
        """Whether it fits on the node and under every max above it."""
        gone = {pod.uid: pod for pod in victims}
        return self.spot.refusal((*self.leaving, *gone)) is None and not self.ledger.over_max(self.ask, gone.values())

    def perhaps_made_by(self, taken: Iterable[Pod], rest: Iterable[Pod]) -> bool:
        """The same if of the rest, too, those go that have to; a pod that the ask wants to be near may have to stay."""
        sure = [*self.leaving, *(pod.uid for pod in taken)]
        gone = [*taken, *rest]
        refused = self.spot.refusal([*self.leaving, *(pod.uid for pod in gone)], surely=sure)
        return refused is None and not self.ledger.over_max(self.ask, gone)

    def may_be_made_by(self, candidates: Iterable[Pod]) -> bool:
        """A cheap bound: whether it fits in resources if every leaf gives all that its own guarantees leave it."""
        by_leaf: dict[str, list[Amounts]] = {}
        for pod in candidates:
            by_leaf.setdefault(pod.queue or "", []).append(pod.requests)
        given = total(self.ledger.at_most(self.ask, leaf, total(many)) for leaf, many in by_leaf.items())
        return fits(self.ask.requests, add(self.free, given))

    def wanted_near(self, taken: Iterable[Pod], pod: Pod) -> bool:
        """Whether the ask is near what it wants to be near without those, but not without this one, too."""
        gone = [*self.leaving, *(other.uid for other in taken)]
        return not self.spot.far(gone) and self.spot.far([*gone, pod.uid])

    def needed(self) -> frozenset[str] | None:
        """Uids of the pods that hold something of what the node lacks, None where it lacks nothing."""
        return self.spot.needed(self.leaving)


def _greedy(
    ledger: Ledger, ask: Pod, ordered: Sequence[Pod], room: _Room
) -> tuple[list[Pod], list[tuple[Pod, PodReason]]]:
    """Take pods in order, each only while the laws hold for all that were taken, until there is room."""
    needed = room.needed()
    taken: list[Pod] = []
    passed: list[tuple[Pod, PodReason]] = []
    for pod in ordered:
        if room.made_by(taken):
            break
        if needed is not None and pod.uid not in needed:
            passed.append((pod, PodReason.NO_HELP))
        elif ledger.keeps_guarantees(ask, [*taken, pod]) is not None:
            passed.append((pod, PodReason.GUARANTEE))
        elif room.wanted_near(taken, pod):
            passed.append((pod, PodReason.WANTED_NEAR))
        else:
            taken.append(pod)
    return taken, passed


class _Search:
    """Tries sets of pods depth first, the most expendable first, those like one that was left out left out too."""

    def __init__(self, ledger: Ledger, ask: Pod, room: _Room) -> None:
        self.ledger, self.ask, self.room = ledger, ask, room
        self.tries = _TRIES

    def lawful_set(self, taken: tuple[Pod, ...], rest: tuple[Pod, ...]) -> tuple[Pod, ...] | None:
        """``taken`` with some of ``rest`` that together make room and keep all guarantees, None when none was found.

        Taking more never mends a broken guarantee nor makes less room, so both bound the search; only a pod that the
        ask wants to be near may be needed where it is.
        """
        if self.room.made_by(taken):
            return taken
        self.tries -= 1
        if self.tries < 0 or not rest or not self.room.perhaps_made_by(taken, rest):
            return None
        first, others = rest[0], rest[1:]
        if self.ledger.keeps_guarantees(self.ask, (*taken, first)) is None:
            found = self.lawful_set((*taken, first), others)
            if found is not None:
                return found
        return self.lawful_set(taken, tuple(pod for pod in others if not self._alike(pod, first)))

    def _alike(self, one: Pod, other: Pod) -> bool:
        """Whether it makes no difference to room and guarantees which of the two goes."""
        weights = self.room.spot.weights
        return (one.queue, one.requests) == (other.queue, other.requests) and weights(one.uid) == weights(other.uid)


def _work_lost(snapshot: Snapshot, pod: Pod) -> int:
    """How long the pod has run, in milliseconds: what is thrown away with it."""
    return max(0, snapshot.now_ms - (pod.started_ms if pod.started_ms is not None else snapshot.now_ms))


def _expendable(snapshot: Snapshot, tree: QueueTree, leaf: str, pod: Pod) -> tuple[object, ...]:
    distance = tree.distance(leaf, pod.queue or tree.root)
    return (
        pod.opted_out,
        pod.originator,
        pod.priority,
        distance,
        _work_lost(snapshot, pod),
        -pod.created_ms,
        (pod.namespace, pod.name),
    )


def _cost(snapshot: Snapshot, tree: QueueTree, leaf: str, node: str, victims: Sequence[Pod]) -> Cost:
    return (
        sum(pod.opted_out for pod in victims),
        sum(pod.originator for pod in victims),
        max(pod.priority for pod in victims),
        len(victims),
        sum(tree.distance(leaf, pod.queue or tree.root) for pod in victims),
        sum(_work_lost(snapshot, pod) for pod in victims),
        -min(pod.created_ms for pod in victims),
        node,
    )


def cheapest(choices: Iterable[Choice]) -> tuple[Choice | None, list[NodeVerdict]]:
    """The choice of least cost, and of every other the first criterion in which it is dearer, best first."""
    ranked = sorted(choices, key=lambda choice: choice.cost)
    if not ranked:
        return None, []
    best = ranked[0]
    dearer = [
        NodeVerdict(
            node=choice.node,
            reason=NodeReason.DEARER,
            detail=next(name for name, a, b in zip(CRITERIA, choice.cost, best.cost, strict=True) if a != b),
            victims=len(choice.victims),
        )
        for choice in ranked[1:]
    ]
    return best, dearer
