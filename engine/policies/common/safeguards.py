"""The pods that lasting safeguards protect from eviction: disruption budgets, pauses of queues, and the scope.

Budgets count as in the Eviction API. A budget covers the pods that it selects, and an empty selector covers all pods of
its namespace. A pod that two budgets cover can't be evicted at all. Source: the Eviction API of Kubernetes
(pkg/registry/core/pod/storage/eviction.go).
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from engine.feasibility import matches
from engine.model.columns.node_columns import Columns, Flags, Rows
from engine.model.decision import Decision, Interlock, Outcome, PodReason, Safeguard
from engine.model.objects import DisruptionBudget, Pod
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot


class EvictionLimit(NamedTuple):
    """The largest number of some bound pods that may be evicted together."""

    covered: Rows
    """The rows of the pods that the limit covers."""
    allowed: int


_WORKED_OUT = ("refused", "limits", "restrains", "_many", "_paused_rows", "_outside_rows", "_rows")
"""Cached attributes that stay valid while the same pods are refused."""


class Restraints:
    """The safeguards of a snapshot applied to its bound pods (rows). Without safeguards nothing is restrained."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, before: "Restraints | None" = None) -> None:
        """Apply the safeguards of a snapshot. Its disruption budgets are ignored if it has no safeguards.

        ``before``: the restraints of an earlier moment of the pass, whose cached results are reused if still valid.
        """
        given = snapshot.safeguards
        self._given, self._of = given, snapshot.budgets
        self._columns, self._tree = snapshot.columns, tree
        self._paused: tuple[str, ...] = given.paused if given else ()
        self._scope = (given.queues, given.namespaces) if given else ((), ())
        self._budgets: Sequence[DisruptionBudget] = snapshot.budgets if given else ()
        self._covered = [_covered(self._columns, budget) for budget in self._budgets]
        self._left = [self._remaining(budget, rows) for budget, rows in zip(self._budgets, self._covered, strict=True)]
        if before is not None and (before._of, before.key) == (self._of, self.key):  # noqa: SLF001 - of the same class
            self.__dict__.update({name: before.__dict__[name] for name in _WORKED_OUT if name in before.__dict__})

    def holds_for(self, snapshot: Snapshot) -> bool:
        """Return whether these restraints also apply to another snapshot.

        They do if it has the same safeguards and budgets, and no further pods are terminating that budgets count.
        """
        same = self._of is snapshot.budgets and self._given == snapshot.safeguards
        return same and (not self._budgets or self._columns.leaving is snapshot.columns.leaving)

    @cached_property
    def refused(self) -> Flags:
        """Return for each pod (by row) whether it may not be evicted, regardless of which other pods are."""
        refused = self._many | self._paused_rows | self._outside_rows
        for rows, left in zip(self._covered, self._left, strict=True):
            if left <= 0:
                refused[rows] = True
        return refused

    @cached_property
    def limits(self) -> tuple[EvictionLimit, ...]:
        """Return the limits of the budgets that allow eviction of some, but not all, of the pods that they cover."""
        found = zip(self._covered, self._left, strict=True)
        return tuple(EvictionLimit(rows, left) for rows, left in found if 0 < left < len(rows))

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for two moments of a pass at which the same pods are refused."""
        return (self._paused, self._scope, *self._left)

    @cached_property
    def restrains(self) -> bool:
        """Return whether any pod, or any combination of pods, may not be evicted."""
        return bool(self.limits) or bool(self.refused.any())

    @property
    def pauses(self) -> bool:
        """Return whether any queue is paused."""
        return bool(self._paused)

    def rows(self, reason: PodReason) -> Rows:
        """Return the rows of the pods that are refused for a reason.

        A pod counts under the first reason that applies, in the order PAUSED, OUTSIDE_SCOPE and OVER_BUDGET.
        """
        return self._rows[reason]

    def why(self, row: int) -> tuple[PodReason, str]:
        """Return the reason why a refused pod may not be evicted, and its detail as ``detail`` gives it."""
        reasons = (PodReason.PAUSED, PodReason.OUTSIDE_SCOPE)
        reason = next((reason for reason in reasons if row in self._rows[reason]), PodReason.OVER_BUDGET)
        return reason, self.detail(row)

    def detail(self, row: int) -> str:
        """Return what protects a pod from eviction, empty if nothing does.

        This is the paused queue, or the pod's queue if it is outside the scope, or else the names of the budgets.
        """
        if not self.refused[row]:
            return ""
        pod = self._columns.pods[row]
        return self.pause_of(pod.queue or "") or (pod.queue or "" if self.outside(pod) else self.budgets_of(row))

    def budgets_of(self, row: int) -> str:
        """Return the names of the budgets that cover a pod, separated by commas."""
        covering = zip(self._budgets, self._covered, strict=True)
        return ", ".join(budget.name for budget, rows in covering if row in rows)

    def pause_of(self, queue: str) -> str:
        """Return the nearest paused queue from a queue upwards, empty if there is none."""
        if not self._paused:
            return ""
        lineage = self._tree.lineage(queue) if queue in self._tree else (queue,)
        return next((path for path in lineage if path in self._paused), "")

    def outside(self, pod: Pod) -> bool:
        """Return whether a pod is outside the queues and namespaces to which evictions are limited."""
        return self._given is not None and not self._given.covers(pod.queue or "", pod.namespace)

    def held(self, ask: Pod, victims: Sequence[Pod] = ()) -> Safeguard | None:
        """Return the safeguard that holds back the eviction of these victims, or any eviction for a pending pod.

        Return None if no lasting safeguard does.
        """
        for pod in (ask, *victims):
            if pause := self.pause_of(pod.queue or ""):
                return Safeguard(interlock=Interlock.QUEUE_PAUSED, detail=pause)
            if self.outside(pod):
                return Safeguard(interlock=Interlock.OUT_OF_SCOPE, detail=pod.queue or pod.namespace)
        found = (self._columns.row_of(pod.uid, pod.node) for pod in victims)
        rows = np.array([row for row in found if row is not None], np.intp)
        over = [
            f"{budget.namespace}/{budget.name}"
            for budget, covered, left in zip(self._budgets, self._covered, self._left, strict=True)
            if self._beyond(rows[np.isin(rows, covered)], left)
        ]
        return Safeguard(interlock=Interlock.DISRUPTION_BUDGET, detail=", ".join(over)) if over else None

    def _beyond(self, rows: Rows, left: int) -> bool:
        """Return whether evicting these pods violates a budget that covers them and allows ``left`` more evictions.

        It also does if one of them is covered by two budgets.
        """
        return len(rows) > max(left, 0) or bool(self._many[rows].any())

    @cached_property
    def _rows(self) -> dict[PodReason, Rows]:
        paused, outside = self._paused_rows, self._outside_rows
        return {
            PodReason.PAUSED: np.flatnonzero(paused),
            PodReason.OUTSIDE_SCOPE: np.flatnonzero(outside & ~paused),
            PodReason.OVER_BUDGET: np.flatnonzero(self.refused & ~paused & ~outside),
        }

    @cached_property
    def _many(self) -> Flags:
        """Return for each pod (by row) whether two or more budgets cover it."""
        times = np.zeros(len(self._columns.pods), np.int64)
        for rows in self._covered:
            times[rows] += 1
        return np.asarray(times > 1, np.bool_)

    @cached_property
    def _paused_rows(self) -> Flags:
        if not self._paused:
            return np.zeros(len(self._columns.pods), np.bool_)
        return self._columns.queue_kinds.flags(lambda pod: bool(self.pause_of(pod.queue or "")))

    @cached_property
    def _outside_rows(self) -> Flags:
        queues, namespaces = self._scope
        if not queues and not namespaces:
            return np.zeros(len(self._columns.pods), np.bool_)
        within = self._columns.queue_kinds.flags(lambda pod: any(is_inside(pod.queue or "", above) for above in queues))
        return ~(within | self._columns.pod_kinds.flags(lambda pod: pod.namespace in namespaces))

    def _remaining(self, budget: DisruptionBudget, rows: Rows) -> int:
        """Return how many more evictions a budget allows.

        Pods that open decisions evict count as evicted, although the cluster does not show them as terminating yet.
        """
        pods = self._columns.pods
        leaving = [pods[row] for row in self._promised.tolist() if row in rows] if len(self._promised) else []
        also = [pod for pod in self._columns.stray if _awaits_eviction(pod) and selects(budget, pod)]
        return budget.allowed - sum(pod.name not in budget.disrupted for pod in (*leaving, *also))

    @cached_property
    def _promised(self) -> Rows:
        pods = self._columns.pods
        return np.array([row for row in self._columns.leaving.tolist() if _awaits_eviction(pods[row])], np.intp)


def selects(budget: DisruptionBudget, pod: Pod) -> bool:
    """Return whether a budget covers a pod. A budget without requirements covers all pods of its namespace."""
    return pod.namespace == budget.namespace and matches(budget.expressions, pod.labels)


def _covered(columns: Columns, budget: DisruptionBudget) -> Rows:
    made: Rows = columns.once(
        "selected by a budget",
        (budget.namespace, budget.expressions),
        lambda: np.flatnonzero(columns.pod_kinds.flags(lambda pod: selects(budget, pod))),
    )
    return made


def _awaits_eviction(pod: Pod) -> bool:
    """Return whether a decision evicts a pod that no budget counts as disrupted yet."""
    return pod.terminating and pod.deleted_ms is None


def restraints_of(snapshot: Snapshot, tree: QueueTree) -> Restraints:
    """Return the restraints of a snapshot. Results are reused during a pass while the same pods are refused."""
    kept: dict[Safeguards | None, Restraints] = snapshot.once("restraints", tree, dict)
    known = snapshot.safeguards
    latest = kept.get(known)
    if latest is not None and latest.holds_for(snapshot):
        return latest
    kept[known] = found = Restraints(snapshot, tree, before=latest)
    return found


def within_safeguards(
    snapshot: Snapshot, tree: QueueTree, ask: Pod, choose: Callable[[Snapshot], Decision], *, regardless: bool = False
) -> Decision:
    """Choose victims that the safeguards allow.

    If there are none, choose victims without the safeguards, and record in the decision which safeguard holds it back.
    ``regardless``: whether the policy ignores the safeguards when it chooses victims.
    """
    restraints = restraints_of(snapshot, tree)
    free = snapshot.guarded(None)
    if snapshot.safeguards is not None and restraints.outside(ask):  # nothing is evicted, only shown
        snapshot = snapshot.guarded(snapshot.safeguards.everywhere)
    found, held = choose(free if regardless else snapshot), restraints.held(ask)
    if found.outcome is Outcome.NO_CANDIDATE and restraints.restrains and not regardless:
        found, regardless = choose(free), True
    if regardless:
        pods = (snapshot.pod(victim.pod.uid, found.node_of(victim)) for victim in found.to_evict)
        held = restraints.held(ask, [pod for pod in pods if pod is not None])
    if restraints.outside(ask) and found.notices:
        found = msgspec.structs.replace(found, notices=())  # no queue has to give back where nothing is evicted
    if held is None or not found.evicts:
        return found
    return msgspec.structs.replace(found, safeguard=held)
