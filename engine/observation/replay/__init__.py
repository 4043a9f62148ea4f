"""What a scheduler preempted, decided again by its own rules, and held against our laws, on the cluster just before.

The cluster is rewound to the moment at which the ask was nominated or the first of the victims was told to go,
whichever came first: kube-scheduler writes both at the same time. YuniKorn nominates nobody; it deletes its victims.
Kueue says of whole Workloads that it preempted them; it goes by quota alone.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from engine.analysis.counterfactuals import Again
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions import EVIDENCE, SCHEDULERS, EvictionSource, Hindsight, Observed, Untold
from engine.observation.replay import kueue, volcano, yunikorn
from engine.observation.replay.change_log import Log
from engine.policies import Decide, priority
from engine.policies import yunikorn as by_yunikorn

__all__ = ["PODS_AT_ONCE", "TIMES_OVER", "Retraced", "question", "retraced"]

PODS_AT_ONCE = 100_000
"""So many pods and Workloads, over all the moments that are gone back to, are looked at in one go."""
TIMES_OVER = 25
"""So often is decided again to tell which of YuniKorn's departures from its design changed an answer."""
_RULES: dict[EvictionSource, Decide] = {
    EvictionSource.KUBE_SCHEDULER: priority.decide,
    EvictionSource.YUNIKORN: by_yunikorn.decide,
}
"""What each scheduler decides by, pod by pod."""


class Retraced(NamedTuple):
    """What others did, beside what their own rules say."""

    found: tuple[Observed, ...]
    before: dict[int, ClusterState]
    """By place in ``found``: the cluster as it was just before, of what was decided again for an ask."""


def retraced(found: Iterable[Observed], state: ClusterState, tree_at: Callable[[int], QueueTree]) -> Retraced:
    """The same with the hindsight of each that is a scheduler's, or why there is none.

    ``tree_at``: by which tree it went at a time, in milliseconds since 1970.

    Of those that would take too long together the oldest are decided again, one at least.
    """
    told, log = list(found), Log(state)
    began: dict[int, int] = {}
    for number, seen in enumerate(told):
        if seen.source in SCHEDULERS:
            untold = _untold(seen)
            place = None if untold else log.began(seen)
            if place is not None:
                began[number] = place
            told[number] = msgspec.structs.replace(seen, untold=untold or Untold.NOT_SEEN)
    most = max(1, PODS_AT_ONCE // max(1, len(state.pods) + len(state.workloads)))
    for number in list(began)[most:]:
        del began[number]
        told[number] = msgspec.structs.replace(told[number], untold=Untold.TOO_MANY)
    weighed = sum(told[number].source is EvictionSource.KUEUE for number in began)
    past, before = state.past() if began else state, dict[int, ClusterState]()
    quirks = TIMES_OVER * len(state.pods) * len(began) <= PODS_AT_ONCE
    for number, place in sorted(began.items(), key=lambda one: -one[1]):
        past.rewind(place)
        tree = tree_at(told[number].at_ms)
        again = _again(told[number], past, state, tree, quirks=quirks, weighed=weighed)
        if again.hindsight is not None and (said := log.said(told[number], place)):
            again = msgspec.structs.replace(again, hindsight=msgspec.structs.replace(again.hindsight, said=said))
        told[number] = again
        if again.hindsight is not None and again.ask is not None:
            before[number] = past.copy()
    return Retraced(tuple(told), before)


def question(seen: Observed, before: ClusterState, tree: QueueTree) -> Again | None:
    """What a scheduler decided, on the cluster as it was just before, to be decided again by its own rules.

    None where the ask was not there, or not waiting, or nobody asked.
    """
    snapshot = before.snapshot(tree, now_ms=seen.at_ms)
    ask = next((pod for pod in snapshot.asks if pod.uid == seen.asker), None)
    if ask is None:
        return None
    # Nobody waited for pods that make room on a node it was nominated to before, or it had not preempted.
    return Again(snapshot, snapshot.tree, msgspec.structs.replace(ask, nominated_node=""), _RULES[seen.source])


def _untold(seen: Observed) -> Untold | None:
    if not EVIDENCE[seen.source].again:
        return Untold.OTHER_RULES
    if seen.source is EvictionSource.KUEUE:
        return None if seen.asker else Untold.NO_ASK
    if seen.source is EvictionSource.VOLCANO:
        return None if volcano.reclaimed(seen) else Untold.OTHER_RULES
    if seen.ask_kind != "Pod":
        return Untold.GROUP
    return None if seen.over_max or (seen.ask and seen.ask_known) else Untold.NO_ASK


def _again(
    seen: Observed, past: ClusterState, state: ClusterState, tree: QueueTree, *, quirks: bool, weighed: int
) -> Observed:
    """The same with what is told on the cluster as it was; as it is where the ask was not there, or not waiting.

    ``past`` is that cluster, ``state`` as it is now. ``quirks``: whether YuniKorn's departures from
    its design are to be told; ``weighed``: how many of Kueue's are decided again in one go.
    """
    if seen.source is EvictionSource.KUEUE:
        return kueue.decided(seen, past, state, among=weighed)
    if seen.source is EvictionSource.VOLCANO:
        return volcano.decided(seen, past, tree)
    if seen.over_max:
        return yunikorn.enforced(seen, past.snapshot(tree, now_ms=seen.at_ms), past, quirks=quirks)
    again = question(seen, past, tree)
    if again is None:
        return seen
    if seen.source is EvictionSource.YUNIKORN:
        return yunikorn.decided(seen, again, past, quirks=quirks)
    said, nodes = again.ask.unschedulable_message, len(again.snapshot.nodes)
    hindsight = Hindsight(decision=again.as_it_was(), nodes=nodes, said=said)
    return msgspec.structs.replace(seen, hindsight=hindsight, untold=None)
