"""How far kube-scheduler has come with a pod group that it preempted for, as the group's pods show."""

from dataclasses import dataclass
from datetime import datetime

from engine.model.objects import Pod, SchedulingGroup
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import CLOCKS_MS
from scheduler_admin.core.times import moment
from scheduler_admin.decisions.models import Decision


@dataclass(frozen=True)
class GroupProgress:
    """A pod group after a preemption for it."""

    group: SchedulingGroup
    bound: tuple[Pod, ...]
    """Its pods that run, or have run since; those that started first before the others."""
    new: int
    """How many of these were bound since the preemption."""
    waiting: int

    @property
    def succeeded(self) -> bool:
        """Return whether the group runs, and pods of it were bound since the preemption."""
        return self.new > 0 and len(self.bound) >= self.group.needed

    @property
    def given_up(self) -> bool:
        """Return whether too few pods are left for the group to run, or none of them waits any more."""
        return not self.waiting or len(self.bound) + self.waiting < self.group.needed

    @property
    def nodes(self) -> str:
        """Return the nodes of its pods, each once."""
        return ", ".join(dict.fromkeys(pod.node for pod in self.bound if pod.node))

    @property
    def bound_at(self) -> datetime | None:
        """Return when the last pod that it needed was started, as the kubelets say; None if that is not known."""
        last = self.bound[self.group.needed - 1] if len(self.bound) >= self.group.needed else None
        return moment(last.started_ms) if last else None


def progress_of(row: Decision, state: ClusterState) -> GroupProgress | None:
    """Return how far the group of a decision of kube-scheduler has come; None if it is about no group that is known."""
    group = state.scheduling_groups.get((row.ask_namespace, row.ask_group)) if row.ask_group else None
    if group is None or group.uid != row.ask_uid:
        return None
    since_ms = int(row.first_seen.timestamp() * 1000) - CLOCKS_MS
    pods = [pod for pod in state.pods.values() if _is_member(pod, row)]
    new = [
        pod
        for pod in (*pods, *(pod for pod in state.departed.values() if _is_member(pod, row)))
        if pod.node and (pod.started_ms is None or pod.started_ms >= since_ms)
    ]
    here = [pod for pod in pods if not (pod.terminating or pod.finished)]
    bound = {pod.uid: pod for pod in (*new, *(pod for pod in here if pod.node))}
    return GroupProgress(
        group,
        bound=tuple(sorted(bound.values(), key=lambda pod: (pod.started_ms is None, pod.started_ms or 0, pod.name))),
        new=len(new),
        waiting=sum(pod.node is None for pod in here),
    )


def _is_member(pod: Pod, row: Decision) -> bool:
    return pod.scheduling_group == row.ask_group and pod.namespace == row.ask_namespace
