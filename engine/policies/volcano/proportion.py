"""What queues deserve by Volcano's plugin ``proportion``: by weight, each resource by itself, in rounds.

Source: Volcano's pkg/scheduler/plugins/proportion, proportion.go. Its quirks are named in docs/policies/deserved.md.
"""

from collections.abc import Collection
from operator import add, sub

from engine.model.objects import VolcanoCluster, VolcanoQueue
from engine.model.quantities import PODS, total
from engine.policies.volcano.amounts import (
    ALWAYS,
    SLACK,
    Fine,
    at_most,
    capped,
    fine,
    less_equal,
    limits,
    merged,
)


def capabilities(cluster: VolcanoCluster, names: Collection[str]) -> dict[str, Fine]:
    """Queue -> the most that it can ever have; a resource that is missing is not limited.

    What others are guaranteed is not in it, but where that is all there is of another resource than cpu and memory,
    there is no limit instead of none left.
    """
    everything = fine(cluster.total)
    promised = fine(total(queue.guarantee for queue in cluster.queues.values()))
    left = {name: max(0, amount - promised.get(name, 0)) for name, amount in everything.items()}
    shared = {name: amount for name, amount in left.items() if amount > 0 or name in ALWAYS}
    return {name: _capability(shared, cluster.queues[name]) for name in names}


def _capability(shared: Fine, queue: VolcanoQueue) -> Fine:
    return capped(merged(add, shared, fine(queue.guarantee)), limits(queue.capability))


def deserved(cluster: VolcanoCluster) -> dict[str, Fine]:
    """Queue -> what it deserves; of those alone that have a PodGroup."""
    rounds = _Rounds(cluster)
    while rounds.open and rounds.run():
        pass
    return rounds.deserved


class _Rounds:
    """Each hands what remains to all that are not satisfied, and counts afterwards what it handed out."""

    def __init__(self, cluster: VolcanoCluster) -> None:
        self.remaining = fine(cluster.total)
        self.requests = {name: fine(amounts) for name, amounts in cluster.requests.items()}
        self.capabilities = capabilities(cluster, self.requests)
        self.guarantees = {name: fine(cluster.queues[name].guarantee) for name in self.requests}
        self.weights = {name: cluster.queues[name].weight for name in self.requests}
        self.deserved: dict[str, Fine] = {name: {} for name in self.requests}
        self.open = set(self.requests)

    def run(self) -> bool:
        """Whether there is something left to hand out in another round."""
        weights = sum(self.weights[name] for name in self.open)
        before, handed = self.remaining, fine({})
        for name in sorted(self.open):
            old, new = self.deserved[name], self._offered(name, weights)
            handed = merged(add, handed, merged(sub, new, old))
            self.deserved[name] = new
            if less_equal(self.requests[name], new) or new == old:
                self.open.discard(name)
        self.remaining = {name: max(0, amount) for name, amount in merged(sub, before, handed).items()}
        scarce = (amount for resource, amount in self.remaining.items() if resource != PODS)
        return self.remaining != before and any(amount >= SLACK for amount in scarce)

    def _offered(self, name: str, weights: int) -> Fine:
        """With its part of what remains; never more than it can have or asks, but always what it is guaranteed."""
        request, weight = self.requests[name], self.weights[name]
        more = {resource: amount * weight // weights for resource, amount in self.remaining.items()}
        most = at_most(merged(add, self.deserved[name], more), self.capabilities[name])
        asked = {resource: min(amount, request.get(resource, 0)) for resource, amount in most.items()}
        return merged(max, asked, self.guarantees[name])
