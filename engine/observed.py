"""What others evicted: the cluster's own scheduler, the Eviction API, the kubelet. Recorded, never decided here.

Only what the cluster itself tells is taken down: Events of preemption, and the condition DisruptionTarget of pods.
What they don't tell stays unknown.
"""

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from fractions import Fraction

import msgspec

from engine.decision import PodFacts, QueueFigures
from engine.queues import QueueTree
from engine.resources import PODS, Amounts, subtract, total
from engine.snapshot import ClusterState, Pod, Preempted, queue_of

TOGETHER_MS = 10_000
"""What one evicts on one node for one ask within this time is one decision."""
EVENT_WAIT_MS = 5_000
"""So long a victim's condition waits for its Event, which alone says for whom it went."""
FRESH_MS = 60_000
"""What is learned of later than this is told without the queues' usage: that has moved on."""


class Source(StrEnum):
    """Who evicted."""

    KUBE_SCHEDULER = "kube-scheduler"
    API_EVICTION = "api-eviction"
    KUBELET = "kubelet"


SOURCES = {
    "PreemptionByScheduler": Source.KUBE_SCHEDULER,
    "PreemptionByKubeScheduler": Source.KUBE_SCHEDULER,  # up to 1.26
    "EvictionByEvictionAPI": Source.API_EVICTION,
    "TerminationByKubelet": Source.KUBELET,
}
"""Reasons of the condition. DeletionByTaintManager and DeletionByPodGC tell of a lost node: nobody chose the pod."""


class Flag(StrEnum):
    """A rule of the tree that a preemption went against; ours would not have been made."""

    ACROSS_FENCE = "across-fence"
    BELOW_GUARANTEE = "below-guarantee"
    SAME_QUEUE = "same-queue"


class Flagged(msgspec.Struct, frozen=True, kw_only=True):
    """A flag with what its sentence names."""

    flag: Flag
    queue: str
    """The queue of the fence, the one left below its guarantee, or the one that both run in."""
    resource: str = ""
    """With below-guarantee: in what, first by the share that is missing."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that went. Where only its name is known, its queue is that of its namespace, and nothing else is said."""

    pod: PodFacts
    at_ms: int
    known: bool = True
    """Whether the pod itself was seen."""
    flags: tuple[Flagged, ...] = ()


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that one source evicted on one node at one time, for one ask."""

    source: Source
    at_ms: int
    node: str
    victims: tuple[Taken, ...]
    ask: PodFacts | None = None
    """None where nobody asked, or it is not known who."""
    ask_known: bool = True
    """Whether the ask itself was seen; else only its name is known."""
    ask_kind: str = "Pod"
    nominated: tuple[str, ...] = ()
    """Where the ask is not known: ``namespace/name`` of pods that were nominated to the node just then."""
    queues: tuple[QueueFigures, ...] = ()
    """The queues of ask and victims and those of their flags, before and after, as far as they are known."""


class _Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One pod that was told to go, and by whom."""

    source: Source
    at_ms: int
    uid: str
    namespace: str
    name: str
    node: str
    event: Preempted | None = None

    @property
    def ask_uid(self) -> str:
        return self.event.ask_uid or f"{self.event.ask_namespace}/{self.event.ask_name}" if self.event else ""

    @property
    def order(self) -> tuple[str, str, str, int, str]:
        return self.source, self.ask_uid, self.node, self.at_ms, self.uid


def sighted(state: ClusterState, *, now_ms: int, settled: Collection[str] = ()) -> frozenset[str]:
    """The uids of pods that others evicted, without those in ``settled``."""
    return frozenset(one.uid for one in _sightings(state, now_ms, settled))


def observe(
    state: ClusterState, tree: QueueTree, *, now_ms: int, settled: Collection[str] = ()
) -> tuple[Observed, ...]:
    """What others evicted as far as the state tells, oldest first; victims in ``settled`` (uids) are left out.

    Pure: the same state gives the same answer, in whatever order its objects came.
    """
    found = _sightings(state, now_ms, settled)
    groups = [_observed(state, tree, group, now_ms) for group in _together(sorted(found, key=lambda one: one.order))]
    return tuple(sorted(groups, key=lambda one: (one.at_ms, one.victims[0].pod.uid)))


def joined(former: Observed, later: Observed) -> Observed:
    """One decision, the rest of which became known later: with the usage before the first and after the last victim."""
    began = {one.path: one for one in former.queues}
    ended = {one.path: one for one in later.queues}
    queues = [
        msgspec.structs.replace(ended.get(path, one), before=began.get(path, one).before)
        for path, one in (began | ended).items()
    ]
    return msgspec.structs.replace(former, victims=(*former.victims, *later.victims), queues=tuple(queues))


def _sightings(state: ClusterState, now_ms: int, settled: Collection[str]) -> Iterable[_Sighting]:
    events: dict[str, Preempted] = {}
    for _, event in sorted(state.preempted.items()):
        if event.by_scheduler and (event.uid not in events or event.at_ms < events[event.uid].at_ms):
            events[event.uid] = event  # it comes more than once; the first tells when
    for uid, event in events.items():
        if uid not in settled:
            yield _of_event(state, event)
    for pod in _gone_or_going(state):
        source, at_ms = SOURCES.get(pod.disruption), pod.disrupted_ms
        if source is None or at_ms is None or not pod.node or pod.uid in events or pod.uid in settled:
            continue
        if source is not Source.KUBE_SCHEDULER or now_ms - at_ms >= EVENT_WAIT_MS:
            yield _Sighting(
                source=source, at_ms=at_ms, uid=pod.uid, namespace=pod.namespace, name=pod.name, node=pod.node
            )


