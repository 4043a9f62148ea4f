"""What may be evicted together for a gang or a single pod: a pod alone, or a whole group of running pods."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import SchedulingGroup
from engine.model.snapshot.eviction_units import units_of
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.groups.units import EvictionUnit, staying_whole
from engine.policies.fence.candidates import BoundPodKinds, GuaranteeClaim, count_excluded
from engine.policies.fence.groups.unit_costs import LARGEST, NEVER, UnitCosts
from engine.policies.fence.node_candidates import count_by_reason
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue

Cost = tuple[int, ...]
"""What victims cost by the criteria of a node, in their order; the last part is the index of the node."""
Key = TypeVar("Key", bound=Hashable)
"""What amounts are counted by: a queue and a resource."""


class Unit(EvictionUnit, frozen=True, eq=False, kw_only=True):
    """A unit with what its eviction costs, and what it holds of every limit."""

    turn: tuple[int, ...]
    """What its eviction costs, by which units are ordered: the most expendable first."""
    held: Mapping[tuple[int, str], int]
    """Queue (by number) and guaranteed resource -> what its pods hold."""
    capped: Mapping[tuple[str, str], int]
    """Queue above the preemptor and resource with a max -> what its pods hold there."""
    budgets: Mapping[int, int]
    """Index of a limit of disruption budgets -> how many of its pods are covered."""

    @property
    def cost(self) -> Cost:
        """Return what its eviction costs, without the name."""
        return self.turn[:-1]


def cost_of(units: Iterable[Unit], place: int) -> Cost:
    """Return what units cost that are evicted for a pod on one node (by index)."""
    turns = [unit.turn for unit in units]
    if not turns:
        return (0, 0, NEVER, 0, 0, 0, NEVER, place)
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
        self.may_go: Flags = single & ~attempt.columns.only(staying)[self.units.lead] if len(staying) else single
        """Row -> whether the pod may go, with all of its unit."""
        self._made: dict[int, Unit] = {}
        self._held_by_kind: dict[int, Mapping[tuple[int, str], int]] = {}
        self._capped_by_kind: dict[int, Mapping[tuple[str, str], int]] = {}

    @property
    def some_whole(self) -> bool:
        """Return whether a whole group may go."""
        return bool((self.may_go & self.units.whole).any())

    @cached_property
    def whole_bounds(self) -> Numbers:
        """Return what victims cost at least on each node where a whole group may go, if one does: a column for each.

        The last row is the index of the node.
        """
        least: Numbers = self._costs.least_by_node()
        return least

    @cached_property
    def _costs(self) -> "UnitCosts":
        return UnitCosts(self.attempt, self.units, self.may_go)

    def _leads(self, places: Iterable[int]) -> Rows:
        columns = self.attempt.columns
        rows = np.concatenate([np.zeros(0, np.intp), *(np.arange(*columns.first[[p, p + 1]]) for p in places)])
        return np.unique(self.units.lead[rows[self.may_go[rows]]])

    def costs_on(self, place: int, without: Flags) -> tuple[Rows, Numbers]:
        """Return the pods (rows) that may go from a node (by index), and what the eviction of each costs by itself.

        ``without``: by row, whether a pod is left out. A pod of a whole group costs at least as much as returned.
        """
        rows = slice(*self.attempt.columns.first[[place, place + 1]].tolist())
        found = rows.start + np.flatnonzero(self.may_go[rows] & ~without[rows])
        return found, self._costs.of_pods(found)

    def cost_of_pods(self, rows: Sequence[int]) -> Cost:
        """Return what the eviction of some pods of one unit costs at least, without the name."""
        parts = self._costs.of_pods(np.array(rows, np.intp))[:-1]
        found = parts.sum(axis=1)
        for part in LARGEST:
            found[part] = parts[part].max()
        return tuple(found.tolist())

    def on(self, places: Iterable[int]) -> list[Unit]:
        """Return the units with a pod on one of some nodes, the most expendable first."""
        return self.of(self._leads(places))

    def of(self, leads: Rows) -> list[Unit]:
        """Return the units with these leads, the most expendable first."""
        turns = self._costs.of(leads)
        order = np.lexsort(turns[::-1])
        ordered = zip(leads[order].tolist(), map(tuple, turns[:, order].T.tolist()), strict=True)
        return [self._made.get(lead) or self._make(lead, turn) for lead, turn in ordered]

    def rows_on(self, places: Iterable[int], without: Iterable[int]) -> Rows:
        """Return the pods (rows) of the units with a pod on one of some nodes, the most expendable first.

        ``without``: leads of units that are left out.
        """
        leads = self._leads(places)
        leads = leads[~np.isin(leads, np.array(list(without), np.intp))]
        leads = leads[np.lexsort(self._costs.of(leads)[::-1])]
        whole = self.units.whole[leads]
        found = [
            self._rows(lead) if is_whole else (lead,) for lead, is_whole in zip(leads.tolist(), whole, strict=True)
        ]
        return np.array([row for rows in found for row in rows], np.intp)

    def uids(self, lead: int) -> tuple[str, ...]:
        """Return the uids of the pods of the unit with this lead."""
        return self._costs.uids(lead) if self.units.whole[lead] else (self.attempt.columns.pods[lead].uid,)

    def _rows(self, lead: int) -> tuple[int, ...]:
        if not self.units.whole[lead]:
            return (lead,)
        return tuple(row for row in self.units.rows(lead) if self.may_go[row])

    def _make(self, lead: int, turn: tuple[int, ...]) -> Unit:
        rows = self._rows(lead)
        places = tuple(self.attempt.columns.node[list(rows)].tolist())
        self._made[lead] = made = Unit(
            lead=lead,
            rows=rows,
            places=places,
            pods=tuple(zip(rows, places, strict=True)),
            turn=turn,
            held=self._sum(self._held, rows),
            capped=self._sum(self._capped, rows),
            budgets=Counter(self._limits(rows)) if self._covered else {},
        )
        return made

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
            amounts = {resource: int(pod_index.amounts(resource)[kind]) for resource in pod_index.queues.promised}
            self._held_by_kind[kind] = {
                (number, resource): amount
                for resource, amount in amounts.items()
                for number in above
                if amount > 0 and pod_index.queues.promised[resource][number] >= 0
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
