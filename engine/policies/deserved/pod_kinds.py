"""Groups bound pods into kinds; pods of a kind are equal in all that decides whether they may be preempted."""

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from engine.model.collections.offsets import running_sums
from engine.model.columns.distinct import ItemGroups
from engine.model.columns.node_columns import Columns, Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.common.pod_index import PodIndex
from engine.policies.deserved.budget_coverage import BudgetCoverage
from engine.policies.deserved.departures import RowChanges
from engine.policies.deserved.shares.share_ledger import column


class ExclusionReason(NamedTuple):
    """The reason a pod may not be preempted; ``detail`` names the queue, class, or budget in question."""

    reason: PodReason
    detail: str = ""


def exclusion_reason(pod: Pod) -> ExclusionReason | None:
    """Return why a pod is never preempted, whatever pod is pending, or None."""
    if pod.namespace == SYSTEM:
        return ExclusionReason(PodReason.SYSTEM)
    if pod.daemonset:
        return ExclusionReason(PodReason.DAEMONSET, pod.controller)
    if pod.shield:
        return ExclusionReason(PodReason.SHIELDED, str(pod.shield))
    if pod.opted_out:
        return ExclusionReason(PodReason.OPTED_OUT, pod.priority_class)
    return None


class _Latest(NamedTuple):
    """The rows that could be preempted at the previous call."""

    columns: Columns
    kinds: Flags
    preemptable: Flags
    step: RowChanges


class PodKinds:
    """The kinds of pods, and the properties of each kind."""

    def __init__(self, pod_index: PodIndex, budgets: BudgetCoverage) -> None:
        kinds = _kinds(pod_index.columns, budgets)
        self.of, self.each = kinds.of, kinds.each
        self.counts: Rows = np.bincount(self.of, minlength=len(self.each))
        """Kind -> the number of its pods."""
        self.queue: Rows = np.array([pod_index.queue_of(pod.queue) for pod in self.each], np.intp)
        """Kind -> the number of its queue."""
        self.priority: Numbers = np.array([pod.priority for pod in self.each], np.int64)
        self.budgeted = self._flags(lambda pod: budgets.kind(pod) is not None)
        """Kind -> whether a disruption budget covers its pods."""
        why = [exclusion_reason(pod) for pod in self.each]
        reasons = dict.fromkeys(exclusion.reason for exclusion in why if exclusion)
        self.never_preempted = {
            reason: np.array([exclusion is not None and exclusion.reason is reason for exclusion in why], np.bool_)
            for reason in reasons
        }
        """Reason for which pods are never preempted -> kind -> whether it applies."""
        self.rows = RowsByNumber(self.of, len(self.each))
        self.rows_of_queue = RowsByNumber(pod_index.row_queue, pod_index.nobody + 1)
        self._amounts: dict[str, Numbers] = {}
        self._latest: _Latest | None = None

    def preemptable(self, columns: Columns, kinds: Flags) -> tuple[Flags, RowChanges]:
        """Return for every row whether the pod is of one of these kinds and is not terminating, with what changed.

        The result is updated incrementally from the previous call.
        """
        latest = self._latest
        since = columns.since(latest.columns) if latest else None
        if latest is None or since is None:
            preemptable, step = kinds.take(self.of), RowChanges()
            preemptable[columns.leaving] = False
        else:
            moved = [self.rows.of(kind) for kind in np.flatnonzero(kinds != latest.kinds).tolist()]
            changed = np.concatenate([*moved, since])
            preemptable, step = latest.preemptable.copy(), RowChanges(changed, latest.step)
            preemptable[changed] = kinds[self.of[changed]]
            preemptable[columns.leaving if moved else since] = False
        self._latest = _Latest(columns, kinds, preemptable, step)
        return preemptable, step

    def _flags(self, meets: Callable[[Pod], bool]) -> Flags:
        return np.fromiter(map(meets, self.each), np.bool_, len(self.each))

    def amounts(self, resource: str) -> Numbers:
        """Return for every kind the amount of a resource that a pod of it requests."""
        if resource not in self._amounts:
            self._amounts[resource] = column([pod.requests.get(resource, 0) for pod in self.each])
        return self._amounts[resource]


class RowsByNumber:
    """Rows grouped by the number that each of them has."""

    def __init__(self, numbers: Rows, count: int) -> None:
        self._rows: Rows = np.argsort(numbers, kind="stable")
        self._first = running_sums(np.bincount(numbers, minlength=count)).tolist()

    def of(self, number: int) -> Rows:
        """Return the rows that have a number, in their original order."""
        return self._rows[self._first[number] : self._first[number + 1]]


def pod_kinds_of(snapshot: Snapshot, pod_index: PodIndex, budgets: BudgetCoverage) -> PodKinds:
    """Return the bound pods of a snapshot by kind, calculated once for a pass."""
    return snapshot.once("deserved alike", (pod_index.tree, budgets.covers), lambda: PodKinds(pod_index, budgets))


def _kinds(columns: Columns, budgets: BudgetCoverage) -> ItemGroups:
    """Group pods that are equal in everything that decides whether they may be preempted.

    The result does not depend on the pending pod.
    """
    made: ItemGroups = columns.once(
        "deserved who may go",
        budgets.covers,
        lambda: ItemGroups.joined(
            columns.pods,
            columns.queue_kinds,
            columns.request_kinds,
            columns.kinds(_kind_key),
            *([ItemGroups(columns.pods, budgets.kind)] if budgets.covers else []),
        ),
    )
    return made


def _kind_key(pod: Pod) -> Hashable:
    """Return a key of the pod's properties that decide whether it may be preempted.

    The controller counts only for pods of DaemonSets, because pods of jobs may each have a controller of their own.
    """
    controller = pod.controller if pod.daemonset else ""
    return pod.namespace == SYSTEM, pod.priority, pod.priority_class, pod.opted_out, controller, pod.shield
