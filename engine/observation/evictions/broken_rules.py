"""What queues held before and after, and which rules of the tree a preemption went against."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property

import msgspec

from engine.model.decision import PodFacts, QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import PODS, Amounts, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import BY_GUARANTEES
from engine.observation.evictions.observed import Flag, Flagged, Observed


class ObservedUsage:
    """What the queues hold without those on their way out; added up once, for however many victims."""

    def __init__(self, state: ClusterState, tree: QueueTree) -> None:
        self._state, self._tree = state, tree

    @property
    def tree(self) -> QueueTree:
        """Whose queues they are."""
        return self._tree

    def takes_within(self, place: str) -> str:
        """Whom workloads of a ClusterQueue may preempt in it, by its path as Kueue writes it; empty: not known."""
        queue = self._state.cluster_queues.get(place.rpartition("/")[2]) if place else None
        return queue.preemption.within.value if queue else ""

    def figures(self, victims: list[PodFacts], paths: Iterable[str]) -> dict[str, QueueFigures]:
        """Queues of ``paths`` and all above -> with the victims and without them; empty without victims."""
        wanted = {above for path in paths if path in self._tree for above in self._tree.lineage(path)}
        if not wanted or not victims:
            return {}
        freed = self._by_queue(victims)
        counted = self._by_queue(one for one in victims if _stays(self._state.pods.get(one.uid)))
        return {path: self._standing(path, freed.get(path, {}), counted.get(path, {})) for path in wanted}

    def _standing(self, path: str, freed: Amounts, counted: Amounts) -> QueueFigures:
        """``counted``: what of the freed is among what stays, as its going doesn't show yet."""
        after, queue = subtract(self._staying[path], counted), self._tree[path]
        return QueueFigures(
            path=path, before=total((after, freed)), after=after, guaranteed=queue.guaranteed, max=queue.max
        )

    def _by_queue(self, pods: Iterable[PodFacts]) -> dict[str, Amounts]:
        held: dict[str, list[Amounts]] = {}
        for pod in pods:
            for path in self._tree.lineage(pod.queue) if pod.queue in self._tree else ():
                held.setdefault(path, []).append(pod.requests)
        return {path: total(many) for path, many in held.items()}

    @cached_property
    def _staying(self) -> dict[str, Amounts]:
        by_leaf: dict[str, list[Amounts]] = {}
        for pod in self._state.pods.values():
            queue = self._state.queue_of(pod, self._tree) if _stays(pod) else None
            if queue is not None and queue in self._tree:
                by_leaf.setdefault(queue, []).append(pod.requests)
        return self._tree.roll_up({leaf: total(many) for leaf, many in by_leaf.items()})


def _stays(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.node) and not pod.finished and not pod.terminating


def judged(found: Observed, usage: ObservedUsage, fresh: list[PodFacts]) -> Observed:
    """The same with the queues' figures, and of a scheduler's the rules of the tree that it went against.

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
    """What the tree's rules say against taking this pod for this ask; nothing of what is not known."""
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
            break  # what is taken here comes to the ask, under the same guarantee
        standing = figures(path)
        resource = _short_of(standing, pod.requests) if standing else None
        if resource:
            found.append(Flagged(flag=Flag.BELOW_GUARANTEE, queue=path, resource=resource))
            break
    return tuple(found)


def _short_of(standing: QueueFigures, taken: Amounts) -> str | None:
    """Of what was taken, that of which the queue is left with the smallest part of its guarantee, if below it."""
    missing = subtract(standing.guaranteed, standing.after)
    short = [name for name, amount in taken.items() if amount > 0 and name != PODS and name in standing.guaranteed]
    short = [name for name in short if missing[name] > 0]
    parts = [(Fraction(standing.after.get(name, 0), standing.guaranteed[name]), name) for name in short]
    return min(parts)[1] if parts else None
