"""What kube-scheduler preempted, decided again by policy ``priority`` on the cluster as it was just before.

The cluster is rewound to the moment at which the ask was nominated or the first of the victims was told to go,
whichever came first: kube-scheduler writes both at the same time.
"""

from collections.abc import Iterable

import msgspec

from engine.observed import Hindsight, Observed, Source, Untold
from engine.policies import priority
from engine.queues import QueueTree
from engine.snapshot import PREEMPTION_BY_SCHEDULER, Change, ClusterState, Pod

PODS_AT_ONCE = 100_000
"""So many pods, over all the moments that are gone back to, are looked at in one go."""


def retraced(found: Iterable[Observed], state: ClusterState, tree: QueueTree) -> tuple[Observed, ...]:
    """The same with the hindsight of each that is kube-scheduler's, or why there is none.

    Of those that would take too long together the oldest are decided again, one at least.
    """
    told, log = list(found), _Log(state)
    began: dict[int, int] = {}
    for number, seen in enumerate(told):
        if seen.source is Source.KUBE_SCHEDULER:
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
    for number, place in sorted(began.items(), key=lambda one: -one[1]):
        past.rewind(place)
        hindsight = _decided(told[number], past, tree, log.said(told[number], place))
        if hindsight is not None:
            told[number] = msgspec.structs.replace(told[number], hindsight=hindsight, untold=None)
    return tuple(told)


def _untold(seen: Observed) -> Untold | None:
    if seen.ask_kind != "Pod":
        return Untold.GROUP
    return None if seen.ask and seen.ask_known else Untold.NO_ASK


def _decided(seen: Observed, past: ClusterState, tree: QueueTree, said: str) -> Hindsight | None:
    """None where the ask was not there, or not waiting."""
    snapshot = past.snapshot(tree, now_ms=seen.at_ms)
    ask = next((pod for pod in snapshot.asks if pod.uid == seen.asker), None)
    if ask is None:
        return None
    # Nobody waited for pods that make room on a node it was nominated to before, or it had not preempted.
    decision = priority.decide(snapshot, snapshot.tree, msgspec.structs.replace(ask, nominated_node=""))
    return Hindsight(decision=decision, nodes=len(snapshot.nodes), said=said or ask.unschedulable_message)


def _by_scheduler(pod: Pod) -> bool:
    return pod.disruption == PREEMPTION_BY_SCHEDULER


class _Log:
    """Where in a state's changes something of a preemption was done."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._told: dict[str, int] = {}
        """Victim (uid) -> where kube-scheduler told it to go."""
        self._told_on: dict[str, list[int]] = {}
        """Node -> where pods of it were."""
        self._asks: dict[str, list[tuple[int, Change]]] = {}
        """Pod (uid) -> what happened to it while it had no node."""
        for place, change in enumerate(state.changes):
            if isinstance(change.after, Pod):
                self._read(place, change)

    def _read(self, place: int, change: Change) -> None:
        before, after = change.before, change.after
        if after.node is None:
            self._asks.setdefault(after.uid, []).append((place, change))
        elif _by_scheduler(after) and before is not None and not _by_scheduler(before):
            self._told[after.uid] = place
            self._told_on.setdefault(after.node, []).append(place)

    def began(self, seen: Observed) -> int | None:
        """The place of the first thing that was done; None where that was not seen."""
        told = [self._place(one.pod.uid) for one in seen.victims if one.known]
        places = [place for place in told if place is not None]
        if not places or len(places) < len(told):
            return None
        first = min(places)
        nominated = max((place for place, _ in self._nominations(seen) if place < first), default=first)
        others = (nominated < place < first for place in self._told_on.get(seen.node, ()))
        # Others went in between: the nomination is left from an earlier preemption for it there.
        return first if any(others) else nominated

    def _place(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if victim not in self._told and pod is not None and not _by_scheduler(pod):
            return len(self._state.changes)  # its Event is here before the pod itself says so
        return self._told.get(victim)

    def _nominations(self, seen: Observed) -> Iterable[tuple[int, Change]]:
        for place, change in self._asks.get(seen.asker, ()):
            former = change.before.nominated_node if change.before is not None else ""
            if change.after.nominated_node == seen.node != former:
                yield place, change

    def said(self, seen: Observed, place: int) -> str:
        """Why the scheduler found no node for the ask, as it said right then; empty where it said nothing since."""
        since = (change.after for at, change in self._asks.get(seen.asker, ()) if at >= place)
        return next((pod.unschedulable_message for pod in since if pod.unschedulable_message), "")
