"""Check the invariants of the quota policies, `cohort` and `fair-share`, with independently calculated quota.

Source: Kueue's pkg/cache/scheduler, resource_node.go, and pkg/scheduler/preemption, preemption.go.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet

import numpy as np

from engine.audit.audit_case import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum, amount, differs, same
from engine.model.objects import Pod
from engine.model.quantities import PODS
from engine.model.quota import ClusterQueue, Cohort, Take
from engine.model.quota.pod_workloads import Group, group_of
from engine.model.quota.tree_reading import FLAVOR, DerivedQuota, derive_quota

Node = ClusterQueue | Cohort


class QuotaAudit:
    """The quota that is available without the victims, except those that are put ``back``, by definition alone.

    Values that ``back`` does not change are calculated once per decision.
    """

    def __init__(self, case: AuditCase, back: Iterable[Pod] = ()) -> None:
        self.case, self.form, self._back = case, quota_tree_of(case), tuple(back)
        queues = {pod.queue for pod in self._back if pod.queue is not None and pod.queue in case.tree}
        self._changed = {path for queue in queues for path in case.tree.lineage(queue)}
        self._known: dict[tuple[str, str, str], int] = case.__dict__.setdefault("quota_known", {})

    def _once(self, kind: str, node: Node, resource: str, count: Callable[[Node, str], int]) -> int:
        cached = self._known.get((kind, node.name, resource))
        if cached is None:
            cached = self._known[kind, node.name, resource] = count(node, resource)
        return cached

    def has(self, node: Node, resource: str) -> int:
        """Return the quota of a subtree."""
        return self._once("has", node, resource, self._has)

    def _has(self, node: Node, resource: str) -> int:
        flavor_quota = node.quotas.get((FLAVOR, resource))
        below = sum(self.has(child, resource) - self.keeps(child, resource) for child in self._below(node))
        return (flavor_quota.nominal if flavor_quota else 0) + below

    def keeps(self, node: Node, resource: str) -> int:
        """Return the part of a subtree's quota that it does not lend to the cohort above.

        Source: resourceNode.localQuota of Kueue.
        """
        flavor_quota = node.quotas.get((FLAVOR, resource))
        return (
            0
            if flavor_quota is None or flavor_quota.lending is None
            else max(0, self.has(node, resource) - flavor_quota.lending)
        )

    def used(self, node: Node, resource: str) -> int:
        """Return a queue's usage; of a cohort, what its members use beyond the quota that they do not lend."""
        if node.name in self._changed:
            return self._used(node, resource)
        return self._once("used", node, resource, self._used)

    def _used(self, node: Node, resource: str) -> int:
        if isinstance(node, Cohort):
            return sum(max(0, self.used(child, resource) - self.keeps(child, resource)) for child in self._below(node))
        settled = self.case.ledger.settled(node.name, resource, self.case.ask)
        back = sum(pod.requests.get(resource, 0) for pod in self._back if pod.queue == node.name)
        return settled - sum(self.case.taken(node.name, resource)) + back

    def room(self, node: Node, resource: str) -> int:
        """Return how much quota is still available to a queue or cohort, including what it may borrow.

        Source: available of Kueue (resource_node.go).
        """
        has, keeps, used = (count(node, resource) for count in (self.has, self.keeps, self.used))
        above = node.parent if isinstance(node, Cohort) else node.cohort
        if not above:
            return has - used
        lent = self.room(self.form.cohorts[above], resource)
        flavor_quota = node.quotas.get((FLAVOR, resource))
        if flavor_quota is not None and flavor_quota.borrowing is not None:
            lent = min(lent, has - keeps - max(0, used - keeps) + flavor_quota.borrowing)
        return max(0, keeps - used) + lent

    def short(self, requested: Iterable[tuple[str, int]], *, borrowing: bool = True) -> str:
        """Return the first resource of which too little quota is available, or an empty string.

        ``borrowing``: whether the queue may use more than its own quota.
        """
        queue = self.form.queues[self.case.ask.queue or ""]
        for resource, quantity in requested:
            unused = self.has(queue, resource) - self.used(queue, resource)
            if quantity > self.room(queue, resource) or (not borrowing and quantity > unused):
                return resource
        return ""

    def _below(self, node: Node) -> Iterator[Node]:
        """Yield the children that share quota with a node; a fenced child is the root of a separate quota tree."""
        for path in self.case.tree.children[node.name]:
            child: Node = self.form.cohorts.get(path) or self.form.queues[path]
            if (child.parent if isinstance(child, Cohort) else child.cohort) == node.name:
                yield child


