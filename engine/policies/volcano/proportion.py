"""Calculates what queues deserve by Volcano's plugin ``proportion``: by weight, each resource separately, in rounds.

Source: Volcano's pkg/scheduler/plugins/proportion, proportion.go. Its quirks are listed in docs/policies/deserved.md.
"""

from collections.abc import Collection
from operator import add, sub

from engine.model.objects import VolcanoCluster, VolcanoQueue
from engine.model.quantities import PODS, total
from engine.policies.volcano.amounts import (
    ALWAYS,
    SLACK,
    Fine,
    combine_amounts,
    less_equal,
    limit_to,
    limits,
    lower_limits,
    to_fine,
)


def capabilities(cluster: VolcanoCluster, names: Collection[str]) -> dict[str, Fine]:
    """Return for every queue the most that it can ever have; a resource that is missing is not limited.

    What other queues are guaranteed is excluded. If guarantees use up all of a resource other than cpu and memory, that
    resource is not limited, instead of having nothing left.
    """
    everything = to_fine(cluster.total)
    promised = to_fine(total(queue.guarantee for queue in cluster.queues.values()))
    left = {name: max(0, amount - promised.get(name, 0)) for name, amount in everything.items()}
    shared = {name: amount for name, amount in left.items() if amount > 0 or name in ALWAYS}
    return {name: _capability(shared, cluster.queues[name]) for name in names}


def _capability(shared: Fine, queue: VolcanoQueue) -> Fine:
    return lower_limits(combine_amounts(add, shared, to_fine(queue.guarantee)), limits(queue.capability))


def deserved(cluster: VolcanoCluster) -> dict[str, Fine]:
    """Return what each queue deserves; only queues that have a PodGroup are included."""
    rounds = _Rounds(cluster)
    while rounds.open and rounds.run():
        pass
    return rounds.deserved


class _Rounds:
    """The rounds in which what remains is divided.

    Each round offers what remains to all unsatisfied queues, and subtracts afterwards what they accepted.
    """

    def __init__(self, cluster: VolcanoCluster) -> None:
        self.remaining = to_fine(cluster.total)
        self.requests = {name: to_fine(amounts) for name, amounts in cluster.requests.items()}
        self.capabilities = capabilities(cluster, self.requests)
        self.guarantees = {name: to_fine(cluster.queues[name].guarantee) for name in self.requests}
        self.weights = {name: cluster.queues[name].weight for name in self.requests}
        self.deserved: dict[str, Fine] = {name: {} for name in self.requests}
        self.open = set(self.requests)

    def run(self) -> bool:
        """Run one round, and return whether something is left for another round."""
        weights = sum(self.weights[name] for name in self.open)
        before, handed = self.remaining, to_fine({})
        for name in sorted(self.open):
            old, new = self.deserved[name], self._offered(name, weights)
            handed = combine_amounts(add, handed, combine_amounts(sub, new, old))
            self.deserved[name] = new
            if less_equal(self.requests[name], new) or new == old:
                self.open.discard(name)
        self.remaining = {name: max(0, amount) for name, amount in combine_amounts(sub, before, handed).items()}
        scarce = (amount for resource, amount in self.remaining.items() if resource != PODS)
        return self.remaining != before and any(amount >= SLACK for amount in scarce)

    def _offered(self, name: str, weights: int) -> Fine:
        """Return what a queue deserves with its part of what remains.

        It is never more than the queue's capability or request, but at least its guarantee.
        """
        request, weight = self.requests[name], self.weights[name]
        more = {resource: amount * weight // weights for resource, amount in self.remaining.items()}
        most = limit_to(combine_amounts(add, self.deserved[name], more), self.capabilities[name])
        asked = {resource: min(amount, request.get(resource, 0)) for resource, amount in most.items()}
        return combine_amounts(max, asked, self.guarantees[name])
