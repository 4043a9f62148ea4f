"""What may be evicted together under policy ``deserved``: a pod alone, or a whole group of running pods."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import Amounts, total
from engine.model.snapshot.eviction_units import units_of
from engine.policies.common.groups.units import EvictionUnit, staying_whole
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.shares.balances import Rank, ShareBalances

Turn = tuple[Rank, int, int, str]
"""What units are ordered by, the first to go first."""


class ReclaimUnit(EvictionUnit, frozen=True, eq=False, kw_only=True):
    """A unit with what decides about its turn: a whole group has that of its pod that would go last."""

    victims: tuple[Pod, ...]
    held: Mapping[str, Amounts]
    """Queue -> what its pods of the unit request."""
    priority: int
    """The highest of its pods' priorities and its group's."""
    created_ms: int
    """When the oldest of its pods was created."""
    order: tuple[int, int, str]
    """What it is ordered by among units of the same queues, the first to go first."""

    def rank(self, balances: ShareBalances) -> Rank:
        """Return the rank of the queue that gives last among those of its pods."""
        return max(map(balances.rank, self.held))

    def turn(self, balances: ShareBalances) -> Turn:
        """Return by what it is ordered, given what queues use."""
        return self.rank(balances), *self.order


class ReclaimUnits:
    """The units that may be evicted on the terms of a member, each considered by itself."""

    def __init__(self, candidates: Candidates, own: SchedulingGroup | None) -> None:
        """Judge all candidates. ``own``: the group of the pending pods, of which nothing is evicted."""
        self.candidates, self.attempt = candidates, candidates.attempt.nodes
        self.units = units_of(self.attempt.snapshot)
        single = candidates.preemptable.copy()
        if own is not None:
            single[self.units.members(own)] = False
        stays = ~single
        if candidates.attempt.outranks:
            stays |= np.asarray(self.units.priority >= candidates.attempt.ask.priority, np.bool_)
        self.may_go: Flags = single & ~np.isin(self.units.lead, staying_whole(self.attempt.snapshot, self.units, stays))
        """Row -> whether the pod may go, with all of its unit."""
        self._made: dict[int, ReclaimUnit] = {}
        self._on: dict[int, list[ReclaimUnit]] = {}

    @cached_property
    def any_whole(self) -> bool:
        """Return whether any whole group may go."""
        return bool((self.may_go & self.units.whole).any())

    @cached_property
    def queues(self) -> list[str]:
        """Return the queues of the pods that may go."""
        pod_index = self.attempt.pod_index
        return [pod_index.paths[number] for number in np.unique(pod_index.row_queue[self.may_go]).tolist()]

    def leads_on(self, place: int) -> list[int]:
        """Return the leads of the units with a pod on a node (by index)."""
        leads: list[int] = np.unique(self.units.lead[self.rows_on(place)]).tolist()
        return leads

    def rows_on(self, place: int) -> Rows:
        """Return the rows of the pods on a node (by index) that may go."""
        rows = self.attempt.columns.rows(place)
        return rows.start + np.flatnonzero(self.may_go[rows.start : rows.stop])

    def in_order_on(self, place: int) -> list[ReclaimUnit]:
        """Return the units with a pod on a node (by index), by ``ReclaimUnit.order``."""
        if place not in self._on:
            self._on[place] = sorted(map(self.unit, self.leads_on(place)), key=lambda unit: unit.order)
        return self._on[place]

    def on(self, places: Iterable[int]) -> list[ReclaimUnit]:
        """Return the units with a pod on one of some nodes, the first to go first."""
        leads = {lead: None for place in places for lead in self.leads_on(place)}
        balances = self.candidates.balances
        return sorted(map(self.unit, leads), key=lambda unit: unit.turn(balances))

    def unit(self, lead: int) -> ReclaimUnit:
        """Return the unit with this lead."""
        if lead not in self._made:
            self._made[lead] = self._whole(lead) if self.units.whole[lead] else self._single(lead)
        return self._made[lead]

    def _single(self, row: int) -> ReclaimUnit:
        pod, place = self.attempt.columns.pods[row], int(self.attempt.columns.node[row])
        return ReclaimUnit(
            lead=row,
            rows=(row,),
            places=(place,),
            pods=((row, place),),
            victims=(pod,),
            held={pod.queue or "": pod.requests},
            priority=pod.priority,
            created_ms=pod.created_ms,
            order=(pod.priority, -pod.created_ms, pod.key),
        )

    def _whole(self, lead: int) -> ReclaimUnit:
        columns = self.attempt.columns
        rows = tuple(row for row in self.units.rows(lead) if self.may_go[row])
        pods, places = tuple(columns.pods[row] for row in rows), tuple(columns.node[list(rows)].tolist())
        priority = max(int(self.units.priority[lead]), *(pod.priority for pod in pods))
        oldest = min(pod.created_ms for pod in pods)
        return ReclaimUnit(
            lead=lead,
            rows=rows,
            places=places,
            pods=tuple(zip(rows, places, strict=True)),
            victims=pods,
            held=_held(pods),
            priority=priority,
            created_ms=oldest,
            order=(priority, -oldest, pods[0].key),
        )

    def excluded(self) -> dict[PodReason, int]:
        """Count the bound pods that may not go by reason."""
        kept = int(np.count_nonzero(self.candidates.preemptable & ~self.may_go))
        counts = {**self.candidates.counts, PodReason.WHOLE_GROUP: kept}
        return {reason: count for reason, count in sorted(counts.items()) if count}


def _held(pods: Sequence[Pod]) -> dict[str, Amounts]:
    """Return what the pods of each queue request together."""
    if len(pods) == 1:
        return {pods[0].queue or "": pods[0].requests}
    by_queue: dict[str, list[Amounts]] = {}
    for pod in pods:
        by_queue.setdefault(pod.queue or "", []).append(pod.requests)
    return {queue: total(requests) for queue, requests in by_queue.items()}
