"""Replay what Kueue preempted, by its own rules, on its quota just before."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import msgspec

from engine.model.objects import KueueSettings
from engine.model.quota import QuotaCluster, QuotaError, Workload
from engine.model.snapshot import ClusterState
from engine.observation.evictions import KnownBy, Observed, PreemptedWorkload, WorkloadReplay
from engine.observation.evictions.grouping import TOGETHER_MS
from engine.observation.evictions.sightings import is_of
from engine.observation.replay.kueue_counterfactuals import workload_counterfactuals
from engine.policies import cohort
from engine.policies.cohort import PreemptionReason, Strategy


class _SetTo(NamedTuple):
    """Which of its two preemption algorithms Kueue is assumed to use, and why."""

    strategies: tuple[Strategy, ...] | None
    """The fair sharing strategies; None for classic preemption."""
    known_by: KnownBy


def preempted_workloads_for(seen: Observed, state: ClusterState) -> tuple[Workload, ...]:
    """Return the Workloads that Kueue reported as preempted for the same preemptor at about that time."""
    every = {**state.departed_workloads, **state.workloads}.values()
    found = (one for one in every if one.preempted is not None and one.preempted.ask_uid == seen.asker)
    near = (one for one in found if one.preempted and abs(one.preempted.at_ms - seen.at_ms) <= TOGETHER_MS)
    return tuple(sorted(near, key=lambda one: (one.key, one.uid)))


def replay_kueue(seen: Observed, past: ClusterState, state: ClusterState, *, among: int = 1) -> Observed:
    """Return the decision with what Kueue's rules decide; unchanged if the preemptor did not exist or was not pending.

    It is also unchanged if Kueue's rules would not admit the queue at all: Kueue then knew more of it than was read,
    for example its flavors. ``past``: the cluster just before; ``state``: the cluster now; ``among``: how many
    decisions are replayed in one run.
    """
    cluster = past.quota(now_ms=seen.at_ms)
    ask = next((one for one in cluster.workloads if one.uid == seen.asker), None)
    queue = cluster.queues.get(ask.queue) if ask is not None and not ask.holds else None
    if ask is None or queue is None or cohort.inadmissible(cluster, ask):
        return seen
    theirs = tuple(_gone(one, past, _pods_of(one, seen, state)) for one in preempted_workloads_for(seen, state))
    set_to = _set_to(past.sharing.values(), {one.why for one in theirs})
    try:
        weighed = _weighed(cluster, ask, set_to, theirs, among)
    except QuotaError:  # cohorts form a cycle: Kueue does not decide there either
        return seen
    return msgspec.structs.replace(seen, weighed=weighed, untold=None)


def _set_to(sharings: Iterable[KueueSettings], reasons: set[str]) -> _SetTo:
    """Determine the algorithm from Kueue's settings, else from reasons that only one uses, else assume classic."""
    for sharing in sharings:
        with suppress(ValueError):  # strategies of a newer Kueue
            return _SetTo(cohort.strategies_of(sharing), KnownBy.CONFIG)
    if PreemptionReason.FAIR_SHARING in reasons:
        return _SetTo(cohort.STRATEGIES, KnownBy.REASONS)
    return _SetTo(None, KnownBy.REASONS if PreemptionReason.WHILE_BORROWING in reasons else KnownBy.ASSUMED)


def _weighed(
    cluster: QuotaCluster, ask: Workload, set_to: _SetTo, theirs: tuple[PreemptedWorkload, ...], among: int
) -> WorkloadReplay:
    fair = set_to.strategies is not None
    verdict = cohort.decide(cluster, ask, set_to.strategies)
    figures = cohort.figures(cluster, verdict, fair=fair)
    going = [one.workload for one in verdict.search.targets]
    ours = tuple(_as_gone(one.workload, one.why) for one in verdict.search.targets)
    sides = dict.fromkeys([ask.queue, *(one.queue for one in (*ours, *theirs))])
    shares = figures["shares"]["clusterQueues"] if fair else {}
    weighed = WorkloadReplay(
        policy=cohort.FAIR_SHARE if fair else cohort.POLICY,
        strategies=tuple(set_to.strategies or ()),
        known_by=set_to.known_by,
        mode=verdict.mode.value,
        flavors=figures["flavors"],
        queue=ask.queue,
        ours=ours,
        theirs=theirs,
        shares={name: shares[name]["weightedShare"] for name in sides if name in shares},
    )
    if not weighed.agrees:
        return weighed
    return msgspec.structs.replace(
        weighed, spared=workload_counterfactuals(cluster, ask, set_to.strategies, going, among=among)
    )


def _gone(one: Workload, past: ClusterState, pods: tuple[str, ...]) -> PreemptedWorkload:
    """Return a Workload as it was then, because an evicted Workload may no longer hold anything."""
    gone = _as_gone(past.workloads.get(one.uid, one), one.preempted.why if one.preempted else "")
    return msgspec.structs.replace(gone, pods=pods)


def _pods_of(workload: Workload, seen: Observed, state: ClusterState) -> tuple[str, ...]:
    """Return the uids of the victims that belong to a Workload."""
    pods = (state.pods.get(one.pod.uid) or state.departed.get(one.pod.uid) for one in seen.victims)
    return tuple(pod.uid for pod in pods if pod is not None and is_of(pod, workload))


def _as_gone(one: Workload, why: str) -> PreemptedWorkload:
    return PreemptedWorkload(
        uid=one.uid, namespace=one.namespace, name=one.name, queue=one.queue, why=why, leaving=one.evicted
    )
