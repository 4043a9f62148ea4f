"""Replay what a scheduler preempted by its own rules, and check it against the invariants, on the cluster just before.

The cluster is rewound to when the preemptor was nominated or the first victim was evicted, whichever came first:
kube-scheduler writes both at the same time. YuniKorn nominates no pods; it deletes its victims. Kueue reports that it
preempted whole Workloads; it decides by quota alone.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from engine.analysis.counterfactuals import Again
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
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
from engine.policies import Decide, priority
from engine.policies import yunikorn as by_yunikorn

__all__ = ["PODS_AT_ONCE", "TIMES_OVER", "ReplayedDecisions", "repeated_decision", "replay_observed"]

PODS_AT_ONCE = 100_000
"""Maximum number of pods and Workloads that are processed in one run, summed over all moments that are replayed."""
TIMES_OVER = 25
"""Number of repeated decisions that determine which of YuniKorn's departures from its design changed an answer."""
_RULES: dict[EvictionSource, Decide] = {
    EvictionSource.KUBE_SCHEDULER: priority.decide,
    EvictionSource.YUNIKORN: by_yunikorn.decide,
}
"""The rules by which each scheduler decides, pod by pod."""


class ReplayedDecisions(NamedTuple):
    """Observed decisions with their replays."""

    found: tuple[Observed, ...]
    before: dict[int, ClusterState]
    """Index in ``found`` -> the cluster just before, for each decision that was replayed for a pending pod."""


def replay_observed(
    found: Iterable[Observed], state: ClusterState, tree_at: Callable[[int], QueueTree]
) -> ReplayedDecisions:
    """Return the observed decisions, each scheduler's with its replay, or with the reason why there is none.

    ``tree_at``: a function that returns the tree in force at a time, in milliseconds since 1970.

    If replaying all decisions would take too long, only the oldest are replayed, at least one.
    """
    told, log = list(found), ChangeIndex(state)
    began: dict[int, int] = {}
    for number, seen in enumerate(told):
        if seen.source in SCHEDULERS:
            untold = _untold(seen)
            place = None if untold else log.began(seen)
            if place is not None:
                began[number] = place
            told[number] = msgspec.structs.replace(seen, untold=untold or NotReplayedReason.NOT_SEEN)
    most = max(1, PODS_AT_ONCE // max(1, len(state.pods) + len(state.workloads)))
    for number in list(began)[most:]:
        del began[number]
        told[number] = msgspec.structs.replace(told[number], untold=NotReplayedReason.TOO_MANY)
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
    return ReplayedDecisions(tuple(told), before)


def repeated_decision(seen: Observed, before: ClusterState, tree: QueueTree) -> Again | None:
    """Return a scheduler's decision on the cluster just before, to be decided again by the scheduler's own rules.

    Returns None if the pending pod did not exist or was not pending, or if there was none.
    """
    snapshot = before.snapshot(tree, now_ms=seen.at_ms)
    ask = next((pod for pod in snapshot.asks if pod.uid == seen.asker), None)
    if ask is None:
        return None
    # Ignore an earlier nomination: had the pod been waiting for victims on that node, it would not have preempted.
    return Again(snapshot, snapshot.tree, msgspec.structs.replace(ask, nominated_node=""), _RULES[seen.source])


def _untold(seen: Observed) -> NotReplayedReason | None:
    if not EVIDENCE[seen.source].again:
        return NotReplayedReason.OTHER_RULES
    if seen.source is EvictionSource.KUEUE:
        return None if seen.asker else NotReplayedReason.NO_ASK
    if seen.source is EvictionSource.VOLCANO:
        return None if volcano.reclaimed(seen) else NotReplayedReason.OTHER_RULES
    if seen.ask_kind != "Pod":
        return NotReplayedReason.GROUP
    return None if seen.over_max or (seen.ask and seen.ask_known) else NotReplayedReason.NO_ASK


def _again(
    seen: Observed, past: ClusterState, state: ClusterState, tree: QueueTree, *, quirks: bool, weighed: int
) -> Observed:
    """Return the decision with its replay; unchanged if the pending pod did not exist or was not pending.

    ``past``: the cluster just before; ``state``: the cluster now; ``quirks``: whether to calculate YuniKorn's
    departures from its design; ``weighed``: how many of Kueue's decisions are replayed in one run.
    """
    if seen.source is EvictionSource.KUEUE:
        return kueue.replay_kueue(seen, past, state, among=weighed)
    if seen.source is EvictionSource.VOLCANO:
        return volcano.replay_volcano(seen, past, tree)
    if seen.over_max:
        return yunikorn.replay_quota_enforcement(seen, past.snapshot(tree, now_ms=seen.at_ms), past, quirks=quirks)
    again = repeated_decision(seen, past, tree)
    if again is None:
        return seen
    if seen.source is EvictionSource.YUNIKORN:
        return yunikorn.replay_yunikorn(seen, again, past, quirks=quirks)
    said, nodes = again.ask.unschedulable_message, len(again.snapshot.nodes)
    hindsight = DecisionReplay(decision=again.as_it_was(), nodes=nodes, said=said)
    return msgspec.structs.replace(seen, hindsight=hindsight, untold=None)
