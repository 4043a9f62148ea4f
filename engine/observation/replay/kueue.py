"""What Kueue preempted, decided again by its own rules on its quota as it was just before."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import msgspec

from engine.model.objects import KueueSettings
from engine.model.quota import QuotaCluster, QuotaError, Workload
from engine.model.snapshot import ClusterState
from engine.observation.evictions import Gone, KnownBy, Observed, Weighed
from engine.observation.evictions.grouping import TOGETHER_MS
from engine.observation.evictions.sightings import is_of
from engine.observation.replay.kueue_counterfactuals import spared
from engine.policies import cohort
from engine.policies.cohort import PreemptionReason, Strategy


class _SetTo(NamedTuple):
    """Which of its two ways of preempting Kueue is taken to use, and why."""

    strategies: tuple[Strategy, ...] | None
    """Of fair sharing; None: classic preemption."""
    known_by: KnownBy


def gone_for(seen: Observed, state: ClusterState) -> tuple[Workload, ...]:
    """The Workloads that Kueue says it preempted for the same ask, about then."""
    every = {**state.departed_workloads, **state.workloads}.values()
    found = (one for one in every if one.preempted is not None and one.preempted.ask_uid == seen.asker)
    near = (one for one in found if one.preempted and abs(one.preempted.at_ms - seen.at_ms) <= TOGETHER_MS)
    return tuple(sorted(near, key=lambda one: (one.key, one.uid)))


def decided(seen: Observed, past: ClusterState, state: ClusterState, *, among: int = 1) -> Observed:
    """The same with what Kueue's rules decide; as it is where the ask was not there, or not waiting.

    Nor is it decided for a queue that Kueue would not have: it knew more of it than was read, as its flavors.

    ``past``: the cluster as it was just before; ``state``: as it is now; ``among``: so many are decided in one go.
    """
    cluster = past.quota(now_ms=seen.at_ms)
    ask = next((one for one in cluster.workloads if one.uid == seen.asker), None)
    queue = cluster.queues.get(ask.queue) if ask is not None and not ask.holds else None
    if ask is None or queue is None or cohort.inadmissible(cluster, ask):
        return seen
    theirs = tuple(_gone(one, past, _pods_of(one, seen, state)) for one in gone_for(seen, state))
    set_to = _set_to(past.sharing.values(), {one.why for one in theirs})
    try:
        weighed = _weighed(cluster, ask, set_to, theirs, among)
    except QuotaError:  # cohorts in a ring: Kueue decides nothing there either
        return seen
    return msgspec.structs.replace(seen, weighed=weighed, untold=None)


def _set_to(sharings: Iterable[KueueSettings], reasons: set[str]) -> _SetTo:
    """By its settings where they are known, else by reasons that belong to one way alone, else classic."""
    for sharing in sharings:
        with suppress(ValueError):  # strategies of a newer Kueue
            return _SetTo(cohort.strategies_of(sharing), KnownBy.CONFIG)
    if PreemptionReason.FAIR_SHARING in reasons:
        return _SetTo(cohort.STRATEGIES, KnownBy.REASONS)
    return _SetTo(None, KnownBy.REASONS if PreemptionReason.WHILE_BORROWING in reasons else KnownBy.ASSUMED)


def _weighed(cluster: QuotaCluster, ask: Workload, set_to: _SetTo, theirs: tuple[Gone, ...], among: int) -> Weighed:
    fair = set_to.strategies is not None
    verdict = cohort.decide(cluster, ask, set_to.strategies)
    figures = cohort.figures(cluster, verdict, fair=fair)
    going = [one.workload for one in verdict.search.targets]
    ours = tuple(_as_gone(one.workload, one.why) for one in verdict.search.targets)
    sides = dict.fromkeys([ask.queue, *(one.queue for one in (*ours, *theirs))])
    shares = figures["shares"]["clusterQueues"] if fair else {}
    weighed = Weighed(
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
    return msgspec.structs.replace(weighed, spared=spared(cluster, ask, set_to.strategies, going, among=among))


def _gone(one: Workload, past: ClusterState, pods: tuple[str, ...]) -> Gone:
    """As it stood then: what is on its way out may hold nothing any more."""
    gone = _as_gone(past.workloads.get(one.uid, one), one.preempted.why if one.preempted else "")
    return msgspec.structs.replace(gone, pods=pods)


def _pods_of(workload: Workload, seen: Observed, state: ClusterState) -> tuple[str, ...]:
    """Those of the victims that are of it."""
    pods = (state.pods.get(one.pod.uid) or state.departed.get(one.pod.uid) for one in seen.victims)
    return tuple(pod.uid for pod in pods if pod is not None and is_of(pod, workload))


def _as_gone(one: Workload, why: str) -> Gone:
    return Gone(uid=one.uid, namespace=one.namespace, name=one.name, queue=one.queue, why=why, leaving=one.evicted)