def quota_tree_of(case: AuditCase) -> DerivedQuota:
    """Return the queue tree as cohorts and queues with quota."""
    reading, tree = case.terms.reading, case.tree
    return case.snapshot.once("quota tree", (tree, reading), lambda: derive_quota(tree, reading))


def _requested_amounts(case: AuditCase) -> list[tuple[str, int]]:
    """Return the total request of all pods that get quota together, by resource.

    The resource ``pods`` is left out; Kueue counts at most one of it.
    """
    named = (case.snapshot.pod(facts.uid) for facts in case.decision.together)
    pods = [case.ask, *(pod for pod in named if pod is not None)]
    names = sorted(quota_tree_of(case).resources - {PODS})
    totals = ((name, sum(pod.requests.get(name, 0) for pod in pods)) for name in names)
    return [(name, quantity) for name, quantity in totals if quantity]


def may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that the preemptor is a pending pod of a leaf, and is allowed to preempt."""
    pod = case.ask
    state = "bound" if pod.node is not None else "terminating" if pod.terminating else "pending"
    lines = [
        same(pod.key, state, "pending"),
        differs(pod.key, "Never" if pod.never_preempts else "PreemptLowerPriority", "Never"),
        same(pod.key, "unread" if pod.unread else "", ""),
        same(pod.key, "leaf" if pod.queue in quota_tree_of(case).queues else "no leaf", "leaf"),
    ]
    return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)


def whole_workloads(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, all bound and each listed once, and that every workload is evicted as a whole."""
    lines = [differs(case.ask.key, str(len(case.victims)), "0")]
    lines.append(same(case.ask.key, str(len(case.victims)), str(len(case.decision.victims))))
    victim_uids = {pod.uid for pod in case.victims}
    groups = {group_of(pod) for pod in case.victims}
    for pod in case.victims:
        lines.append(differs(pod.key, pod.node or "", ""))
        lines += [same(pod.key, "terminating", "running")] if pod.uid in case.ledger.leaving_uids else []
    staying = (pod for pod in _bound_in(case, {queue for queue, _, _ in groups}) if pod.uid not in victim_uids)
    lines += [
        same(pod.key, "stays", "goes")
        for pod in staying
        if group_of(pod) in groups and pod.uid not in case.ledger.leaving_uids
    ]
    return InvariantCheck.of(Invariant.WHOLE, lines)


def _bound_in(case: AuditCase, queues: AbstractSet[str]) -> Iterator[Pod]:
    """Yield the pods of some queues that have a node."""
    columns = case.snapshot.columns
    rows = np.flatnonzero(columns.queue_kinds.flags(lambda pod: (pod.queue or "") in queues))
    yield from (columns.pods[row] for row in rows.tolist())
    yield from (pod for pod in columns.stray if (pod.queue or "") in queues)


def quota(case: AuditCase) -> InvariantCheck:
    """Check that, without the victims, the quota of the preemptor's queue is enough for the request."""
    audit, queue = QuotaAudit(case), quota_tree_of(case).queues[case.ask.queue or ""]
    lines = [
        amount(queue.name, name, audit.room(queue, name), Relation.AT_LEAST, quantity)
        for name, quantity in _requested_amounts(case)
    ]
    return InvariantCheck.of(Invariant.QUOTA, lines)


def none_reprievable(case: AuditCase) -> InvariantCheck:
    """Check that no victim workload could be put back, except one: Kueue does not try to put back the last.

    Source: fillBackWorkloads of Kueue.
    """
    checks = [_filled_back(case, borrowing=borrowing) for borrowing in (True, False)]
    return next((check for check in checks if check.holds), checks[0])


