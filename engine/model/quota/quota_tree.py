"""The tree of cohorts and queues with their quota: what each has, keeps to itself, and could get at most.

Source: Kueue's pkg/cache/scheduler, resource_node.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.model.objects import ClusterQueue, Cohort, FlavorQuota, FlavorResource

_NONE = FlavorQuota(0)


class QuotaError(ValueError):
    """Cohorts that do not form a tree. ``str()`` is a sentence."""


class QuotaColumn(NamedTuple):
    """The quota of a resource in one flavor, by node number, for values that are read very often."""

    own: list[int]
    """The quota of the node's subtree."""
    kept: list[int]
    """The part of it that the cohort above never sees."""
    limits: list[int | None]
    """How much more than its own quota a node may use; None: no limit."""


class _QuotaColumns(dict[FlavorResource, QuotaColumn]):
    """Columns that are built on first use, also for resources that no quota mentions."""

    def __init__(self, tree: "QuotaTree") -> None:
        super().__init__()
        self._subtree, self._local, self._quotas = tree.subtree, tree.local, tree.quotas

    def __missing__(self, of: FlavorResource) -> QuotaColumn:
        own = [subtree.get(of, 0) for subtree in self._subtree]
        kept = [local.get(of, 0) for local in self._local]
        limits = [quotas.get(of, _NONE).borrowing for quotas in self._quotas]
        found = self[of] = QuotaColumn(own, kept, limits)
        return found


class QuotaTree:
    """A tree whose nodes are numbers: ``queue[name]`` is a queue's, ``cohort[name]`` a cohort's. Parents are cohorts.

    A queue without a cohort is a root of its own. The tree is immutable.
    """

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort]) -> None:
        given = {one.name: one for one in cohorts}
        queues = tuple(queues)
        named = [one.cohort for one in queues] + [one.parent for one in given.values()]
        given |= {name: Cohort(name=name) for name in named if name and name not in given}
        self.queue = {one.name: number for number, one in enumerate(queues)}
        self.cohort = {name: len(queues) + number for number, name in enumerate(given)}
        every: tuple[ClusterQueue | Cohort, ...] = (*queues, *given.values())
        self.names = tuple(one.name for one in every)
        self.quotas: tuple[Mapping[FlavorResource, FlavorQuota], ...] = tuple(one.quotas for one in every)
        self.weights = tuple(one.weight for one in every)
        above = [one.cohort for one in queues] + [one.parent for one in given.values()]
        self.parents = tuple(self.cohort[name] if name else None for name in above)
        self.children: tuple[list[int], ...] = tuple([] for _ in every)
        for node, parent in enumerate(self.parents):
            if parent is not None:
                self.children[parent].append(node)
        self.order = self._top_down()
        self.paths = self._paths()
        self.heights = self._heights()
        self.subtree, self.local = self._sums()
        self.stated = tuple(frozenset(subtree) for subtree in self.subtree)
        """By node, what its subtree has a quota for, even a quota of 0."""
        for node in self.order:  # a node gets a quota of 0 for what only others in its tree have a quota of
            self.subtree[node].update(dict.fromkeys(self.subtree[self.root(node)].keys() - self.stated[node], 0))
        self.potential = self._potentials()
        self.columns = _QuotaColumns(self)

    def is_queue(self, node: int) -> bool:
        """Return whether a node is a ClusterQueue."""
        return node < len(self.queue)

    def above(self, node: int) -> tuple[int, ...]:
        """Return the cohorts that a node is in, the nearest first."""
        return self.paths[node][1:]

    def root(self, node: int) -> int:
        """Return the top of a node's tree, which is the node itself if it is in no cohort."""
        return self.paths[node][-1]

    def quota(self, node: int, of: FlavorResource) -> FlavorQuota:
        """Return the node's own quota, which is 0 if it defines none."""
        return self.quotas[node].get(of, _NONE)

    def within(self, node: int) -> Iterator[int]:
        """Yield the nodes of a subtree, cohorts before what is in them."""
        pending = [node]
        while pending:
            yield (one := pending.pop())
            pending += reversed(self.children[one])

    def _top_down(self) -> tuple[int, ...]:
        roots = [node for node, parent in enumerate(self.parents) if parent is None]
        found = [one for root in roots for one in self.within(root)]
        if len(found) < len(self.names):
            lost = next(node for node in range(len(self.names)) if node not in set(found))
            raise QuotaError(f"cohort {self.names[self.parents[lost] or 0]} lies below itself")
        return tuple(found)

    def _paths(self) -> tuple[tuple[int, ...], ...]:
        """Return the path from each node to the top of its tree."""
        paths: list[tuple[int, ...]] = [()] * len(self.names)
        for node in self.order:
            parent = self.parents[node]
            paths[node] = (node,) if parent is None else (node, *paths[parent])
        return tuple(paths)

    def _heights(self) -> tuple[int, ...]:
        """Return the height of each node: the number of levels down to its deepest descendant."""
        heights = [0] * len(self.names)
        for node in reversed(self.order):
            heights[node] = max((heights[child] + 1 for child in self.children[node]), default=0)
        return tuple(heights)

    def _sums(self) -> tuple[tuple[dict[FlavorResource, int], ...], tuple[dict[FlavorResource, int], ...]]:
        """Return by node the quota of its subtree, and the part of it that the cohort above never sees."""
        subtree = tuple({of: quota.nominal for of, quota in quotas.items()} for quotas in self.quotas)
        local: tuple[dict[FlavorResource, int], ...] = tuple({} for _ in self.names)
        for node in reversed(self.order):
            for child in self.children[node]:
                for of, amount in subtree[child].items():
                    subtree[node][of] = subtree[node].get(of, 0) + amount - local[child].get(of, 0)
            for of, quota in self.quotas[node].items():
                if quota.lending is not None:
                    local[node][of] = max(0, subtree[node][of] - quota.lending)
        return subtree, local

    def _potentials(self) -> tuple[dict[FlavorResource, int], ...]:
        """Return by node what it could use if all others used nothing."""
        potential: list[dict[FlavorResource, int]] = [{} for _ in self.names]
        every = {of for subtree in self.subtree for of in subtree}
        for node in self.order:
            parent, own, kept = self.parents[node], self.subtree[node], self.local[node]
            if parent is None:
                potential[node] = dict(own)
                continue
            for of in every:
                most = kept.get(of, 0) + potential[parent].get(of, 0)
                limit = self.quota(node, of).borrowing
                potential[node][of] = most if limit is None else min(most, own.get(of, 0) + limit)
        return tuple(potential)
