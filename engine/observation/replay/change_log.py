"""Find where in a state's changes a preemption began."""

from collections.abc import Iterable

from engine.model.objects import PREEMPTION_BY_SCHEDULER, Pod, Workload
from engine.model.snapshot import ClusterState, ObjectChange
from engine.observation.evictions import EvictionSource, Observed
from engine.observation.replay.kueue import preempted_workloads_for


def _by_scheduler(pod: Pod) -> bool:
    # Source: the condition DisruptionTarget that kube-scheduler's preemption executor sets on a victim.
    return pod.disruption == PREEMPTION_BY_SCHEDULER


def _is_nominated_for(observed: Observed, change: ObjectChange) -> bool:
    """Return whether a change nominates a pod of the group that is the preemptor."""
    former = change.before.nominated_node if change.before is not None else ""
    pod, group = change.after, observed.ask
    named = group is not None and (pod.namespace, pod.scheduling_group) == (group.namespace, group.name)
    return named and pod.nominated_node not in ("", former)


class ChangeIndex:
    """An index of the changes, built once for any number of preemptions."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._evicted: dict[str, int] = {}
        """Victim's uid -> index of the change in which kube-scheduler evicted it."""
        self._evicted_on: dict[str, list[int]] = {}
        """Node -> indexes of the changes in which kube-scheduler evicted its pods."""
        self._deleted: dict[str, int] = {}
        """Pod's uid -> index of the change in which it began to terminate, whatever deleted it."""
        self._pending: dict[str, list[tuple[int, ObjectChange]]] = {}
        """Pod's uid -> the changes to it while it had no node, with their indexes."""
        self._preempted: dict[tuple[str, str], int] = {}
        """Uids of a Workload and of its preemptor -> index of the change in which Kueue reported that preemption."""
        for place, change in enumerate(state.changes):
            if isinstance(change.after, Workload) and isinstance(change.before, Workload):
                self._read_workload(place, change.before, change.after)
            if isinstance(change.after, Pod):
                self._read(place, change)
            if isinstance(change.before, Pod) and not change.before.terminating:
                self._read_end(place, change)

    def _read(self, place: int, change: ObjectChange) -> None:
        before, after = change.before, change.after
        if after.node is None:
            self._pending.setdefault(after.uid, []).append((place, change))
        elif _by_scheduler(after) and before is not None and not _by_scheduler(before):
            self._evicted[after.uid] = place
            self._evicted_on.setdefault(after.node, []).append(place)

    def _read_workload(self, place: int, before: Workload, after: Workload) -> None:
        report = after.preempted
        if report is not None and (before.preempted is None or before.preempted.ask_uid != report.ask_uid):
            self._preempted[after.uid, report.ask_uid] = place

    def _read_end(self, place: int, change: ObjectChange) -> None:
        if change.after is None or change.after.terminating:
            self._deleted[change.before.uid] = place

    def began(self, observed: Observed) -> int | None:
        """Return the index of the first change of a preemption, or None if that was not seen."""
        if observed.source is EvictionSource.KUEUE:
            return self._first_report(observed)
        find_place = self._place_evicted if observed.source is EvictionSource.KUBE_SCHEDULER else self._place_deleted
        all_places = [find_place(victim.pod.uid) for victim in observed.victims if victim.known]
        places = [place for place in all_places if place is not None]
        if not places or len(places) < len(all_places):
            return None
        first = min(places)
        if observed.for_group:
            return self._first_nomination(observed, first)
        nominated = max((place for place, _ in self._nominations(observed) if place < first), default=first)
        others = (nominated < place < first for place in self._evicted_on.get(observed.node, ()))
        # If other pods were evicted in between, the nomination is left over from an earlier preemption on that node.
        return first if any(others) else nominated

    def _first_nomination(self, observed: Observed, first: int) -> int:
        """Return the index of the first nomination of a group's pods before its ``first`` eviction, or else of that.

        The scheduler writes nominations and evictions of a group side by side. Nominations before the last eviction of
        other pods are left over from an earlier preemption.
        """
        since = max((place for place in self._evicted.values() if place < first), default=-1)
        nominations = (
            place
            for changes in self._pending.values()
            for place, change in changes
            if since < place < first and _is_nominated_for(observed, change)
        )
        return min(nominations, default=first)

    def _first_report(self, observed: Observed) -> int | None:
        """Return the index of Kueue's first report on Workloads preempted for one preemptor.

        Returns None unless the reports on all of them were seen.
        """
        places = [
            self._preempted.get((workload.uid, observed.preemptor_uid))
            for workload in preempted_workloads_for(observed, self._state)
        ]
        known = [place for place in places if place is not None]
        return min(known) if known and len(known) == len(places) else None

    def _place_evicted(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if victim not in self._evicted and pod is not None and not _by_scheduler(pod):
            return len(self._state.changes)  # its Event arrived before the pod's own update
        return self._evicted.get(victim)

    def _place_deleted(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if pod is not None and not pod.terminating:
            return len(self._state.changes)  # its report arrived before its deletion
        return self._deleted.get(victim)

    def _nominations(self, observed: Observed) -> Iterable[tuple[int, ObjectChange]]:
        for place, change in self._pending.get(observed.preemptor_uid, ()):
            former = change.before.nominated_node if change.before is not None else ""
            if change.after.nominated_node == observed.node != former:
                yield place, change

    def unschedulable_message(self, observed: Observed, place: int) -> str:
        """Return why the scheduler found no node for the pod, as it reported at that time, or an empty string."""
        since = (change.after for at, change in self._pending.get(observed.preemptor_uid, ()) if at >= place)
        return next((pod.unschedulable_message for pod in since if pod.unschedulable_message), "")
