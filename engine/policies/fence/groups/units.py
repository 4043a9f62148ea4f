"""What may be evicted together for a gang or a single pod: a pod alone, or a whole group of running pods."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from engine.model.collections.offsets import run_starts
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import SchedulingGroup
from engine.model.snapshot.eviction_units import Units, units_of
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.units import EvictionUnit, staying_whole
from engine.policies.fence.candidates import BoundPodKinds, GuaranteeClaim, count_excluded
from engine.policies.fence.node_candidates import count_by_reason
from engine.policies.fence.preemptable_amounts import AmountsByQueue

Cost = tuple[int, ...]
"""What victims cost by the criteria of a node, in their order; the last part is the index of the node."""
Key = TypeVar("Key", bound=Hashable)
"""What amounts are counted by: a queue and a resource."""
_NEVER = -(2**63)


@dataclass(frozen=True, eq=False, kw_only=True)
class Unit(EvictionUnit):
    """A unit with what its eviction costs, and what it holds of every limit."""

    turn: tuple[int, ...]
    """What its eviction costs, by which units are ordered: the most expendable first."""
    held: Mapping[tuple[int, str], int]
    """Queue (by number) and guaranteed resource -> what its pods hold."""
    capped: Mapping[tuple[str, str], int]
    """Queue above the preemptor and resource with a max -> what its pods hold there."""
    budgets: Mapping[int, int]
    """Index of a limit of disruption budgets -> how many of its pods are covered."""


def cost_of(units: Iterable[Unit], place: int) -> Cost:
    """Return what units cost that are evicted for a pod on one node (by index)."""
    turns = [unit.turn for unit in units]
    if not turns:
        return (0, 0, _NEVER, 0, 0, 0, _NEVER, place)
    opted_out, originators, priority, count, distance, lost, age, _ = zip(*turns, strict=True)
    return sum(opted_out), sum(originators), max(priority), sum(count), sum(distance), sum(lost), max(age), place


class CandidateUnits:
    """The units that may be evicted for a claim, each considered by itself."""

    def __init__(
        self,
        attempt: PreemptionAttempt,
        claim: GuaranteeClaim,
        amounts: AmountsByQueue,
        own: SchedulingGroup | None = None,
    ) -> None:
        """Judge all bound pods. ``own``: the group of the preemptor, of which nothing is evicted."""
        self.attempt, self.claim, self.amounts = attempt, claim, amounts
        self.units = units_of(attempt.snapshot)
        self.reasons = BoundPodKinds(attempt.pod_index, claim, amounts).reasons
        of_row = self.reasons[attempt.pod_index.kinds.of] if len(self.reasons) else np.zeros(0, np.int64)
        single = (of_row < 0) & ~attempt.columns.terminating & ~attempt.restraints.refused
        if own is not None:
            single[self.units.members(own)] = False
        higher = np.asarray(self.units.priority > claim.ask.priority, np.bool_)
        staying = staying_whole(attempt.snapshot, self.units, ~single | higher)
        self.may_go: Flags = single & ~np.isin(self.units.lead, staying)
        """Row -> whether the pod may go, with all of its unit."""
        self._made: dict[int, Unit] = {}
        self._held_by_kind: dict[int, Mapping[tuple[int, str], int]] = {}
        self._capped_by_kind: dict[int, Mapping[tuple[str, str], int]] = {}

    @cached_property
    def smallest_whole(self) -> dict[int, int]:
        """Return the nodes (by index) where a whole group may go, with the pods of the smallest of them."""
        rows = np.flatnonzero(self.may_go & self.units.whole)
        sizes = np.bincount(self.units.lead[rows], minlength=1)[self.units.lead[rows]]
        order = np.lexsort((sizes, self.attempt.columns.node[rows]))
        places, first = np.unique(self.attempt.columns.node[rows[order]], return_index=True)
        return dict(zip(places.tolist(), sizes[order][first].tolist(), strict=True))

    @cached_property
    def _turns(self) -> "_Turns":
        return _Turns(self.attempt, self.units, np.flatnonzero(self.may_go))

    def leads_on(self, place: int) -> list[int]:
        """Return the leads of the units with a pod on a node (by index), the most expendable first."""
        rows = self.attempt.columns.rows(place)
        going = rows.start + np.flatnonzero(self.may_go[rows.start : rows.stop])
        return self._turns.sort(np.unique(self.units.lead[going]))

    def on(self, places: Iterable[int]) -> list[Unit]:
        """Return the units with a pod on one of some nodes, the most expendable first."""
        leads = {lead: None for place in places for lead in self.leads_on(place)}
        return [self.unit(lead) for lead in self._turns.sort(np.array(list(leads), np.intp))]

    def unit(self, lead: int) -> Unit:
        """Return the unit with this lead."""
        if lead not in self._made:
            rows = tuple(row for row in self.units.rows(lead) if self.may_go[row])
            self._made[lead] = Unit(
                lead=lead,
                rows=rows,
                places=tuple(self.attempt.columns.node[list(rows)].tolist()),
                turn=self._turns.of(lead),
                held=self._sum(self._held, rows),
                capped=self._sum(self._capped, rows),
                budgets=Counter(self._limits(rows)),
            )
        return self._made[lead]

    def _sum(self, of_kind: Callable[[int], Mapping[Key, int]], rows: Sequence[int]) -> Mapping[Key, int]:
        """Return the sum of what some pods hold, by a function that returns it for one kind of pods."""
        kinds = self.attempt.pod_index.kinds.of
        if len(rows) == 1:
            return of_kind(int(kinds[rows[0]]))
        held = Counter[Key]()
        for row in rows:
            held.update(of_kind(int(kinds[row])))
        return held

    def _held(self, kind: int) -> Mapping[tuple[int, str], int]:
        """Return what a pod of a kind holds of each guaranteed resource in its queues, as far as these guarantee it."""
        if kind not in self._held_by_kind:
            pod_index = self.attempt.pod_index
            above = [int(level[pod_index.queue[kind]]) for level in pod_index.ancestors]
            amounts = {resource: int(pod_index.amounts(resource)[kind]) for resource in pod_index.promised}
            self._held_by_kind[kind] = {
                (number, resource): amount
                for resource, amount in amounts.items()
                for number in above
                if amount > 0 and pod_index.promised[resource][number] >= 0
            }
        return self._held_by_kind[kind]

    def _capped(self, kind: int) -> Mapping[tuple[str, str], int]:
        """Return what a pod of a kind holds in the queues above the preemptor of each resource with a max there."""
        if kind not in self._capped_by_kind:
            pod_index, tree = self.attempt.pod_index, self.attempt.tree
            queue = pod_index.kinds.each[kind].queue or tree.root
            self._capped_by_kind[kind] = {
                (path, resource): int(pod_index.amounts(resource)[kind])
                for path in tree.lineage(self.attempt.leaf)[1:]
                for resource in tree[path].max
                if tree.contains(path, queue)
            }
        return self._capped_by_kind[kind]

    def _limits(self, rows: Iterable[int]) -> Iterable[int]:
        """Yield, for each pod, the index of every limit of disruption budgets that covers it."""
        return (number for row in rows for number, covered in enumerate(self._covered) if row in covered)

    @cached_property
    def _covered(self) -> list[set[int]]:
        return [set(limit.covered.tolist()) for limit in self.attempt.restraints.limits]

    def excluded(self) -> dict[PodReason, int]:
        """Count the bound pods that may not go by reason."""
        counts = count_excluded(
            self.attempt, self.reasons, count_by_reason(self.attempt.pod_index.counts, self.reasons)
        )
        going = int(np.count_nonzero(self.may_go & self.units.whole))
        counts[PodReason.WHOLE_GROUP] = counts.get(PodReason.WHOLE_GROUP, 0) - going
        return {reason: count for reason, count in counts.items() if count > 0}


class _Turns:
    """The order of units by what their eviction costs: sums, or the largest, over the pods (rows) that would go."""

    def __init__(self, attempt: PreemptionAttempt, units: Units, rows: Rows) -> None:
        columns, order = attempt.columns, attempt.pod_index.order
        distances = attempt.pod_index.distance(attempt.leaf)[attempt.pod_index.row_queue]
        rows = rows[np.argsort(units.lead[rows], kind="stable")]
        first = np.flatnonzero(run_starts(units.lead[rows]))
        self._leads: Rows = units.lead[rows[first]]
        of_group = np.where(units.whole, units.priority, _NEVER)[self._leads]
        by = (
            _reduced(np.add, order.opted_out[rows].astype(np.int64), first),
            _reduced(np.add, order.originator[rows].astype(np.int64), first),
            np.maximum(_reduced(np.maximum, columns.priority[rows], first), of_group),
            np.diff(first, append=len(rows)),
            _reduced(np.add, distances[rows], first),
            _reduced(np.add, order.lost[rows], first),
            -_reduced(np.minimum, order.created[rows], first),
            self._leads,
        )
        self._by: Numbers = np.array(by)
        self._rank = np.empty(len(first), np.intp)
        self._rank[np.lexsort(by[::-1])] = np.arange(len(first))

    def of(self, lead: int) -> tuple[int, ...]:
        """Return what the eviction of a unit costs."""
        return tuple(self._by[:, np.searchsorted(self._leads, lead)].tolist())

    def sort(self, leads: Rows) -> list[int]:
        """Return units (leads) in their order, the most expendable first."""
        ranks = self._rank[np.searchsorted(self._leads, leads)]
        found: list[int] = leads[np.argsort(ranks)].tolist()
        return found


def _reduced(what: np.ufunc, numbers: Numbers, first: Rows) -> Numbers:
    found: Numbers = what.reduceat(numbers, first) if len(first) else numbers
    return found
