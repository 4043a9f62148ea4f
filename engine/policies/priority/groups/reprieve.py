"""Which units stay after all: each is put back in its turn, and goes for good if a member no longer fits.

Source: SelectVictimsOnDomain of kube-scheduler 1.37 (pkg/scheduler/framework/preemption, podgrouppreemption.go).
"""

from collections.abc import Sequence

import numpy as np

from engine.model.columns.node_columns import Columns, Rows
from engine.model.objects import Pod
from engine.model.snapshot.eviction_units import Units
from engine.policies.priority.groups.placing import GroupState

Placed = Sequence[tuple[Pod, int]]
"""The members with the index of their node, in the order in which they were placed."""


def find_victims(state: GroupState, columns: Columns, units: Units, turns: Rows, placed: Placed) -> list[int]:
    """Return the units (leads) that have to go, in the order in which they were put back.

    ``state``: without all units, and without the members. ``turns``: the units in the order in which they are put back.
    """
    if state.local:
        return _find_on_used_nodes(state, columns, units, turns, placed)
    victims = []
    for lead in turns.tolist():
        back = [(columns.pods[row], int(columns.node[row])) for row in units.rows(lead)]
        for pod, place in back:
            state.put_back(pod, place, 1)
        if not _all_fit(state, placed):
            for pod, place in back:
                state.put_back(pod, place, -1)
            victims.append(lead)
    return victims


def _all_fit(state: GroupState, placed: Placed) -> bool:
    """Return whether each member fits on its node, with those before it in place."""
    before = 0
    for pod, place in placed:
        if not state.fits(pod, place):
            break
        state.bind(pod, place, 1)
        before += 1
    for pod, place in placed[:before]:
        state.bind(pod, place, -1)
    return before == len(placed)


def _find_on_used_nodes(state: GroupState, columns: Columns, units: Units, turns: Rows, placed: Placed) -> list[int]:
    """Return the same where a pod matters on its own node alone: units without a pod on a used node stay."""
    nodes = {place: _NodeRoom(state, columns, place, placed) for place in sorted({place for _pod, place in placed})}
    rows = np.concatenate([np.array(columns.rows(place), np.intp) for place in nodes])
    here: dict[int, list[int]] = {}
    for row, lead in zip(rows.tolist(), units.lead[rows].tolist(), strict=True):
        here.setdefault(lead, []).append(row)
    victims = []
    for lead in turns[np.isin(turns, np.array(list(here), np.intp))].tolist():
        back = [(nodes[int(columns.node[row])], row) for row in here[lead]]
        taken = 0
        for room, row in back:
            if not room.take(row):
                break
            taken += 1
        if taken < len(back):
            for room, row in back[:taken]:
                room.give_back(row)
            victims.append(lead)
    return victims


class _NodeRoom:
    """How much a node has left of each limit once its members are there, in plain integers."""

    def __init__(self, state: GroupState, columns: Columns, place: int, placed: Placed) -> None:
        rows = columns.rows(place)
        self._first = rows.start
        least = state.left([pod for pod, at in placed if at == place], place)
        self._left = [left for _weight, left in least]
        columns_of_weights = [weight[rows.start : rows.stop].tolist() for weight, _left in least]
        self._weights: list[tuple[int, ...]] = list(zip(*columns_of_weights, strict=True))

    def take(self, row: int) -> bool:
        """Put a pod back if there is room for it; return whether there was."""
        weights = self._weights[row - self._first]
        for weight, left in zip(weights, self._left, strict=True):
            if weight > left:
                return False
        self._left = [left - weight for weight, left in zip(weights, self._left, strict=True)]
        return True

    def give_back(self, row: int) -> None:
        """Take a pod away that was put back."""
        self._left = [left + weight for weight, left in zip(self._weights[row - self._first], self._left, strict=True)]
