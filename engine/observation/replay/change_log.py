"""Where in a state's changes something of a preemption was done."""

from collections.abc import Iterable

from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod, Workload
from engine.model.snapshot import ClusterState, ObjectChange
from engine.observation.evictions import EvictionSource, Observed
from engine.observation.replay.kueue import gone_for


def _by_scheduler(pod: Pod) -> bool:
    return pod.disruption == PREEMPTION_BY_SCHEDULER


class Log:
    """What was done, read once for however many preemptions."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._told: dict[str, int] = {}
        """Victim (uid) -> where kube-scheduler told it to go."""
        self._told_on: dict[str, list[int]] = {}
        """Node -> where pods of it were."""
        self._deleted: dict[str, int] = {}
        """Pod (uid) -> where it began to go, whoever deleted it."""
        self._asks: dict[str, list[tuple[int, ObjectChange]]] = {}
        """Pod (uid) -> what happened to it while it had no node."""
        self._preempted: dict[tuple[str, str], int] = {}
        """Workload (uid) and the ask's -> where Kueue said that it preempted it for that."""
        for place, change in enumerate(state.changes):
            if isinstance(change.after, Workload) and isinstance(change.before, Workload):
                self._read_word(place, change.before, change.after)
            if isinstance(change.after, Pod):
                self._read(place, change)
            if isinstance(change.before, Pod) and not change.before.terminating:
                self._read_end(place, change)

    def _read(self, place: int, change: ObjectChange) -> None:
        before, after = change.before, change.after
        if after.node is None:
            self._asks.setdefault(after.uid, []).append((place, change))
        elif _by_scheduler(after) and before is not None and not _by_scheduler(before):
            self._told[after.uid] = place
            self._told_on.setdefault(after.node, []).append(place)

    def _read_word(self, place: int, before: Workload, after: Workload) -> None:
        told = after.preempted
        if told is not None and (before.preempted is None or before.preempted.ask_uid != told.ask_uid):
            self._preempted[after.uid, told.ask_uid] = place

    def _read_end(self, place: int, change: ObjectChange) -> None:
        if change.after is None or change.after.terminating:
            self._deleted[change.before.uid] = place

    def began(self, seen: Observed) -> int | None:
        """The place of the first thing that was done; None where that was not seen."""
        if seen.source is EvictionSource.KUEUE:
            return self._first_word(seen)
        find = self._place_told if seen.source is EvictionSource.KUBE_SCHEDULER else self._place_deleted
        told = [find(one.pod.uid) for one in seen.victims if one.known]
        places = [place for place in told if place is not None]
        if not places or len(places) < len(told):
            return None
        first = min(places)
        nominated = max((place for place, _ in self._nominations(seen) if place < first), default=first)
        others = (nominated < place < first for place in self._told_on.get(seen.node, ()))
        # Others went in between: the nomination is left from an earlier preemption for it there.
        return first if any(others) else nominated

    def _first_word(self, seen: Observed) -> int | None:
        """Where Kueue began to say so of those that went for one ask; None unless it was seen of all of them."""
        places = [self._preempted.get((one.uid, seen.asker)) for one in gone_for(seen, self._state)]
        known = [place for place in places if place is not None]
        return min(known) if known and len(known) == len(places) else None

    def _place_told(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if victim not in self._told and pod is not None and not _by_scheduler(pod):
            return len(self._state.changes)  # its Event is here before the pod itself says so
        return self._told.get(victim)

    def _place_deleted(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if pod is not None and not pod.terminating:
            return len(self._state.changes)  # what is said of it is here before it is deleted
        return self._deleted.get(victim)

    def _nominations(self, seen: Observed) -> Iterable[tuple[int, ObjectChange]]:
        for place, change in self._asks.get(seen.asker, ()):
            former = change.before.nominated_node if change.before is not None else ""
            if change.after.nominated_node == seen.node != former:
                yield place, change

    def said(self, seen: Observed, place: int) -> str:
        """Why the scheduler found no node for the ask, as it said right then; empty where it said nothing since."""
        since = (change.after for at, change in self._asks.get(seen.asker, ()) if at >= place)
        return next((pod.unschedulable_message for pod in since if pod.unschedulable_message), "")
