"""Which units stay after all: each is put back in its turn, and goes for good if a member no longer fits.

Source: SelectVictimsOnDomain of kube-scheduler 1.37 (pkg/scheduler/framework/preemption, podgrouppreemption.go).
"""

import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Rows
from engine.model.snapshot.eviction_units import Units
from engine.policies.common.groups.members_in_place import MembersInPlace, Placed
from engine.policies.common.groups.placing import MemberShapes


def find_victims(shapes: MemberShapes, gone: DepartingPods, units: Units, turns: Rows, placed: Placed) -> list[int]:
    """Return the units (leads) that have to go, in the order in which they were put back.

    ``gone``: all units. ``turns``: the units in the order in which they are put back.
    """
    columns = shapes.snapshot.columns
    members = MembersInPlace(shapes, gone, placed)
    used = np.zeros(len(columns.nodes), np.bool_)
    used[[place for _pod, place in placed]] = True
    matter = np.zeros(len(columns.pods), np.bool_)
    matter[units.lead[used[columns.node] | members.counted_elsewhere]] = True
    return [lead for lead in turns[matter[turns]].tolist() if not members.take_back(_on_nodes(columns, units, lead))]


def _on_nodes(columns: Columns, units: Units, lead: int) -> list[tuple[int, int]]:
    """Return the rows of a unit, each with the index of its node."""
    return [(row, int(columns.node[row])) for row in units.rows(lead)]
