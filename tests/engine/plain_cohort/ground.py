"""The cluster as a search changes it: usage with some workloads taken away, and a question asked of it."""

from collections.abc import Iterable

from engine.model.quota import FlavorResource, Quantities, QuotaCluster, QuotaTree, Workload
from tests.engine.plain_cohort.usage import Usage


class Ground:
    """A cluster's quota with what is used of it now. A search takes workloads away and puts them back."""

    def __init__(self, cluster: QuotaCluster) -> None:
        self.cluster = cluster
        self.tree = QuotaTree(cluster.queues.values(), cluster.cohorts.values())
        self.holding = cluster.holding()
        self.usage = Usage(self.tree)
        for one in cluster.workloads:
            if one.holds and one.queue in cluster.queues:
                self.usage.add(self.tree.queue[one.queue], one.usage)

    def take(self, one: Workload) -> None:
        """Let a workload be gone."""
        self.usage.add(self.tree.queue[one.queue], one.usage, -1)

    def put_back(self, one: Workload) -> None:
        """Let it be there again."""
        self.usage.add(self.tree.queue[one.queue], one.usage)

    def candidates(self, queue: str) -> tuple[Workload, ...]:
        """The workloads of a queue that may be taken at all: none of one that is held, and none that is spared."""
        held = self.holding[queue] if self.cluster.queues[queue].active else ()
        return tuple(one for one in held if not one.spared)


class Question:
    """Whether a workload would have room for ``asked``, and who of those that hold ``contested`` might go for it."""

    def __init__(self, ground: Ground, ask: Workload, asked: Quantities, contested: Iterable[FlavorResource]) -> None:
        self.ground, self.usage, self.tree = ground, ground.usage, ground.tree
        self.ask, self.asked, self.contested = ask, asked, tuple(contested)
        self.queue = ground.cluster.queues[ask.queue]
        self.node = ground.tree.queue[ask.queue]

    @property
    def cohorts(self) -> tuple[int, ...]:
        """Those that the ask's queue is in, the nearest first."""
        return tuple(self.tree.above(self.node))

    def fits(self, *, borrowing: bool) -> bool:
        """Whether there is room now; without ``borrowing`` within the queue's nominal quota alone."""
        for of, amount in self.asked.items():
            if not borrowing and self.usage.borrows(self.node, of, amount):
                return False
            if amount > self.usage.available(self.node, of):
                return False
        return True

    def within_nominal(self, node: int) -> bool:
        """Whether a queue or cohort borrows nothing of what is contested."""
        return self.usage.within_nominal(node, self.contested)

    def own(self, one: Workload) -> bool:
        """Whether it runs in the ask's own queue."""
        return one.queue == self.ask.queue


def left_after(usage: Usage, node: int, asked: Quantities) -> tuple[bool, dict[FlavorResource, int]]:
    """Whether a node's subtree has room for it, and what is left once the part that it keeps to itself gave its own."""
    fits = not any(usage.borrows(node, of, amount) for of, amount in asked.items())
    return fits, {of: amount - min(amount, usage.local_available(node, of)) for of, amount in asked.items()}
