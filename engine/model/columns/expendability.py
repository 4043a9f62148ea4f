"""The pods of each node in the order in which they are most expendable, updated for the next snapshot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.offsets import ranges, run_starts
from engine.model.columns import pod_fields
from engine.model.columns.group_codes import Rows
from engine.model.columns.pod_fields import Number

if TYPE_CHECKING:
    from engine.model.collections.blocks import BlockSequence
    from engine.model.columns.row_merge import MergedPods


class PodsByRow(Protocol):
    """Pods by row, a block for each node and one for the others; see ``Roster``."""

    @property
    def pods(self) -> "BlockSequence[Any]": ...
    @property
    def place(self) -> Mapping[str, int]: ...
    @property
    def now_ms(self) -> int: ...
    def numbers(self, of: Number, dtype: type = ..., /) -> NDArray[Any]: ...


class ExpendabilityOrder(NamedTuple):
    """The rows of a roster node by node, on each node the most expendable pod first.

    Pods that did not opt out come first, then those that are not the originator of their application, then those of
    lower priority, then those that have run for a shorter time, then newer ones. Pods that are equal in all of it stay
    in the order of their rows. So do the pods that are on none of the nodes.
    """

    rows: Rows
    begins: NDArray[np.bool_]
    """Position in this order -> whether the pod differs from the one before in more than its age and its run time."""

    @classmethod
    def of(cls, roster: PodsByRow) -> "ExpendabilityOrder":
        """Return the order of all pods of a roster."""
        many = len(roster.pods)
        return cls(np.arange(many), np.zeros(many, np.bool_)).sorted_again(roster, np.arange(len(roster.place)))

    def carried(self, roster: PodsByRow, merge: "MergedPods") -> "ExpendabilityOrder":
        """Return the order of the roster that came of a merge of this order's roster."""
        new = len(merge.coming)
        rows = merge.rows.merged(merge.rows.places[self.rows], np.zeros(new, np.intp))
        begins = merge.rows.merged(self.begins, np.zeros(new, np.bool_))
        away = int(roster.pods.first[len(roster.place)])
        rows[away:] = np.arange(away, len(rows))
        nodes = np.array([node for node in merge.blocks if node < len(roster.place)], np.intp)
        return ExpendabilityOrder(rows, begins).sorted_again(roster, nodes)

    def sorted_again(self, roster: PodsByRow, nodes: Rows) -> "ExpendabilityOrder":
        """Return the order after the pods of some nodes, given in ascending order, were sorted again."""
        where = ranges(roster.pods.first[nodes], roster.pods.first[nodes + 1])
        node = np.repeat(nodes, roster.pods.first[nodes + 1] - roster.pods.first[nodes])
        started = roster.numbers(pod_fields.started)[where]
        lost = np.maximum(0, roster.now_ms - np.where(started == pod_fields.NEVER, roster.now_ms, started))
        decisive = (
            roster.numbers(pod_fields.priority)[where],
            roster.numbers(pod_fields.originator, np.bool_)[where],
            roster.numbers(pod_fields.opted_out, np.bool_)[where],
            node,
        )
        order = np.lexsort((-roster.numbers(pod_fields.created)[where], lost, *decisive))
        rows, begins = self.rows.copy(), self.begins.copy()
        rows[where] = where[order]
        begins[where] = np.logical_or.reduce([run_starts(key[order]) for key in decisive])
        return ExpendabilityOrder(rows, begins)
