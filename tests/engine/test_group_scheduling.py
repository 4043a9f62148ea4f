"""The strongest evidence says whether groups of pods are scheduled as a whole; a setting, only where there is none."""

import pytest

from engine.model.objects import GroupEvidence, GroupScheduling, Preempted, SchedulingGroup
from engine.model.snapshot import ClusterState
from engine.observation.group_scheduling import conclude

UNKNOWN = GroupScheduling()
ON_BY_METRICS = GroupScheduling(on=True, evidence=GroupEvidence.METRICS)
OFF_BY_FLAGS = GroupScheduling(on=False, evidence=GroupEvidence.FLAGS)
EVENT = Preempted(uid="v", namespace="ns", name="v", at_ms=1, node="cluster", ask_uid="g", ask_kind="PodGroup")


def cluster(*, scheduled: bool | None = None, events: tuple[Preempted, ...] = ()) -> ClusterState:
    """A cluster with one group, of which the scheduler has said this."""
    state = ClusterState()
    state.scheduling_groups["ns", "g"] = SchedulingGroup(namespace="ns", name="g", scheduled=scheduled)
    state.preempted |= {str(number): event for number, event in enumerate(events)}
    return state


@pytest.mark.parametrize(
    ("state", "served", "gate", "setting", "expected"),
    [
        (cluster(scheduled=True), False, ON_BY_METRICS, True, GroupScheduling(on=False, evidence=GroupEvidence.API)),
        (cluster(), True, ON_BY_METRICS, False, ON_BY_METRICS),
        (cluster(scheduled=True), True, OFF_BY_FLAGS, True, OFF_BY_FLAGS),
        (cluster(scheduled=False), True, UNKNOWN, False, GroupScheduling(on=True, evidence=GroupEvidence.TRACES)),
        (cluster(events=(EVENT,)), None, UNKNOWN, None, GroupScheduling(on=True, evidence=GroupEvidence.TRACES)),
        (cluster(), True, UNKNOWN, True, GroupScheduling(on=True, evidence=GroupEvidence.SETTING)),
        (cluster(), None, UNKNOWN, False, GroupScheduling(on=False, evidence=GroupEvidence.SETTING)),
        (cluster(), True, UNKNOWN, None, UNKNOWN),
    ],
)
def test_the_strongest_evidence_counts(
    state: ClusterState, served: bool | None, gate: GroupScheduling, setting: bool | None, expected: GroupScheduling
) -> None:
    assert conclude(state, served=served, gate=gate, setting=setting) == expected
