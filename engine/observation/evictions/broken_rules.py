"""Calculate the queues' usage before and after a preemption, and which rules of the tree the preemption broke."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property

import msgspec

from engine.model.decision import PodFacts, QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import PODS, Amounts, add, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import BY_GUARANTEES
from engine.observation.evictions.observed import Flag, Flagged, Observed


class ObservedUsage:
    """The usage of the queues without terminating pods; summed once, for any number of victims."""

    def __init__(self, state: ClusterState, tree: QueueTree) -> None:
        self._state, self._tree = state, tree

    @property
    def tree(self) -> QueueTree:
        """Return the tree that the queues belong to."""
        return self._tree

    def takes_within(self, place: str) -> str:
        """Return which workloads of its own a ClusterQueue may preempt, in Kueue's word; empty if unknown.

        ``place``: the queue's path as Kueue writes it.
        """
        queue = self._state.cluster_queues.get(place.rpartition("/")[2]) if place else None
        return queue.preemption.within.value if queue else ""

    def figures(self, victims: list[PodFacts], paths: Iterable[str]) -> dict[str, QueueFigures]:
        """Return the queues of ``paths`` and all queues above, with usage before and after; empty without victims."""
        wanted = {above for path in paths if path in self._tree for above in self._tree.lineage(path)}
        if not wanted or not victims:
            return {}
        freed = self._by_queue(victims)
        counted = self._by_queue(one for one in victims if _stays(self._state.pods.get(one.uid)))
        return {path: self._standing(path, freed.get(path, {}), counted.get(path, {})) for path in wanted}

    def _standing(self, path: str, freed: Amounts, counted: Amounts) -> QueueFigures:
        """Return a queue's usage before and after; ``counted``: freed amounts that the current usage still includes."""
        after, queue = subtract(self._staying[path], counted), self._tree[path]
        return QueueFigures(
            path=path, before=total((after, freed)), after=after, guaranteed=queue.guaranteed, max=queue.max
        )

    def _by_queue(self, pods: Iterable[PodFacts]) -> dict[str, Amounts]:
        found: dict[str, Amounts] = {}  # of the queues above victims alone: there may be thousands of others
        for leaf, amounts in self._tree.held_by_leaf((pod.queue, pod.requests) for pod in pods).items():
            for path in self._tree.lineage(leaf):
                found[path] = add(found.get(path, {}), amounts)
        return found

    @cached_property
    def _staying(self) -> dict[str, Amounts]:
        staying = (pod for pod in self._state.pods.values() if _stays(pod))
        return self._tree.usage((self._state.queue_of(pod, self._tree), pod.requests) for pod in staying)


def _stays(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.node) and not pod.finished and not pod.terminating


def with_broken_rules(found: Observed, usage: ObservedUsage, fresh: list[PodFacts]) -> Observed:
    """Return the decision with the queues' figures and, for some schedulers, the rules of the tree that it broke.

    ``fresh``: the victims that the usage knows of.
    """
    paths = [*([found.ask.queue] if found.ask else []), *(one.pod.queue for one in found.victims)]
    figures = usage.figures(fresh, paths)
    victims = found.victims
    if found.source in BY_GUARANTEES:
        asker = found.ask if found.ask_known else None
        told = [flags(usage.tree, asker, one.pod, figures.get) if one.known else () for one in victims]
        victims = tuple(msgspec.structs.replace(one, flags=own) for one, own in zip(victims, told, strict=True))
    paths += [each.queue for one in victims for each in one.flags]
    queues = tuple(figures[path] for path in dict.fromkeys(paths) if path in figures)
    return msgspec.structs.replace(found, victims=victims, queues=queues, ask_takes=usage.takes_within(found.ask_place))


def flags(
    tree: QueueTree, ask: PodFacts | None, pod: PodFacts, figures: Callable[[str], QueueFigures | None]
) -> tuple[Flagged, ...]:
    """Return the tree's rules that evicting this pod for this preemptor breaks, as far as the facts are known."""
    if pod.queue not in tree:
        return ()
    found = []
    asker = ask.queue if ask and ask.queue in tree else ""
    if asker and asker == pod.queue:
        found.append(Flagged(flag=Flag.SAME_QUEUE, queue=asker))
    fence = tree.fence(asker) if asker else None
    if fence and not tree.contains(fence, pod.queue):
        found.append(Flagged(flag=Flag.ACROSS_FENCE, queue=fence))
    for path in tree.lineage(pod.queue):
        if asker and tree.contains(path, asker):
            break  # the preemptor gets what is taken here, under the same guarantee
        standing = figures(path)
        resource = _short_of(standing, pod.requests) if standing else None
        if resource:
            found.append(Flagged(flag=Flag.BELOW_GUARANTEE, queue=path, resource=resource))
            break
    return tuple(found)


def _short_of(standing: QueueFigures, taken: Amounts) -> str | None:
    """Return the taken resource of which the queue has the smallest part of its guarantee left, or None."""
    missing = subtract(standing.guaranteed, standing.after)
    short = [name for name, amount in taken.items() if amount > 0 and name != PODS and name in standing.guaranteed]
    short = [name for name in short if missing[name] > 0]
    parts = [(Fraction(standing.after.get(name, 0), standing.guaranteed[name]), name) for name in short]
    return min(parts)[1] if parts else None
