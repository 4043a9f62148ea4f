"""Replay what a scheduler preempted by its own rules, and check it against the invariants, on the cluster just before.

The cluster is rewound to when the preemptor was nominated or the first victim was evicted, whichever came first:
kube-scheduler writes both at the same time. YuniKorn nominates no pods; it deletes its victims. Kueue reports that it
preempted whole Workloads; it decides by quota alone.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from engine.analysis.counterfactuals import Again
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.observation.evictions import (
    EVIDENCE,
    SCHEDULERS,
    DecisionReplay,
    EvictionSource,
    NotReplayedReason,
    Observed,
)
from engine.observation.replay import kueue, volcano, yunikorn
from engine.observation.replay.change_log import ChangeIndex
from engine.policies import Decide, policy, priority
from engine.policies import yunikorn as by_yunikorn
from engine.policies.priority.groups.attempt import waiting_members

__all__ = ["PODS_AT_ONCE", "TIMES_OVER", "ReplayedDecisions", "repeated_decision", "replay_observed"]

PODS_AT_ONCE = 100_000
"""Maximum number of pods and Workloads that are processed in one run, summed over all moments that are replayed."""
TIMES_OVER = 25
"""Number of repeated decisions that determine which of YuniKorn's departures from its design changed an answer."""


def _rules(source: EvictionSource, before: ClusterState) -> Decide:
    """Return the rules by which a scheduler decides for a pod, or for its group where it decides for groups."""
    if source is EvictionSource.YUNIKORN:
        return by_yunikorn.decide
    return policy(priority.POLICY, priority.BESIDE_GROUPS if before.group_scheduling.on else priority.DIALECT)


class ReplayedDecisions(NamedTuple):
    """Observed decisions with their replays."""

    decisions: tuple[Observed, ...]
    before: dict[int, ClusterState]
    """Index in ``decisions`` -> the cluster just before, for each decision that was replayed for a pending pod."""


def replay_observed(
    observed: Iterable[Observed], state: ClusterState, tree_at: Callable[[int], QueueTree]
) -> ReplayedDecisions:
    """Return the observed decisions, each scheduler's with its replay, or with the reason why there is none.

    ``tree_at``: a function that returns the tree in force at a time, in milliseconds since 1970.

    If replaying all decisions would take too long, only the oldest are replayed, at least one.
    """
    decisions, log = list(observed), ChangeIndex(state)
    began: dict[int, int] = {}
    for number, decision in enumerate(decisions):
        if decision.source in SCHEDULERS:
            untold = _reason_without_replay(decision)
            place = None if untold else log.began(decision)
            if place is not None:
                began[number] = place
            decisions[number] = msgspec.structs.replace(decision, untold=untold or NotReplayedReason.NOT_SEEN)
    limit = max(1, PODS_AT_ONCE // max(1, len(state.pods) + len(state.workloads)))
    for number in list(began)[limit:]:
        del began[number]
        decisions[number] = msgspec.structs.replace(decisions[number], untold=NotReplayedReason.TOO_MANY)
    weighed = sum(decisions[number].source is EvictionSource.KUEUE for number in began)
    past, before = state.past() if began else state, dict[int, ClusterState]()
    quirks = TIMES_OVER * len(state.pods) * len(began) <= PODS_AT_ONCE
    for number, place in sorted(began.items(), key=lambda item: -item[1]):
        past.rewind(place)
        tree = tree_at(decisions[number].at_ms)
        replayed = _replayed(decisions[number], past, state, tree, quirks=quirks, weighed=weighed)
        if replayed.hindsight is not None and (message := log.unschedulable_message(decisions[number], place)):
            replayed = msgspec.structs.replace(
                replayed, hindsight=msgspec.structs.replace(replayed.hindsight, said=message)
            )
        decisions[number] = replayed
        if replayed.hindsight is not None and replayed.ask is not None:
            before[number] = past.copy()
    return ReplayedDecisions(tuple(decisions), before)


def repeated_decision(observed: Observed, before: ClusterState, tree: QueueTree) -> Again | None:
    """Return a scheduler's decision on the cluster just before, to be decided again by the scheduler's own rules.

    Returns None if the pending pod did not exist or was not pending, or if there was none.
    """
    snapshot = before.snapshot(tree, now_ms=observed.at_ms)
    # Ignore earlier nominations: had the pods been waiting for victims on these nodes, they would not have preempted.
    preemptors = [msgspec.structs.replace(pod, nominated_node="") for pod in _preemptors(snapshot, observed)]
    if not preemptors:
        return None
    for pod in preemptors if observed.for_group else ():
        snapshot = snapshot.asking(pod)
    return Again(snapshot, snapshot.tree, preemptors[0], _rules(observed.source, before))


def _preemptors(snapshot: Snapshot, observed: Observed) -> tuple[Pod, ...]:
    """Return the pending pod, or the waiting pods of the group, the first one first."""
    if not observed.for_group:
        return tuple(pod for pod in snapshot.asks if pod.uid == observed.preemptor_uid)
    group = next((group for group in snapshot.groups.values() if group.uid == observed.preemptor_uid), None)
    return () if group is None else waiting_members(snapshot, group)


def _reason_without_replay(observed: Observed) -> NotReplayedReason | None:
    if not EVIDENCE[observed.source].is_replayed:
        return NotReplayedReason.OTHER_RULES
    if observed.source is EvictionSource.KUEUE:
        return None if observed.preemptor_uid else NotReplayedReason.NO_ASK
    if observed.source is EvictionSource.VOLCANO:
        return None if volcano.reclaimed(observed) else NotReplayedReason.OTHER_RULES
    if observed.ask_kind not in ("Pod", "PodGroup"):
        return NotReplayedReason.GROUP
    if observed.for_resize:
        return NotReplayedReason.RESIZE
    return None if observed.over_max or (observed.ask and observed.ask_known) else NotReplayedReason.NO_ASK


def _replayed(
    observed: Observed, past: ClusterState, state: ClusterState, tree: QueueTree, *, quirks: bool, weighed: int
) -> Observed:
    """Return the decision with its replay; unchanged if the pending pod did not exist or was not pending.

    ``past``: the cluster just before; ``state``: the cluster now; ``quirks``: whether to calculate YuniKorn's
    departures from its design; ``weighed``: how many of Kueue's decisions are replayed in one run.
    """
    if observed.source is EvictionSource.KUEUE:
        return kueue.replay_kueue(observed, past, state, among=weighed)
    if observed.source is EvictionSource.VOLCANO:
        return volcano.replay_volcano(observed, past, tree)
    if observed.over_max:
        return yunikorn.replay_quota_enforcement(
            observed, past.snapshot(tree, now_ms=observed.at_ms), past, quirks=quirks
        )
    rerun = repeated_decision(observed, past, tree)
    if rerun is None:
        return observed
    if observed.source is EvictionSource.YUNIKORN:
        return yunikorn.replay_yunikorn(observed, rerun, past, quirks=quirks)
    message, nodes = rerun.ask.unschedulable_message, len(rerun.snapshot.nodes)
    replay = DecisionReplay(decision=rerun.as_it_was(), nodes=nodes, said=message)
    return msgspec.structs.replace(observed, hindsight=replay, untold=None)