def _gone_or_going(state: ClusterState) -> Iterable[Pod]:
    """The condition comes first: one whose deletion failed has it, too, and runs on."""
    yield from (pod for pod in state.pods.values() if pod.disruption and (pod.terminating or pod.finished))
    yield from (pod for uid, pod in state.departed.items() if uid not in state.pods)


def _of_event(state: ClusterState, event: Preempted) -> _Sighting:
    pod = state.pods.get(event.uid) or state.departed.get(event.uid)
    told = event.node if event.ask_kind == "Pod" else ""  # for a group it is no node's name
    node = (pod.node if pod else None) or told
    return _Sighting(
        source=Source.KUBE_SCHEDULER,
        at_ms=event.at_ms,
        uid=event.uid,
        namespace=event.namespace,
        name=event.name,
        node=node,
        event=event,
    )


def _together(ordered: Iterable[_Sighting]) -> list[list[_Sighting]]:
    groups: list[list[_Sighting]] = []
    for one in ordered:
        first = groups[-1][0] if groups else None
        if first and first.order[:3] == one.order[:3] and one.at_ms - first.at_ms <= TOGETHER_MS:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _observed(state: ClusterState, tree: QueueTree, group: list[_Sighting], now_ms: int) -> Observed:
    first = group[0]
    ask, ask_known = _ask(state, tree, first.event)
    taken = [_taken(state, tree, one) for one in group]
    paths = [*([ask.queue] if ask else []), *(one.pod.queue for one in taken)]
    known = [one.pod for one in taken if one.known and now_ms - one.at_ms <= FRESH_MS]
    figures = _figures(state, tree, known, paths)
    if first.source is Source.KUBE_SCHEDULER:  # others evict for reasons of their own, as for a drain
        asker = ask if ask_known else None
        flags = [_flags(tree, asker, one.pod, figures.get) if one.known else () for one in taken]
        taken = [msgspec.structs.replace(one, flags=each) for one, each in zip(taken, flags, strict=True)]
    paths += [each.queue for one in taken for each in one.flags]
    return Observed(
        source=first.source,
        at_ms=first.at_ms,
        node=first.node,
        victims=tuple(taken),
        ask=ask,
        ask_known=ask_known,
        ask_kind=first.event.ask_kind if first.event else "Pod",
        nominated=() if ask or first.source is not Source.KUBE_SCHEDULER else _nominated(state, first.node, taken),
        queues=tuple(figures[path] for path in dict.fromkeys(paths) if path in figures),
    )


def _ask(state: ClusterState, tree: QueueTree, event: Preempted | None) -> tuple[PodFacts | None, bool]:
    if event is None or not (event.ask_uid or event.ask_name):
        return None, False
    pod = state.placed(event.ask_uid, tree)
    if pod is not None:
        return msgspec.structs.replace(PodFacts.of(pod), node=""), True
    return _named(tree, event.ask_uid, event.ask_namespace, event.ask_name), False


def _taken(state: ClusterState, tree: QueueTree, one: _Sighting) -> Taken:
    pod = state.placed(one.uid, tree)
    if pod is None:
        facts = msgspec.structs.replace(_named(tree, one.uid, one.namespace, one.name), node=one.node)
        return Taken(pod=facts, at_ms=one.at_ms, known=False)
    return Taken(pod=PodFacts.of(pod), at_ms=one.at_ms)


def _named(tree: QueueTree, uid: str, namespace: str, name: str) -> PodFacts:
    """A pod that nobody saw. Its labels, which might have named another queue, are not known."""
    queue = tree.leaf_by_namespace.get(namespace, "")
    return PodFacts(uid=uid, namespace=namespace, name=name, queue=queue, application="", priority=0, requests={})


def _nominated(state: ClusterState, node: str, taken: list[Taken]) -> tuple[str, ...]:
    lowest = min((one.pod.priority for one in taken if one.known), default=None)
    waiting = (pod for pod in state.pods.values() if pod.node is None and pod.nominated_node == node)
    return tuple(sorted(pod.key for pod in waiting if lowest is not None and pod.priority > lowest))


def _figures(
    state: ClusterState, tree: QueueTree, victims: list[PodFacts], paths: Iterable[str]
) -> dict[str, QueueFigures]:
    """Queues of ``paths`` and all above -> with the victims and without them; others on their way out don't count."""
    wanted = {above for path in paths if path in tree for above in tree.lineage(path)}
    if not wanted or not victims:
        return {}
    going = {pod.uid for pod in victims}
    staying = (one for one in state.pods.values() if one.node and not one.finished and not one.terminating)
    kept = [(queue_of(one, tree), one.requests) for one in staying if one.uid not in going]
    after = _rolled_up(tree, kept)
    freed = _rolled_up(tree, [(pod.queue, pod.requests) for pod in victims])
    return {
        path: QueueFigures(
            path=path,
            before=total((after[path], freed[path])),
            after=after[path],
            guaranteed=tree[path].guaranteed,
            max=tree[path].max,
        )
        for path in wanted
    }


def _rolled_up(tree: QueueTree, held: Iterable[tuple[str | None, Amounts]]) -> dict[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for queue, amounts in held:
        if queue is not None and queue in tree:
            by_leaf.setdefault(queue, []).append(amounts)
    return tree.roll_up({leaf: total(many) for leaf, many in by_leaf.items()})


def _flags(
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


def encode(observed: Observed) -> bytes:
    """Canonical JSON: the same observation gives the same bytes."""
    return msgspec.json.encode(observed, order="sorted")


def decode(data: bytes | str) -> Observed:
    """Read back what ``encode`` wrote. Raises msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Observed)
