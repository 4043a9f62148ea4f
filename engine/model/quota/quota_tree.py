"""The tree of cohorts and queues with their quota: what each has, keeps to itself, and could get at most.

Source: Kueue's pkg/cache/scheduler, resource_node.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.model.objects import ClusterQueue, Cohort, FlavorQuota, FlavorResource

_NONE = FlavorQuota(0)


class QuotaError(ValueError):
    """Cohorts that form no tree. ``str()`` is a sentence."""


class QuotaColumn(NamedTuple):
    """A resource in one flavor, in all nodes by number: what is asked again and again while workloads come and go."""

    own: list[int]
    """What the subtree has."""
    kept: list[int]
    """The part of it that the cohort above never sees."""
    limits: list[int | None]
    """How much more than its own a node may use."""


class _Columns(dict[FlavorResource, QuotaColumn]):
    """Made when they are asked for, also of what no quota mentions."""

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
    """Nodes are numbers: a queue's is ``queue[name]``, a cohort's ``cohort[name]``; parents of all kinds are cohorts.

    A queue without a cohort is a root of its own. Nothing in it changes.
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
        """Of every node what its subtree has a quota of, be it of nothing."""
        for node in self.order:  # who says nothing of what others in its tree have, has nothing of it
            self.subtree[node].update(dict.fromkeys(self.subtree[self.root(node)].keys() - self.stated[node], 0))
        self.potential = self._potentials()
        self.columns = _Columns(self)

    def is_queue(self, node: int) -> bool:
        """Whether it is a ClusterQueue."""
        return node < len(self.queue)

    def above(self, node: int) -> tuple[int, ...]:
        """The cohorts that it is in, the nearest first."""
        return self.paths[node][1:]

    def root(self, node: int) -> int:
        """The top of its tree, itself where it is in no cohort."""
        return self.paths[node][-1]

    def quota(self, node: int, of: FlavorResource) -> FlavorQuota:
        """Its own; nothing where it says none."""
        return self.quotas[node].get(of, _NONE)

    def within(self, node: int) -> Iterator[int]:
        """A subtree, cohorts before what is in them."""
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
        """Of every node the way from it to the top."""
        paths: list[tuple[int, ...]] = [()] * len(self.names)
        for node in self.order:
            parent = self.parents[node]
            paths[node] = (node,) if parent is None else (node, *paths[parent])
        return tuple(paths)

    def _heights(self) -> tuple[int, ...]:
        """How far the deepest queue below is."""
        heights = [0] * len(self.names)
        for node in reversed(self.order):
            heights[node] = max((heights[child] + 1 for child in self.children[node]), default=0)
        return tuple(heights)

    def _sums(self) -> tuple[tuple[dict[FlavorResource, int], ...], tuple[dict[FlavorResource, int], ...]]:
        """Of every node what its subtree has, and the part of it that the cohort above never sees."""
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
        """Of every node what it could use were all others to use nothing."""
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
