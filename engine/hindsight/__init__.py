"""What a scheduler preempted, decided again by its own rules, and held against our laws, on the cluster just before.

The cluster is rewound to the moment at which the ask was nominated or the first of the victims was told to go,
whichever came first: kube-scheduler writes both at the same time. YuniKorn nominates nobody; it deletes its victims.
"""

from collections.abc import Iterable

import msgspec

from engine.hindsight import yunikorn
from engine.hindsight.log import Log
from engine.observed import SCHEDULERS, Hindsight, Observed, Source, Untold
from engine.policies import priority
from engine.queues import QueueTree
from engine.snapshot import ClusterState

__all__ = ["PODS_AT_ONCE", "TIMES_OVER", "retraced"]

PODS_AT_ONCE = 100_000
"""So many pods, over all the moments that are gone back to, are looked at in one go."""
TIMES_OVER = 25
"""So often is decided again to tell which of YuniKorn's departures from its design changed an answer."""


def retraced(found: Iterable[Observed], state: ClusterState, tree: QueueTree) -> tuple[Observed, ...]:
    """The same with the hindsight of each that is a scheduler's, or why there is none.

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
    most = max(1, PODS_AT_ONCE // max(1, len(state.pods)))
    for number in list(began)[most:]:
        del began[number]
        told[number] = msgspec.structs.replace(told[number], untold=Untold.TOO_MANY)
    past = state.past() if began else state
    quirks = TIMES_OVER * len(state.pods) * len(began) <= PODS_AT_ONCE
    for number, place in sorted(began.items(), key=lambda one: -one[1]):
        past.rewind(place)
        again = _again(told[number], past, tree, quirks=quirks)
        if again.hindsight is not None and (said := log.said(told[number], place)):
            again = msgspec.structs.replace(again, hindsight=msgspec.structs.replace(again.hindsight, said=said))
        told[number] = again
    return tuple(told)


def _untold(seen: Observed) -> Untold | None:
    if seen.ask_kind != "Pod":
        return Untold.GROUP
    return None if seen.over_max or (seen.ask and seen.ask_known) else Untold.NO_ASK


def _again(seen: Observed, past: ClusterState, tree: QueueTree, *, quirks: bool) -> Observed:
    """The same with what is told on the cluster as it was; as it is where the ask was not there, or not waiting.

    ``quirks``: whether YuniKorn's departures from its design are to be told.
    """
    before = past.snapshot(tree, now_ms=seen.at_ms)
    if seen.over_max:
        return yunikorn.enforced(seen, before, past, quirks=quirks)
    ask = next((pod for pod in before.asks if pod.uid == seen.asker), None)
    if ask is None:
        return seen
    # Nobody waited for pods that make room on a node it was nominated to before, or it had not preempted.
    ask = msgspec.structs.replace(ask, nominated_node="")
    if seen.source is Source.YUNIKORN:
        return yunikorn.decided(seen, ask, before, past, quirks=quirks)
    decision = priority.decide(before, before.tree, ask)
    hindsight = Hindsight(decision=decision, nodes=len(before.nodes), said=ask.unschedulable_message)
    return msgspec.structs.replace(seen, hindsight=hindsight, untold=None)
