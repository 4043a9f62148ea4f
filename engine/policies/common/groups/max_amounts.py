"""How far the queues above a gang are from each max, while its members are placed and victims leave."""

from collections.abc import Callable, Mapping

from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree


class MaxAmounts:
    """What is left of every max above the members, updated as members are placed and pods leave."""

    def __init__(self, tree: QueueTree, leaf: str, used: Callable[[str, str], int]) -> None:
        """Begin with nobody placed. ``leaf``: the members' queue. ``used``: returns a queue's usage of a resource."""
        self._over = {
            (path, resource): used(path, resource) - cap
            for path in tree.lineage(leaf)[1:]
            for resource, cap in tree[path].max.items()
        }
        """Queue and resource with a max -> by how much it is exceeded; negative: what is left."""
        self._asked = dict.fromkeys(self._over, 0)

    @property
    def any(self) -> bool:
        """Return whether there is any max."""
        return bool(self._over)

    def ask(self, requests: Amounts, times: int = 1) -> None:
        """Count what a member requests, or no longer (``times`` -1)."""
        for path, resource in self._over:
            amount = times * requests.get(resource, 0)
            self._over[path, resource] += amount
            self._asked[path, resource] += amount

    def take(self, held: Mapping[tuple[str, str], int], times: int = 1) -> None:
        """Count what evicted pods hold in these queues, or no longer (``times`` -1)."""
        for limit, amount in held.items():
            self._over[limit] -= times * amount

    def held_by(self, tree: QueueTree, queue: str, requests: Amounts) -> dict[tuple[str, str], int]:
        """Return what a pod of a queue holds of what is limited above the members."""
        return {
            (path, resource): requests.get(resource, 0) for path, resource in self._over if tree.contains(path, queue)
        }

    def exceeded(self) -> list[tuple[str, str]]:
        """Return the queues and resources with an exceeded max. One that no member asks for does not matter."""
        return [which for which, over in self._over.items() if over > 0 and self._asked[which] > 0]
