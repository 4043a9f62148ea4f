"""YuniKorn's preemption the long way round: node by node, pod by pod, as its code tells it.

Of engine.policies.yunikorn it shares the names of the quirks alone. It answers for asks that no node is required of.
"""

from collections.abc import Sequence
from typing import NamedTuple

from engine.feasibility.plain import refusal
from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, add, subtract, total
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn import Quirk, Quirks

Remaining = Amounts | None
KNOWN = (
    Quirk.LEAF_BELOW,
    Quirk.MAX_FENCE,
    Quirk.NAME_PREFIX,
    Quirk.PRIORITIES_BEND,
    Quirk.OWN_ANNOTATION,
    Quirk.OPTED_OUT_TAKEN,
)
"""The quirks that may be turned off here."""


class Answer(NamedTuple):
    node: str | None = None
    victims: tuple[str, ...] = ()
    candidates: frozenset[str] = frozenset()
    """Keys of the pods that might go."""
    plans: dict[str, int] = {}
    """Node -> with how many victims, less one, the ask fits."""


class Plan(NamedTuple):
    node: Node
    index: int
    victims: list[Pod]


class Yunikorn:
    """One ask, with what every queue uses."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> None:
        self.snapshot, self.tree, self.ask, self.quirks = snapshot, tree, ask, quirks
        self.asker = ask.queue or ""
        bound = [pod for pod in snapshot.pods if pod.node is not None and pod.queue in tree]
        self.allocated = self.used_by(bound)
        self.used = self.used_by([pod for pod in bound if not pod.terminating])

    def used_by(self, pods: Sequence[Pod]) -> dict[str, Amounts]:
        return {
            path: total(pod.requests for pod in pods if self.tree.contains(path, pod.queue or ""))
            for path in self.tree.walk()
        }

    # Guarantees

    def remaining(self, used: dict[str, Amounts], path: str) -> Remaining:
        queue = self.tree[path]
        parent = self.remaining(used, queue.parent) if queue.parent else None
        if not parent and not queue.guaranteed:
            return None
        own = {name: amount - used[path].get(name, 0) for name, amount in queue.guaranteed.items()}
        if path != self.tree.root and own:
            if path == self.asker:
                return {**(parent or {}), **own}
            above = self.asker.startswith(path) if self.quirks.name_prefix else self.tree.contains(path, self.asker)
            if above and self.tree[self.asker].guaranteed:
                return None
        sides = [side for side in (own, parent) if side]
        return {name: min(side[name] for side in sides if name in side) for name in {**own, **(parent or {})}}

    def moved(self, used: dict[str, Amounts], pod: Pod, *, back: bool = False) -> dict[str, Amounts]:
        """Without the pod, or with it again."""
        change = add if back else subtract
        lineage = self.tree.lineage(pod.queue or "")
        return {path: change(held, pod.requests) if path in lineage else held for path, held in used.items()}

    def charged(self, used: dict[str, Amounts], pod: Pod) -> dict[str, Amounts]:
        """What the pod holds moved to the asker's queue."""
        lineage = self.tree.lineage(self.asker)
        gone = self.moved(used, pod)
        return {path: add(held, pod.requests) if path in lineage else held for path, held in gone.items()}

    def spare(self, used: dict[str, Amounts], pod: Pod) -> bool:
        remaining = self.remaining(used, pod.queue or "")
        if remaining is not None and not any(remaining.get(name, 0) < 0 for name in self.ask.requests):
            return False
        return self.quirks.leaf_below or self.keeps(self.moved(used, pod), pod.queue or "", pod)

    def keeps(self, after: dict[str, Amounts], path: str, pod: Pod) -> bool:
        promised = self.tree[path].guaranteed
        held = [name for name, amount in pod.requests.items() if amount > 0 and name in promised]
        return all(after[path].get(name, 0) >= promised[name] for name in held)

    def beyond(self, used: dict[str, Amounts], pod: Pod) -> bool:
        remaining = self.remaining(used, self.asker) or {}
        return any(remaining.get(name, 0) < 0 for name in pod.requests)

    # Candidates

    def unwilling(self, pod: Pod) -> bool:
        own = pod.own_opt_out if self.quirks.own_annotation else None
        return pod.opted_out if own is None else own

    def dear(self, pod: Pod) -> int:
        return (2**33 if pod.originator else 0) + (2**34 if self.unwilling(pod) else 0)

    def order(self, pod: Pod) -> tuple[int, int, str, str]:
        return self.dear(pod), -(pod.created_ms // 1000), pod.namespace, pod.name

    def limit(self, root: str, priorities: dict[str, int], leaf: str) -> int | None:
        """The highest priority that may be taken of a leaf below the fence, None: nothing."""
        down = [path for path in reversed(self.tree.lineage(leaf)) if self.tree.contains(root, path)]
        current, fenced = priorities[root], False
        for path in down[1:]:
            queue = self.tree[path]
            if path in priorities:
                current = priorities[path]
            elif queue.priority_policy is PriorityPolicy.FENCE:
                if queue.priority_offset > current:
                    return None
                fenced = True
            else:
                current -= queue.priority_offset
        highest = 2**40 if fenced else current
        return highest if self.quirks.priorities_bend else min(highest, self.ask.priority)

    def fence(self) -> tuple[str, dict[str, int]]:
        current, priorities = self.ask.priority, {}
        for path in self.tree.lineage(self.asker):
            queue = self.tree[path]
            fenced = queue.priority_policy is PriorityPolicy.FENCE
            current = queue.priority_offset if fenced else current + queue.priority_offset
            priorities[path] = current
            if path == self.tree.root or queue.preemption_policy is PreemptionPolicy.FENCE:
                break
            if self.quirks.max_fence and self.over_max(path):
                break
        return path, priorities

    def over_max(self, path: str) -> bool:
        limits = [self.snapshot.capacity, *(self.tree[above].max for above in self.tree.lineage(path))]
        would = add(self.allocated[path], self.ask.requests)
        return any(
            would[name] > min(limit[name] for limit in limits if name in limit)
            for name in would
            if any(name in limit for limit in limits)
        )

    def candidates(self) -> list[Pod]:
        root, priorities = self.fence()
        found = []
        for pod in self.snapshot.pods:
            leaf = pod.queue
            if leaf is None or pod.node is None or pod.terminating or pod.required_node or leaf == self.asker:
                continue
            if (pod.namespace, pod.application) == (self.ask.namespace, self.ask.application):
                continue
            if not self.tree.contains(root, leaf) or self.tree.disabled_by(leaf):
                continue
            limit = self.limit(root, priorities, leaf)
            remaining = self.remaining(self.used, leaf)
            within = remaining is not None and all(amount >= 0 for amount in remaining.values())
            refused = self.unwilling(pod) and not self.quirks.opted_out_taken
            if limit is not None and pod.priority <= limit and not within and not refused:
                found.append(pod)
        return sorted(found, key=self.order)

    def entitled(self, candidates: Sequence[Pod]) -> bool:
        remaining, asked = self.remaining(self.used, self.asker), self.ask.requests
        if remaining is not None and all(remaining[name] >= asked[name] for name in asked if name in remaining):
            return True
        used = self.moved(self.used, self.ask, back=True)
        for pod in candidates:
            used = self.moved(used, pod)
        remaining = self.remaining(used, self.asker)
        return remaining is not None and all(remaining.get(name, 0) >= 0 for name in asked)

    # Nodes

    def fits(self, free: Amounts) -> bool:
        return all(amount <= max(0, free.get(name, 0)) for name, amount in self.ask.requests.items())

    def missing(self, free: Amounts) -> Amounts:
        return {
            name: amount - free.get(name, 0) for name, amount in self.ask.requests.items() if amount > free.get(name, 0)
        }

    def plan(self, node: Node, here: Sequence[Pod]) -> Plan | None:
        free = self.snapshot.free(node)
        if self.fits(free):
            return Plan(node, -1, [])
        head: list[Pod] = []
        tail: list[Pod] = []
        used, now = self.used, free
        for pod in here:
            if not self.spare(used, pod):
                continue
            after = self.charged(used, pod)
            if self.beyond(after, pod):
                break
            if self.missing(now) == self.missing(add(now, pod.requests)):
                tail.append(pod)
            else:
                used, now = after, add(now, pod.requests)
                head.append(pod)
        used, now, index = self.used, free, -1
        taken: list[Pod] = []
        for pod in head + tail:
            if self.spare(used, pod):
                used, now = self.moved(used, pod), add(now, pod.requests)
                index = len(taken) if index < 0 and self.fits(now) else index
                taken.append(pod)
        return Plan(node, index, taken) if index >= 0 else None

    def settled(self, plan: Plan) -> Plan | None:
        """With as many more gone as the node's rules demand."""
        if plan.index < 0:
            return None if refusal(self.snapshot, self.ask, plan.node) else plan
        for index in range(plan.index, len(plan.victims)):
            gone = frozenset(pod.uid for pod in plan.victims[: index + 1])
            if refusal(self.snapshot, self.ask, plan.node, gone) is None:
                return Plan(plan.node, index, plan.victims)
        return None

    def best(self, plans: Sequence[Plan], candidates: Sequence[Pod]) -> Plan | None:
        best: tuple[int, Plan] | None = None
        for start in range(0, len(plans), 10):
            for one in plans[start : start + 10]:
                here = [pod for pod in candidates if pod.node == one.node.name]
                if (plan := self.settled(one)) is None:
                    continue
                flags = 0
                for pod in here[: plan.index + 1]:
                    flags |= self.dear(pod)
                score = flags + plan.index + 1 if here else 2**35
                if best is None or score < best[0]:
                    best = score, plan
            if best is not None and best[0] < 2**32:
                break
        return None if best is None else best[1]

    def further(self, chosen: Sequence[Pod], candidates: Sequence[Pod]) -> list[Pod] | None:
        used = self.used
        for pod in chosen:
            used = self.moved(used, pod)
        found: list[Pod] = []
        for pod in candidates:
            if pod in chosen or not self.spare(used, pod):
                continue
            before, after = self.moved(used, pod), self.charged(used, pod)
            if self.beyond(after, pod):
                break
            if self.remaining(before, self.asker) != self.remaining(after, self.asker):
                used = after
                found.append(pod)
        remaining = self.remaining(used, self.asker) or {}
        short = any(remaining.get(name, 0) < 0 for name in self.ask.requests)
        return None if found and short else found

    def trimmed(self, plan: Plan, victims: Sequence[Pod]) -> list[Pod] | None:
        here = self.fits(self.snapshot.free(plan.node))
        taken: list[Pod] = []
        gone: Amounts = {}
        for pod in victims:
            if here or pod.node == plan.node.name:
                if greater(self.ask.requests, gone):
                    taken.append(pod)
                gone = add(gone, pod.requests)
        return None if greater(self.ask.requests, gone) or not taken else taken

    def answer(self, *, nodes_tried: bool) -> Answer:
        candidates = self.candidates()
        keys = frozenset(pod.key for pod in candidates)
        if not candidates or not self.entitled(candidates):
            return Answer(candidates=keys)
        reserved = {held.node for held in self.snapshot.reservations if held.ask_uid != self.ask.uid}
        usable = [node for node in self.snapshot.nodes if not node.unschedulable and node.name not in reserved]
        plans = [
            self.plan(node, [pod for pod in candidates if pod.node == node.name])
            for node in usable
            if self.fits(node.allocatable)
        ]
        offered = [one for one in plans if one is not None and (one.index >= 0 or not nodes_tried)]
        offered.sort(key=lambda one: (one.index, one.node.name))
        found = Answer(candidates=keys, plans={one.node.name: one.index for one in offered})
        plan = self.best(offered, candidates)
        further = None if plan is None else self.further(plan.victims[: plan.index + 1], candidates)
        if plan is None or further is None:
            return found
        victims = [*plan.victims[: plan.index + 1], *further]
        taken = self.trimmed(plan, victims) if victims else None
        return found if taken is None else found._replace(node=plan.node.name, victims=tuple(p.key for p in taken))


def greater(ask: Amounts, other: Amounts) -> bool:
    """More in some resource and less in none that both name."""
    if not other:
        return all(amount > 0 for amount in ask.values())
    shared = [(ask[name], other[name]) for name in ask if name in other]
    return not shared or (all(one >= two for one, two in shared) and any(one != two for one, two in shared))
