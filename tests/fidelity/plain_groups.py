"""A plain implementation of how kube-scheduler 1.37 decides for a group of pods, from the objects alone.

It is slow: every question is asked of a cluster that is put together for it. The engine's own implementation is held
against it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from engine.feasibility.plain import refusal
from engine.feasibility.selectors import term_matches, tolerated
from engine.model.objects import PREEMPTION_BY_SCHEDULER, Node, Pod
from engine.model.objects.pod_groups import DisruptionMode, SchedulingGroup
from engine.model.snapshot import Snapshot
from engine.policies.priority.victims import covers

CPU_AND_MEMORY = ("cpu", "memory")


@dataclass
class Answer:
    outcome: str
    nodes: dict[str, str] = field(default_factory=dict)
    victims: list[str] = field(default_factory=list)
    violations: int = 0
    why: str = ""


@dataclass(frozen=True)
class PlainUnit:
    """Pods that are evicted together."""

    pods: tuple[Pod, ...]
    priority: int
    grouped: bool

    def importance(self, snapshot: Snapshot) -> tuple[int, int, int, int, int]:
        """The most important comes first; of equally important ones, the one whose first pod is in the first row."""
        starts = (snapshot.now_ms if pod.started_ms is None else pod.started_ms for pod in self.pods)
        return -self.priority, -int(self.grouped), -len(self.pods), min(starts), snapshot.columns.row[self.pods[0].uid]


def decide_group(snapshot: Snapshot, group: SchedulingGroup) -> Answer:
    """Decide for a group of the snapshot."""
    return _Attempt(snapshot, group).decide()


class _Attempt:
    def __init__(self, snapshot: Snapshot, group: SchedulingGroup) -> None:
        self.snapshot, self.group = snapshot, group
        self.own = [pod for pod in snapshot.pods if group_of(snapshot, pod) is group]
        self.bound = [pod for pod in self.own if pod.node is not None]
        wanting = (pod for pod in self.own if pod.node is None and not pod.terminating and not pod.gated)
        self.waiting = sorted(wanting, key=lambda pod: (pod.created_ms, pod.name))
        self.others = [pod for pod in snapshot.pods if pod not in self.waiting]

    def decide(self) -> Answer:
        members = [*self.waiting, *self.bound]
        if len(self.own) < self.group.needed:
            return Answer("not-eligible", why="waiting for members")
        if any(pod.gated and pod.node is None and not (pod.terminating or pod.finished) for pod in self.own):
            return Answer("not-eligible", why="scheduling gates")
        for pod in members:
            first = (members[0].scheduler, members[0].never_preempts)
            if pod.priority != self.group.priority or (pod.scheduler, pod.never_preempts) != first:
                return Answer("not-eligible", why="members differ")
        placed = self.place(self.others)
        if placed is not None:
            return Answer("fits", nodes=_named(placed))
        if any(pod.never_preempts for pod in self.waiting):
            return Answer("not-eligible", why="never")
        if self.ongoing():
            return Answer("not-eligible", why="ongoing")
        units = [unit for unit in units_of(self.snapshot) if unit.priority < self.group.priority]
        if not units:
            return Answer("no-candidate", why="no victims")
        return self.preempt(sorted(units, key=lambda unit: unit.importance(self.snapshot)))

    def preempt(self, units: list[PlainUnit]) -> Answer:
        gone = {pod.uid for unit in units for pod in unit.pods}
        there = [pod for pod in self.others if pod.uid not in gone]
        placed = self.place(there)
        if placed is None:
            return Answer("no-candidate", why="no room")
        violating = violations(self.snapshot, units)
        victims: list[Pod] = []
        count = 0
        for number in sorted(range(len(units)), key=lambda number: number not in violating):
            # Spread constraints count a terminating pod that is put back, though they did not count it before.
            back = [*there, *(msgspec.structs.replace(pod, terminating=False) for pod in units[number].pods)]
            if self.all_fit(placed, back):
                there = back
            else:
                victims += units[number].pods
                count += violating.get(number, 0)
        keys = [pod.key for pod in victims]
        return Answer("preempt", _named(placed), keys, count)

    def all_fit(self, placed: Sequence[Pod], there: list[Pod]) -> bool:
        nodes = {node.name: node for node in self.snapshot.nodes}
        before: list[Pod] = []
        for pod in placed:
            cluster = msgspec.structs.replace(self.snapshot, pods=(*there, *before))
            if refusal(cluster, msgspec.structs.replace(pod, node=None), nodes[pod.node or ""]) is not None:
                return False
            before.append(pod)
        return True

    def ongoing(self) -> bool:
        nominated = {pod.nominated_node for pod in self.waiting if pod.nominated_node}
        return any(
            pod.terminating and pod.disruption == PREEMPTION_BY_SCHEDULER and pod.node in nominated
            for unit in units_of(self.snapshot)
            if unit.priority < self.group.priority
            for pod in unit.pods
        )

    def place(self, there: list[Pod]) -> list[Pod] | None:
        """Return the members that get a node, bound to it; None if they are too few."""
        placed: list[Pod] = []
        for number, pod in enumerate(self.waiting):
            cluster = msgspec.structs.replace(self.snapshot, pods=(*there, *placed))
            node = best_node(cluster, pod)
            if node is not None:
                placed.append(msgspec.structs.replace(pod, node=node.name))
            if len(self.bound) + len(placed) + len(self.waiting) - number - 1 < self.group.needed:
                return None
        return placed if placed and len(self.bound) + len(placed) >= self.group.needed else None


def group_of(snapshot: Snapshot, pod: Pod) -> SchedulingGroup | None:
    """Return the group that a pod belongs to, if there is one of that name."""
    return snapshot.groups.get((pod.namespace, pod.scheduling_group)) if pod.scheduling_group else None


def units_of(snapshot: Snapshot) -> Iterator[PlainUnit]:
    """Yield the units of all bound pods."""
    together: dict[str, list[Pod]] = {}
    for pod in snapshot.columns.pods:
        group = group_of(snapshot, pod)
        if group is None:
            yield PlainUnit((pod,), pod.priority, bool(pod.scheduling_group))
        elif group.disruption_mode is DisruptionMode.SINGLE:
            yield PlainUnit((pod,), group.priority, True)
        else:
            together.setdefault(group.key, []).append(pod)
    for pods in together.values():
        group = group_of(snapshot, pods[0])
        assert group is not None
        yield PlainUnit(tuple(pods), group.priority, True)


def violations(snapshot: Snapshot, units: Iterable[PlainUnit]) -> dict[int, int]:
    """Return how many pods of each violating unit violate a budget; budgets are used up in the order of the units."""
    left = {budget.namespace + "/" + budget.name: budget.allowed for budget in snapshot.budgets}
    found: dict[int, int] = {}
    for number, unit in enumerate(units):
        for pod in unit.pods:
            for budget in snapshot.budgets:
                if covers(budget, pod):
                    left[budget.namespace + "/" + budget.name] -= 1
                    if left[budget.namespace + "/" + budget.name] < 0:
                        found[number] = found.get(number, 0) + 1
                        break
    return found


def best_node(snapshot: Snapshot, pod: Pod) -> Node | None:
    """Return the node that a pod gets: of those that it passes the filters of, the one with the highest score."""
    nominated = [node for node in snapshot.nodes if node.name == pod.nominated_node]
    if nominated and refusal(snapshot, pod, nominated[0]) is None:
        return nominated[0]
    fitting = [node for node in snapshot.nodes if refusal(snapshot, pod, node) is None]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    soft = [_intolerable(pod, node) for node in fitting]
    liked = [_liked(pod, node) for node in fitting]
    scores = [
        least_allocated(snapshot, pod, node)
        + balanced(snapshot, pod, node)
        + 3 * (100 - 100 * repelled // max(soft) if max(soft) else 100)
        + 2 * (100 * like // max(liked) if max(liked) else 0)
        for node, repelled, like in zip(fitting, soft, liked, strict=True)
    ]
    return fitting[scores.index(max(scores))]


def least_allocated(snapshot: Snapshot, pod: Pod, node: Node) -> int:
    """Return how much of cpu and memory is free, in hundredths; what the node has none of is left out."""
    free = []
    for name in CPU_AND_MEMORY:
        if can := node.allocatable.get(name, 0):
            others = sum(_scored(other, name) for other in snapshot.pods if other.node == node.name)
            free.append(max(0, (can - _scored(pod, name) - others) * 100 // can))
    return sum(free) // len(free) if free else 0


def _scored(pod: Pod, name: str) -> int:
    return (pod.scored_requests or pod.requests).get(name, 0)


def balanced(snapshot: Snapshot, pod: Pod, node: Node) -> int:
    """Return how much better cpu and memory are balanced with the pod. In floats, as kube-scheduler computes."""
    if not any(pod.requests.get(name) for name in CPU_AND_MEMORY):
        return 0
    held = [
        sum(other.requests.get(name, 0) for other in snapshot.pods if other.node == node.name)
        for name in CPU_AND_MEMORY
    ]
    more = [amount + pod.requests.get(name, 0) for name, amount in zip(CPU_AND_MEMORY, held, strict=True)]
    return 50 + int((50 + _balance(node, more) - _balance(node, held)) / 2)


def _balance(node: Node, held: list[int]) -> int:
    can = [node.allocatable.get(name, 0) for name in CPU_AND_MEMORY]
    if not all(can):
        return 100
    cpu, memory = (min(1.0, amount / most) for amount, most in zip(held, can, strict=True))
    return int((1 - abs((cpu - memory) / 2)) * 100)


def _intolerable(pod: Pod, node: Node) -> int:
    return sum(taint.effect == "PreferNoSchedule" and not tolerated(taint, pod.tolerations) for taint in node.taints)


def _liked(pod: Pod, node: Node) -> int:
    return sum(one.weight for one in pod.preferred_affinity if term_matches(one.term, node))


def _named(placed: Sequence[Pod]) -> dict[str, str]:
    return {pod.key: pod.node or "" for pod in placed}