def _filled_back(case: AuditCase, *, borrowing: bool) -> InvariantCheck:
    requested = _requested_amounts(case)
    if QuotaAudit(case).short(requested, borrowing=borrowing):
        return InvariantCheck.of(Invariant.MINIMAL, [same(case.ask.key, "short", "")])
    lines: list[ComparedValues] = []
    spare: list[ComparedValues] = []
    for pods in _workloads(case.victims).values():
        line = differs(pods[0].key, QuotaAudit(case, pods).short(requested, borrowing=borrowing), "")
        (lines if line.holds else spare).append(line)
    return InvariantCheck.of(Invariant.MINIMAL, lines + (spare if len(spare) > 1 else []))


def _workloads(pods: Iterable[Pod]) -> dict[Group, list[Pod]]:
    pods_by_group: dict[Group, list[Pod]] = {}
    for pod in pods:
        pods_by_group.setdefault(group_of(pod), []).append(pod)
    return pods_by_group


def only_from_borrowers(case: AuditCase) -> InvariantCheck:
    """Check that other queues lose pods only while they use more than their own quota of something that is short.

    Source: cqIsBorrowing of Kueue.
    """
    audit, requested = QuotaAudit(case, case.victims), _requested_amounts(case)
    queues = quota_tree_of(case).queues
    short = [name for name, quantity in requested if quantity > audit.room(queues[case.ask.queue or ""], name)]
    lines: list[Line] = []
    for path in dict.fromkeys(pod.queue or "" for pod in case.victims if pod.queue != case.ask.queue):
        over = [_over(audit, queues[path], name) for name in short]
        lines += [line for line in over if line.holds][:1] or over[:1] or [same(path, "nothing", "short")]
    return InvariantCheck.of(Invariant.BORROWS, lines)


def _over(audit: QuotaAudit, queue: ClusterQueue, resource: str) -> Sum:
    used, available = audit.used(queue, resource), audit.has(queue, resource)
    return amount(queue.name, resource, used, Relation.ABOVE, available)


def priority(case: AuditCase) -> InvariantCheck:
    """Check that the rules of the preemptor's queue allow every victim, by its priority and age.

    Source: SatisfiesPreemptionPolicy of Kueue.
    """
    rules = quota_tree_of(case).queues[case.ask.queue or ""].preemption
    lines: list[Line] = []
    highest = max([case.ask.priority, *(facts.priority for facts in case.decision.together)])
    for pods in _workloads(case.victims).values():
        top = max(pods, key=lambda pod: pod.priority)
        take = rules.within if top.queue == case.ask.queue else rules.reclaim
        if take is Take.ANY:
            continue
        newer = take is Take.LOWER_OR_NEWER_EQUAL_PRIORITY
        lines += [same(top.key, "Never", "")] if take is Take.NEVER else []
        lines.append(amount(top.key, "", top.priority, Relation.AT_MOST if newer else Relation.BELOW, highest))
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def in_cohort(case: AuditCase) -> InvariantCheck:
    """Check that the victims are under the same topmost cohort as the preemptor, below which quota is shared."""
    tree = quota_tree_of(case).tree

    def top(queue: str | None) -> str:
        return tree.names[tree.root(tree.queue[queue or ""])]

    lines = [same(pod.key, top(pod.queue), top(case.ask.queue)) for pod in case.victims if pod.queue in tree.queue]
    return InvariantCheck.of(Invariant.FENCE, lines)


def not_disabled(case: AuditCase) -> InvariantCheck:
    """Check that neither the preemptor nor a victim is in or below a queue that disables preemption."""
    lines = []
    for pod in (case.ask, *case.victims):
        off = case.tree.disabled_by(pod.queue) if pod.queue in case.tree.queues else None
        lines += [differs(pod.key, off, off)] if off else []
    return InvariantCheck.of(Invariant.DISABLED, lines)


def not_shielded(case: AuditCase) -> InvariantCheck:
    """Check that no victim is protected, or in no queue."""
    lines = [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield]
    lines += [same(pod.key, "no queue", "") for pod in case.victims if pod.queue not in quota_tree_of(case).queues]
    return InvariantCheck.of(Invariant.SHIELDED, lines)


OF_VICTIMS: tuple[Check, ...] = (priority, in_cohort, not_disabled, not_shielded)
"""The checks on which pods may be victims."""

ALL: tuple[Check, ...] = (may_preempt, whole_workloads, quota, none_reprievable, only_from_borrowers, *OF_VICTIMS)
"""Every invariant of `cohort` and `fair-share`."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
