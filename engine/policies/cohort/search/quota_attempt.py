"""A question asked of a cluster, and its quota as a search changes it: with some workloads taken away."""

from engine.model.quota import FlavorResource, Quantities, QuotaUsage, Workload
from engine.policies.cohort.search.quota_index import QuotaIndex

Lack = tuple[FlavorResource, int]
"""Something that there is too little of, and how much more of it there would have to be."""


class QuotaAttempt:
    """Whether a workload would have room for ``asked``, and who of those that hold ``contested`` might go for it."""

    def __init__(
        self, ground: QuotaIndex, ask: Workload, asked: Quantities, contested: tuple[FlavorResource, ...]
    ) -> None:
        self.ground, self.tree, self.usage = ground, ground.tree, ground.usage.copy()
        self.ask, self.asked, self.contested = ask, asked, contested
        self.queue = ground.queues[ask.queue]
        self.node = ground.tree.queue[ask.queue]
        self.path = ground.tree.paths[self.node]
        """From its queue to the top."""
        self.below: dict[int | None, int] = dict(zip(self.path[1:], self.path, strict=False))
        """Cohort on the path -> what is on the path right below it."""

    def start_over(self) -> None:
        """Let all be there again."""
        self.usage = self.ground.usage.copy()

    def take(self, one: Workload) -> None:
        """Let a workload be gone."""
        self.usage.add(self.tree.queue[one.queue], one.usage, -1)

    def put_back(self, one: Workload) -> None:
        """Let it be there again."""
        self.usage.add(self.tree.queue[one.queue], one.usage)

    def lacks(self, *, borrowing: bool) -> Lack | None:
        """What there is no room for now; without ``borrowing`` within the queue's nominal quota alone."""
        for of, amount in self.asked.items():
            used, own = self.usage.used(self.node, of), self.tree.columns[of].own[self.node]
            if not borrowing and used + amount > own:
                return of, used + amount - own
            room = self.usage.room(self.node, of)
            if amount > max(0, room):
                return of, amount - room
        return None

    def within_nominal(self, node: int) -> bool:
        """Whether a queue or cohort borrows nothing of what is contested."""
        return self.usage.within_nominal(node, self.contested)


def left_after(usage: QuotaUsage, node: int, asked: Quantities) -> tuple[bool, dict[FlavorResource, int]]:
    """Whether a node's subtree has room for it, and what is left once the part that it keeps to itself gave its own."""
    fits = not any(usage.borrows(node, of, amount) for of, amount in asked.items())
    return fits, {of: amount - min(amount, usage.local_available(node, of)) for of, amount in asked.items()}
