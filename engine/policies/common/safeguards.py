"""Which pods lasting safeguards keep from being evicted: budgets, as the Eviction API counts, and pauses.

A budget covers what it selects, an empty selector all pods of its namespace; a pod of two budgets can't be evicted at
all. Source: the Eviction API of Kubernetes (pkg/registry/core/pod/storage/eviction.go).
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
    """Of some bound pods no more than so many may go together."""

    covered: Rows
    """The rows of those pods."""
    allowed: int


_WORKED_OUT = ("refused", "limits", "restrains", "_many", "_paused_rows", "_outside_rows", "_rows")
"""What stays the same while the same is refused."""


class Restraints:
    """The safeguards of a snapshot, held against its bound pods (rows). Without safeguards it restrains nothing."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, before: "Restraints | None" = None) -> None:
        """Where the snapshot has no safeguards its disruption budgets are not looked at either.

        ``before``: those of an earlier moment of the pass.
        """
        given = snapshot.safeguards
        self._given, self._of = given, snapshot.budgets
        self._columns, self._tree = snapshot.columns, tree
        self._paused: tuple[str, ...] = given.paused if given else ()
        self._scope = (given.queues, given.namespaces) if given else ((), ())
        self._budgets: Sequence[DisruptionBudget] = snapshot.budgets if given else ()
        self._covered = [_covered(self._columns, budget) for budget in self._budgets]
        self._left = [self._remaining(budget, rows) for budget, rows in zip(self._budgets, self._covered, strict=True)]
        if before is not None and (before._of, before.key) == (self._of, self.key):  # noqa: SLF001 - of its own kind
            self.__dict__.update({name: before.__dict__[name] for name in _WORKED_OUT if name in before.__dict__})

    def holds_for(self, snapshot: Snapshot) -> bool:
        """Whether they are those of a snapshot too: it has the same safeguards, and nobody else has begun to leave."""
        same = self._of is snapshot.budgets and self._given == snapshot.safeguards
        return same and (not self._budgets or self._columns.leaving is snapshot.columns.leaving)

    @cached_property
    def refused(self) -> Flags:
        """Row -> whether the pod may not go, whoever else does."""
        refused = self._many | self._paused_rows | self._outside_rows
        for rows, left in zip(self._covered, self._left, strict=True):
            if left <= 0:
                refused[rows] = True
        return refused

    @cached_property
    def limits(self) -> tuple[EvictionLimit, ...]:
        """The budgets that allow for some of the pods that they cover, but perhaps not for all."""
        found = zip(self._covered, self._left, strict=True)
        return tuple(EvictionLimit(rows, left) for rows, left in found if 0 < left < len(rows))

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal at two moments of a pass where the same is refused."""
        return (self._paused, self._scope, *self._left)

    @cached_property
    def restrains(self) -> bool:
        """Whether any pod is kept, alone or together with others."""
        return bool(self.limits) or bool(self.refused.any())

    @property
    def pauses(self) -> bool:
        """Whether any queue is paused."""
        return bool(self._paused)

    def rows(self, reason: PodReason) -> Rows:
        """The rows of those who are refused for a reason, the first of PAUSED, OUTSIDE_SCOPE and OVER_BUDGET."""
        return self._rows[reason]

    def why(self, row: int) -> tuple[PodReason, str]:
        """Why a pod that is refused may not go, with the paused queue or the budgets meant."""
        reasons = (PodReason.PAUSED, PodReason.OUTSIDE_SCOPE)
        reason = next((one for one in reasons if row in self._rows[one]), PodReason.OVER_BUDGET)
        return reason, self.detail(row)

    def detail(self, row: int) -> str:
        """The paused queue, or the budgets, that keep a pod; empty where none do."""
        if not self.refused[row]:
            return ""
        pod = self._columns.pods[row]
        return self.pause_of(pod.queue or "") or (pod.queue or "" if self.outside(pod) else self.budgets_of(row))

    def budgets_of(self, row: int) -> str:
        """The names of the budgets that cover a pod."""
        covering = zip(self._budgets, self._covered, strict=True)
        return ", ".join(budget.name for budget, rows in covering if row in rows)

    def pause_of(self, queue: str) -> str:
        """The paused queue that a queue is, or lies in; empty: none."""
        if not self._paused:
            return ""
        lineage = self._tree.lineage(queue) if queue in self._tree else (queue,)
        return next((path for path in lineage if path in self._paused), "")

    def outside(self, pod: Pod) -> bool:
        """Whether a pod is in none of the queues and namespaces that we act within."""
        return self._given is not None and not self._given.covers(pod.queue or "", pod.namespace)

    def held(self, ask: Pod, victims: Sequence[Pod] = ()) -> Safeguard | None:
        """What holds back the eviction of all of these, or of anybody, for an ask; None: nothing that lasts."""
        for pod in (ask, *victims):
            if pause := self.pause_of(pod.queue or ""):
                return Safeguard(interlock=Interlock.QUEUE_PAUSED, detail=pause)
            if self.outside(pod):
                return Safeguard(interlock=Interlock.SCOPE, detail=pod.queue or pod.namespace)
        found = (self._columns.row_of(pod.uid, pod.node) for pod in victims)
        rows = np.array([row for row in found if row is not None], np.intp)
        over = [
            f"{budget.namespace}/{budget.name}"
            for budget, covered, left in zip(self._budgets, self._covered, self._left, strict=True)
            if self._beyond(rows[np.isin(rows, covered)], left)
        ]
        return Safeguard(interlock=Interlock.DISRUPTION_BUDGET, detail=", ".join(over)) if over else None

    def _beyond(self, rows: Rows, left: int) -> bool:
        """Whether a budget that still allows for so many does not allow for these, which it covers."""
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
        """Row -> whether two budgets cover the pod."""
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
        """What a budget still allows: those on their way out whom the cluster does not show so yet are promised."""
        pods = self._columns.pods
        leaving = [pods[row] for row in self._promised.tolist() if row in rows] if len(self._promised) else []
        also = [pod for pod in self._columns.stray if _is_promised(pod) and selects(budget, pod)]
        return budget.allowed - sum(pod.name not in budget.disrupted for pod in (*leaving, *also))

    @cached_property
    def _promised(self) -> Rows:
        pods = self._columns.pods
        return np.array([row for row in self._columns.leaving.tolist() if _is_promised(pods[row])], np.intp)


def selects(budget: DisruptionBudget, pod: Pod) -> bool:
    """Whether a budget covers a pod: one without any requirement covers all of its namespace."""
    return pod.namespace == budget.namespace and matches(budget.expressions, pod.labels)


def _covered(columns: Columns, budget: DisruptionBudget) -> Rows:
    made: Rows = columns.once(
        "selected by a budget",
        (budget.namespace, budget.expressions),
        lambda: np.flatnonzero(columns.pod_kinds.flags(lambda pod: selects(budget, pod))),
    )
    return made


def _is_promised(pod: Pod) -> bool:
    """Whether a pod is to go, and no budget counts it as gone yet."""
    return pod.terminating and pod.deleted_ms is None


def restraints_of(snapshot: Snapshot, tree: QueueTree) -> Restraints:
    """The restraints of a snapshot; what is worked out stays for as long as a pass refuses the same."""
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
    """Choose victims that safeguards let go; where there are none, choose regardless, and say what holds those back.

    ``regardless``: the policy wants no safeguard to have a say in whom it chooses.
    """
    restraints = restraints_of(snapshot, tree)
    free = snapshot.guarded(None)
    if snapshot.safeguards is not None and restraints.outside(ask):  # for it nothing is done, and all is told
        snapshot = snapshot.guarded(snapshot.safeguards.everywhere)
    found, held = choose(free if regardless else snapshot), restraints.held(ask)
    if found.outcome is Outcome.NO_CANDIDATE and restraints.restrains and not regardless:
        found, regardless = choose(free), True
    if regardless:
        pods = (snapshot.pod(one.pod.uid, found.node or one.pod.node) for one in found.to_evict)
        held = restraints.held(ask, [pod for pod in pods if pod is not None])
    if restraints.outside(ask) and found.notices:
        found = msgspec.structs.replace(found, notices=())  # nobody is told to give back where nothing is done
    if held is None or not found.evicts:
        return found
    return msgspec.structs.replace(found, safeguard=held)
