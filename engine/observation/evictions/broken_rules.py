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
        relevant_paths = {above for path in paths if path in self._tree for above in self._tree.lineage(path)}
        if not relevant_paths or not victims:
            return {}
        freed = self._by_queue(victims)
        counted = self._by_queue(
            victim for victim in victims if _is_bound_and_staying(self._state.pods.get(victim.uid))
        )
        return {path: self._queue_figures(path, freed.get(path, {}), counted.get(path, {})) for path in relevant_paths}

    def _queue_figures(self, path: str, freed: Amounts, counted: Amounts) -> QueueFigures:
        """Return a queue's usage before and after; ``counted``: freed amounts that the current usage still includes."""
        after, queue = subtract(self._staying[path], counted), self._tree[path]
        return QueueFigures(
            path=path, before=total((after, freed)), after=after, guaranteed=queue.guaranteed, max=queue.max
        )

    def _by_queue(self, pods: Iterable[PodFacts]) -> dict[str, Amounts]:
        freed: dict[str, Amounts] = {}  # of the queues above victims alone: there may be thousands of others
        for leaf, amounts in self._tree.held_by_leaf((pod.queue, pod.requests) for pod in pods).items():
            for path in self._tree.lineage(leaf):
                freed[path] = add(freed.get(path, {}), amounts)
        return freed

    @cached_property
    def _staying(self) -> dict[str, Amounts]:
        staying = (pod for pod in self._state.pods.values() if _is_bound_and_staying(pod))
        return self._tree.usage((self._state.queue_of(pod, self._tree), pod.requests) for pod in staying)


def _is_bound_and_staying(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.node) and not pod.finished and not pod.terminating


def with_broken_rules(observed: Observed, usage: ObservedUsage, fresh: list[PodFacts]) -> Observed:
    """Return the decision with the queues' figures and, for some schedulers, the rules of the tree that it broke.

    ``fresh``: the victims that the usage knows of.
    """
    paths = [*([observed.ask.queue] if observed.ask else []), *(victim.pod.queue for victim in observed.victims)]
    figures = usage.figures(fresh, paths)
    victims = observed.victims
    if observed.source in BY_GUARANTEES:
        preemptor = observed.ask if observed.ask_known else None
        flags_of_victims = [
            flags(usage.tree, preemptor, victim.pod, figures.get) if victim.known else () for victim in victims
        ]
        victims = tuple(
            msgspec.structs.replace(victim, flags=victim_flags)
            for victim, victim_flags in zip(victims, flags_of_victims, strict=True)
        )
    paths += [broken.queue for victim in victims for broken in victim.flags]
    queues = tuple(figures[path] for path in dict.fromkeys(paths) if path in figures)
    return msgspec.structs.replace(
        observed, victims=victims, queues=queues, ask_takes=usage.takes_within(observed.ask_place)
    )


def flags(
    tree: QueueTree, preemptor: PodFacts | None, pod: PodFacts, figures: Callable[[str], QueueFigures | None]
) -> tuple[Flagged, ...]:
    """Return the tree's rules that evicting this pod for this preemptor breaks, as far as the facts are known."""
    if pod.queue not in tree:
        return ()
    broken = []
    queue = preemptor.queue if preemptor and preemptor.queue in tree else ""
    if queue and queue == pod.queue:
        broken.append(Flagged(flag=Flag.SAME_QUEUE, queue=queue))
    fence = tree.fence(queue) if queue else None
    if fence and not tree.contains(fence, pod.queue):
        broken.append(Flagged(flag=Flag.ACROSS_FENCE, queue=fence))
    for path in tree.lineage(pod.queue):
        if queue and tree.contains(path, queue):
            break  # the preemptor gets what is taken here, under the same guarantee
        queue_figures = figures(path)
        resource = _short_of(queue_figures, pod.requests) if queue_figures else None
        if resource:
            broken.append(Flagged(flag=Flag.BELOW_GUARANTEE, queue=path, resource=resource))
            break
    return tuple(broken)


def _short_of(queue_figures: QueueFigures, taken: Amounts) -> str | None:
    """Return the taken resource of which the queue has the smallest part of its guarantee left, or None."""
    missing = subtract(queue_figures.guaranteed, queue_figures.after)
    short = [name for name, amount in taken.items() if amount > 0 and name != PODS and name in queue_figures.guaranteed]
    short = [name for name in short if missing[name] > 0]
    parts = [(Fraction(queue_figures.after.get(name, 0), queue_figures.guaranteed[name]), name) for name in short]
    return min(parts)[1] if parts else None
