"""Conclude from all evidence whether kube-scheduler schedules and preempts PodGroups as a whole."""

from engine.model.objects import GroupEvidence, GroupScheduling
from engine.model.snapshot import ClusterState


def conclude(
    state: ClusterState, *, served: bool | None, gate: GroupScheduling, setting: bool | None
) -> GroupScheduling:
    """Return whether groups are scheduled as a whole, by the strongest evidence.

    ``served``: whether the API server serves PodGroups; None if that is not known. ``gate``: what the scheduler itself
    shows. ``setting``: what an administrator says, which counts only where the cluster does not show it.
    """
    if served is False:
        return GroupScheduling(on=False, evidence=GroupEvidence.API)
    if gate.on is not None:
        return gate
    if _has_traces(state):
        return GroupScheduling(on=True, evidence=GroupEvidence.TRACES)
    if setting is not None:
        return GroupScheduling(on=setting, evidence=GroupEvidence.SETTING)
    return GroupScheduling()


def _has_traces(state: ClusterState) -> bool:
    """Return whether the scheduler has reported on a group, or has preempted pods for one."""
    reported = any(group.scheduled is not None for group in state.scheduling_groups.values())
    return reported or any(event.by_scheduler and event.ask_kind == "PodGroup" for event in state.preempted.values())
