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


def preempted_workloads_for(observed: Observed, state: ClusterState) -> tuple[Workload, ...]:
    """Return the Workloads that Kueue reported as preempted for the same preemptor at about that time."""
    workloads = {**state.departed_workloads, **state.workloads}.values()
    preempted = (
        workload
        for workload in workloads
        if workload.preempted is not None and workload.preempted.ask_uid == observed.preemptor_uid
    )
    at_that_time = (
        workload
        for workload in preempted
        if workload.preempted and abs(workload.preempted.at_ms - observed.at_ms) <= TOGETHER_MS
    )
    return tuple(sorted(at_that_time, key=lambda workload: (workload.key, workload.uid)))


def replay_kueue(observed: Observed, past: ClusterState, state: ClusterState, *, among: int = 1) -> Observed:
    """Return the decision with what Kueue's rules decide; unchanged if the preemptor did not exist or was not pending.

    It is also unchanged if Kueue's rules would not admit the queue at all: Kueue then knew more of it than was read,
    for example its flavors. ``past``: the cluster just before; ``state``: the cluster now; ``among``: how many
    decisions are replayed in one run.
    """
    cluster = past.quota(now_ms=observed.at_ms)
    preemptor = next((workload for workload in cluster.workloads if workload.uid == observed.preemptor_uid), None)
    queue = cluster.queues.get(preemptor.queue) if preemptor is not None and not preemptor.holds else None
    if preemptor is None or queue is None or cohort.inadmissible(cluster, preemptor):
        return observed
    preempted = tuple(
        _preempted(workload, past, _pods_of(workload, observed, state))
        for workload in preempted_workloads_for(observed, state)
    )
    set_to = _set_to(past.sharing.values(), {preempted_workload.why for preempted_workload in preempted})
    try:
        weighed = _workload_replay(cluster, preemptor, set_to, preempted, among)
    except QuotaError:  # cohorts form a cycle: Kueue does not decide there either
        return observed
    return msgspec.structs.replace(observed, weighed=weighed, untold=None)


def _set_to(sharings: Iterable[KueueSettings], reasons: set[str]) -> _SetTo:
    """Determine the algorithm from Kueue's settings, else from reasons that only one uses, else assume classic."""
    for sharing in sharings:
        with suppress(ValueError):  # strategies of a newer Kueue
            return _SetTo(cohort.strategies_of(sharing), KnownBy.CONFIG)
    if PreemptionReason.FAIR_SHARING in reasons:
        return _SetTo(cohort.STRATEGIES, KnownBy.REASONS)
    return _SetTo(None, KnownBy.REASONS if PreemptionReason.WHILE_BORROWING in reasons else KnownBy.ASSUMED)


def _workload_replay(
    cluster: QuotaCluster, preemptor: Workload, set_to: _SetTo, preempted: tuple[PreemptedWorkload, ...], among: int
) -> WorkloadReplay:
    fair = set_to.strategies is not None
    verdict = cohort.decide(cluster, preemptor, set_to.strategies)
    figures = cohort.figures(cluster, verdict, fair=fair)
    victims = [target.workload for target in verdict.search.targets]
    replayed = tuple(_as_preempted(target.workload, target.why) for target in verdict.search.targets)
    sides = dict.fromkeys([preemptor.queue, *(workload.queue for workload in (*replayed, *preempted))])
    shares = figures["shares"]["clusterQueues"] if fair else {}
    replay = WorkloadReplay(
        policy=cohort.FAIR_SHARE if fair else cohort.POLICY,
        strategies=tuple(set_to.strategies or ()),
        known_by=set_to.known_by,
        mode=verdict.mode.value,
        flavors=figures["flavors"],
        queue=preemptor.queue,
        ours=replayed,
        theirs=preempted,
        shares={name: shares[name]["weightedShare"] for name in sides if name in shares},
    )
    if not replay.agrees:
        return replay
    return msgspec.structs.replace(
        replay, spared=workload_counterfactuals(cluster, preemptor, set_to.strategies, victims, among=among)
    )


def _preempted(workload: Workload, past: ClusterState, pods: tuple[str, ...]) -> PreemptedWorkload:
    """Return a Workload as it was then, because an evicted Workload may no longer hold anything."""
    preempted = _as_preempted(
        past.workloads.get(workload.uid, workload), workload.preempted.why if workload.preempted else ""
    )
    return msgspec.structs.replace(preempted, pods=pods)


def _pods_of(workload: Workload, observed: Observed, state: ClusterState) -> tuple[str, ...]:
    """Return the uids of the victims that belong to a Workload."""
    pods = (state.pods.get(victim.pod.uid) or state.departed.get(victim.pod.uid) for victim in observed.victims)
    return tuple(pod.uid for pod in pods if pod is not None and is_of(pod, workload))


def _as_preempted(workload: Workload, why: str) -> PreemptedWorkload:
    return PreemptedWorkload(
        uid=workload.uid,
        namespace=workload.namespace,
        name=workload.name,
        queue=workload.queue,
        why=why,
        leaving=workload.evicted,
    )
