"""Gathers what a decision needs to know about one pending pod: the queues' shares, its limits, and free capacity."""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import lcm

import numpy as np

from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.objects import Pod
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.deserved.departures import DeparturesOn, terminating_pods
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.share_index import share_index_of
from engine.policies.deserved.shares.share_ledger import ShareLedger
from engine.policies.deserved.shares.share_status import ShareStatuses, share_statuses_from

_NOTHING: Mapping[str, int] = {}
_LARGEST_SCALE = 10**30


class ReclaimAttempt:
    """One attempt to place a pending pod, at one moment of the cluster."""

    def __init__(
        self,
        snapshot: Snapshot,
        tree: QueueTree,
        ask: Pod,
        parameters: Parameters,
        *,
        together: Amounts | None = None,
    ) -> None:
        """Prepare the attempt. ``together``: what all pods request that are decided with this one, itself included."""
        self.snapshot, self.tree, self.ask, self.parameters = snapshot, tree, ask, parameters
        self.requests = ask.requests if together is None else together
        """What comes into the queues of the pending pod once the decision is carried out."""
        self.nodes = PreemptionAttempt(snapshot, tree, ask)
        """The nodes on which the pending pod might run."""
        self.leaf = ask.queue or tree.root
        self.lineage = frozenset(tree.lineage(self.leaf))
        self._lines: dict[str, tuple[str, ...]] = {}
        asked = {name: amount for name, amount in ask.requests.items() if amount > 0}
        self.wanted: Amounts = {name: amount for name, amount in asked.items() if name != PODS} or asked
        """The amounts that the pending pod requests. ``pods`` is included only if it requests nothing else."""
        self.share_index = share_index_of(snapshot, tree)

    @cached_property
    def share_statuses(self) -> ShareStatuses:
        """Return the share status of every queue by its path."""
        shares = deserved(
            self.tree, self.share_index.requests, self.share_index.capacity, Method(self.parameters.method)
        )
        return share_statuses_from(self.share_index, self.snapshot, self.tree, shares)

    @cached_property
    def ledger(self) -> ShareLedger:
        """Return the used and deserved amounts of all queues as arrays."""
        kept: dict[str, ShareLedger] = self.snapshot.once("deserved ledger", (self.tree, self.parameters.method), dict)
        latest = kept.get("latest")
        kept["latest"] = found = (
            latest.moved(self.share_statuses) if latest else ShareLedger(self.nodes.pod_index, self.share_statuses)
        )
        return found

    @cached_property
    def above_ask(self) -> Flags:
        """Return for every queue number whether the queue is the pending pod's or an ancestor of it."""
        above = np.zeros(self.nodes.pod_index.nobody + 1, np.bool_)
        above[[self.nodes.pod_index.number[path] for path in self.lineage]] = True
        return above

    @cached_property
    def overused(self) -> dict[str, Flags]:
        """Return, by resource, for every queue number whether the queue exceeds what it deserves.

        All its ancestors that are not ancestors of the pending pod's queue must exceed what they deserve too.

        Source: the term overused of the proposal of k8s-arbitrator, read for several levels.
        """
        pod_index = self.nodes.pod_index
        spared = self.above_ask.copy()
        spared[pod_index.nobody] = True
        flags = {name: spared | np.asarray(self.ledger.over(name) > 0, np.bool_) for name in self.wanted}
        return {name: np.asarray(one[pod_index.ancestors].all(axis=0), np.bool_) for name, one in flags.items()}

    @cached_property
    def counted(self) -> Amounts:
        """Return the total capacity of the requested resources, by which queues are compared.

        Resources that the cluster does not have are left out.
        """
        capacity = self.share_index.capacity
        return {name: capacity[name] for name in self.wanted if name in capacity}

    @cached_property
    def whole(self) -> int:
        """Return the least common multiple of the capacities in ``counted``."""
        return lcm(*self.counted.values())

    @property
    def common_weight(self) -> int:
        """Return a multiple of the weights of all queues, 0 if the least one is too large to calculate with."""
        return self.snapshot.once("deserved common weight", self.tree, lambda: _common_multiple(self.tree))

    @property
    def too_large(self) -> bool:
        """Return whether the pending pod would fit on no node even if all nodes were empty."""
        return any(pod.uid == self.ask.uid for pod in self.share_index.too_large)

    @cached_property
    def beyond(self) -> str:
        """Return the pending pod's queue and the first resource of which it would exceed what it deserves, or ''."""
        return self.beyond_deserved(self.ask)

    @cached_property
    def over_hard(self) -> str:
        """Return the pending pod's queue and the first resource of which it would exceed its hard limit, or ''."""
        return self.beyond_hard(self.ask)

    def beyond_deserved(self, pod: Pod, before: Mapping[str, int] = _NOTHING) -> str:
        """Return the same as ``beyond`` for any pod of the queue. ``before``: what others request that came first."""
        if pod.namespace == SYSTEM:
            return ""
        return self._more_than(pod, before, self.share_statuses[self.leaf].deserved, 0)

    def beyond_hard(self, pod: Pod, before: Mapping[str, int] = _NOTHING) -> str:
        """Return the same as ``over_hard`` for any pod of the queue. ``before``: as for ``beyond_deserved``."""
        return self._more_than(pod, before, self.share_statuses[self.leaf].hard, None)

    def _more_than(self, pod: Pod, before: Mapping[str, int], limits: Mapping[str, int], otherwise: int | None) -> str:
        used = self.share_statuses[self.leaf].used
        for name, amount in sorted(pod.requests.items()):
            limit = limits.get(name, otherwise)
            if amount > 0 and limit is not None and used.get(name, 0) + before.get(name, 0) + amount > limit:
                return f"{self.leaf} {name}"
        return ""

    @property
    def outranks(self) -> bool:
        """Return whether the pending pod would exceed what its queue deserves, and has a priority class that may.

        Source: the proposal of k8s-arbitrator, by which pods of high priority may exceed what is deserved.
        """
        return bool(self.beyond) and self.ask.priority_class in self.parameters.high_priority

    def common(self, queue: str) -> int:
        """Return how many queues of the lineage of ``queue`` are in the pending pod's lineage too."""
        return len(self.tree.lineage(queue)) - len(self.line(queue))

    def line(self, queue: str) -> tuple[str, ...]:
        """Return the lineage of a queue, the lowest first, without queues in the pending pod's lineage."""
        if queue not in self._lines:
            self._lines[queue] = tuple(path for path in self.tree.lineage(queue) if path not in self.lineage)
        return self._lines[queue]

    @cached_property
    def excess(self) -> dict[tuple[str, str], int]:
        """Return by how much ancestors of the pending pod's queue would exceed their hard limits with the pod.

        Keys are pairs of ancestor and resource.
        """
        found = {}
        for path in self.tree.lineage(self.leaf)[1:]:
            for name, limit in self.share_statuses[path].hard.items():
                more = self.share_statuses[path].used.get(name, 0) + self.ask.requests.get(name, 0) - limit
                if more > 0 and self.ask.requests.get(name, 0) > 0:
                    found[path, name] = more
        return found

    def due_ms(self, queue: str) -> int:
        """Return when a queue's pods may be preempted: its grace period after its reclaim notice, or after now.

        Source: the grace period in the proposal of k8s-arbitrator.
        """
        due: dict[str, int] = self.snapshot.once("deserved due", self.tree, dict)
        if queue not in due:
            notified_ms = self.snapshot.notices.get(queue, self.snapshot.now_ms)
            due[queue] = notified_ms + self.tree.delay_ms(queue, inherited=True)
        return due[queue]

    def in_grace(self, queue: str) -> bool:
        """Return whether a queue has had no reclaim notice yet, or its grace period is not over."""
        return queue not in self.snapshot.notices or self.due_ms(queue) > self.snapshot.now_ms

    @cached_property
    def free(self) -> dict[str, Numbers]:
        """Return, by resource, for every node index how much is free once terminating pods have exited.

        Only resources that the pending pod requests are included.
        """
        columns, leaving = self.nodes.columns, self.leaving
        return {
            name: columns.allocatable(name)
            - columns.held(name)
            + leaving.of(columns.requests(name), columns.requested_upto(name))
            for name in self.ask.requests
        }

    def free_on(self, resource: str, places: Rows) -> Numbers:
        """Return how much of a resource is free on some nodes once terminating pods have exited."""
        columns = self.nodes.columns
        leaving = DeparturesOn(columns, places, columns.terminating.take).of(columns.requests(resource))
        free: Numbers = columns.allocatable(resource)[places] - columns.held(resource)[places] + leaving
        return free

    @cached_property
    def leaving(self) -> DepartingPods:
        """Return the terminating pods as departed."""
        return terminating_pods(self.snapshot)

    @property
    def notified(self) -> Flags:
        """Return for every queue number whether the queue was given a reclaim notice."""
        notices = self.snapshot.notices
        return self._once("notified", lambda queue: queue in notices)

    @property
    def past_grace(self) -> Flags:
        """Return for every queue number whether the queue had a reclaim notice and its grace period is over."""
        return self._once("past grace", lambda queue: not self.in_grace(queue))

    def _once(self, what: str, meets: Callable[[str], bool]) -> Flags:
        pod_index = self.nodes.pod_index
        return self.snapshot.once(
            f"deserved {what}", self.tree, lambda: np.array([*map(meets, pod_index.paths), False], np.bool_)
        )


def _common_multiple(tree: QueueTree) -> int:
    scale = 1
    for weight in {max(queue.weight, 1) for queue in tree.queues.values()}:
        scale = lcm(scale, weight)
        if scale > _LARGEST_SCALE:
            return 0
    return scale
