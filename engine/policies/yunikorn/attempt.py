"""One attempt of the dialect ``yunikorn`` to place a pending pod: where it fits, by queue balances and node checks.

Source: Application.tryAllocate of yunikorn-core: first the headroom of the queues, then the nodes.
"""

import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Rows
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.pod_table import opted_out, table_of
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.quirks.table import Quirks


class YuniKornAttempt:
    """The state of preemption for one pending pod: the snapshot, the tree, queue balances and feasibility checks."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> None:
        self.snapshot, self.tree, self.ask, self.quirks = snapshot, tree, ask, quirks
        self.leaf = ask.queue or ""
        self.columns = snapshot.columns
        self.table = table_of(snapshot, tree, quirks)
        self.balances = QueueBalances(snapshot, tree, self.table, quirks)
        self.feasibility = Feasibility(snapshot, ask)
        self._refusing_now = self.feasibility.refusing()
        self.reserved = np.zeros(len(snapshot.nodes), np.bool_)
        place = self.columns.place
        self.reserved[[place[held.node] for held in snapshot.reservations if held.node in place]] = True

    def refusing(self, *, soon: bool) -> Rows:
        """Return for each node (by place) the number of the check that refuses the pending pod there, or FITS.

        ``soon``: whether to count the capacity of terminating pods as free. YuniKorn itself does not (quirk
        ``leaving_hold``).
        """
        if not soon or self.quirks.leaving_hold:
            return self._refusing_now
        return self.feasibility.refusing(DepartingPods(self.columns, self.columns.terminating))

    def node_with_room(self, *, soon: bool = False) -> str | None:
        """Return the first node where the pending pod fits without eviction, None if there is none.

        ``soon``: whether to count the capacity of terminating pods as free.
        """
        places = np.flatnonzero((self.refusing(soon=soon) == FITS) & ~self.reserved & ~self.columns.unschedulable)
        return self.columns.nodes[places[0]].name if len(places) else None

    def leaving(self, place: int) -> list[Pod]:
        """Return the terminating pods on a node whose capacity already counts as free.

        In YuniKorn itself none does (quirk ``leaving_hold``).
        """
        if self.quirks.leaving_hold:
            return []
        return [self.columns.pods[row] for row in self.columns.rows(place) if self.columns.terminating[row]]

    def unwilling(self, pod: Pod) -> bool:
        """Return whether a pod opted out of preemption."""
        return opted_out(pod, own_annotation=self.quirks.own_annotation)
