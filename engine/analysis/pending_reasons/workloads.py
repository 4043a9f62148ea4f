"""Explain why a Kueue workload waits for quota, by Kueue's rules and on its own queues and flavors."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from engine.analysis.counterfactuals import Tries, least
from engine.model.change import Change
from engine.model.pending_reasons import (
    BORROWS,
    FLAVORS,
    WORKLOADS,
    Ahead,
    Need,
    PendingReasons,
    Remedy,
    Tier,
    TierName,
)
from engine.model.quantities import FLAVOR, PODS, Amounts
from engine.model.quota import FlavorQuota, FlavorResource, QuotaCluster, QuotaTree, QuotaUsage, Workload
from engine.policies import cohort
from engine.policies.cohort import Inadmissible, Strategy, WorkloadVerdict

_TRIES = 24
_WORKLOADS = 40_000
"""Number of workloads that can be evaluated in about a second, over all tries for one remedy."""


def pending_workload_reasons(
    cluster: QuotaCluster, workload: Workload, strategies: Sequence[Strategy] | None, path: str
) -> PendingReasons:
    """Return what a workload that waits in a queue of ``cluster`` has to pass.

    ``strategies``: the fair sharing strategies, None for classic preemption; ``path``: the queue's name in the result.
    Raises engine.model.quota.QuotaError for cohorts that form a cycle.
    """
    case = _Case(cluster, workload, strategies, path)
    return PendingReasons(tiers=tuple(case.tiers()), ahead=_ahead(cluster, workload))


def _ahead(cluster: QuotaCluster, workload: Workload) -> Ahead:
    """Return the number of workloads ahead, by priority and then by time, as each ClusterQueue orders them."""
    workload_turn = _turn(workload)
    before = [
        other for other in cluster.workloads if not other.holds and not other.done and _turn(other) < workload_turn
    ]
    return Ahead(cluster=len(before), queue=sum(other.queue == workload.queue for other in before))


def _turn(workload: Workload) -> tuple[int, int, str]:
    return -workload.priority, workload.turn_ms, workload.uid


class _Case:
    """A workload under a cluster's quota at one moment."""

    def __init__(
        self, cluster: QuotaCluster, workload: Workload, strategies: Sequence[Strategy] | None, path: str
    ) -> None:
        self._cluster = cohort.without_replaced(cluster, workload)
        self._workload, self._strategies, self._path = workload, strategies, path
        self._queue = cluster.queues[workload.queue]

    def tiers(self) -> Iterator[Tier]:
        """Yield whether the workload is considered, then its quota; with enough quota left, nothing is evicted."""
        yield self._considered_tier()
        if not self._fits:
            yield self._potential_tier()
        if not (self._fits or self._not_considered_reason):
            yield self._priority_tier()
        yield self._remaining_tier()

    @cached_property
    def _verdict(self) -> WorkloadVerdict:
        """Return the decision, and its victims, as if the workload had no preemption gate."""
        return self._decided(self._cluster, msgspec.structs.replace(self._workload, gated=False))

    @property
    def _fits(self) -> bool:
        return self._verdict.mode is cohort.Mode.FIT

    @cached_property
    def _tree(self) -> QuotaTree:
        tree: QuotaTree = self._usage.tree
        return tree

    @cached_property
    def _usage(self) -> QuotaUsage:
        return cohort.usage_of(self._cluster)

    @cached_property
    def _node(self) -> int:
        return self._tree.queue[self._workload.queue]

    @cached_property
    def _requested(self) -> dict[FlavorResource, int]:
        """Return the request by flavor: the flavor that it would get, or else the nearest one.

        The flavor's name is empty if the queue has none for the resource.
        """
        requested: dict[FlavorResource, int] = {}
        granted = {assigned.pod_set.name: assigned.granted for assigned in self._verdict.assignment.sets}
        for pod_set in self._workload.pod_sets:
            requests = {name: amount * pod_set.count for name, amount in pod_set.requests.items() if name != PODS}
            if self._queue.group_of(PODS) is not None:
                requests[PODS] = pod_set.count
            assigned_flavors = granted.get(pod_set.name, {})
            for name, amount in requests.items():
                flavor = assigned_flavors[name].flavor if name in assigned_flavors else self._nearest(name, requests)
                requested[flavor, name] = requested.get((flavor, name), 0) + amount
        return {of: amount for of, amount in sorted(requested.items()) if amount}

    def _nearest(self, resource: str, requests: Amounts) -> str:
        """Return the flavor of the resource's group that lacks the fewest resources.

        Flavors are compared by their potential quota first, then by what is available now.
        """
        group = self._queue.group_of(resource)
        if group is None:
            return ""
        names = [name for name in group.resources if name in requests]

        def lacks(flavor: str) -> tuple[int, int]:
            potential = self._tree.potential[self._node]
            never = sum(requests[name] > potential.get((flavor, name), 0) for name in names)
            return never, sum(requests[name] > self._usage.available(self._node, (flavor, name)) for name in names)

        return min(group.flavors, key=lacks, default="")

    @cached_property
    def _candidates(self) -> tuple[Workload, ...]:
        """Return the workloads that the queue's rules permit to evict at this priority, and that hold what is short."""
        short = tuple(of for of, amount in self._requested.items() if amount > self._usage.available(self._node, of))
        return cohort.preemption_candidates(self._cluster, self._workload, self._requested, short)

    @property
    def _victims(self) -> list[Workload]:
        return [target.workload for target in self._verdict.search.targets]

    @cached_property
    def _not_considered_reason(self) -> str:
        """Return why no candidate is considered although the queue has enough quota; empty if any is considered."""
        potential = self._tree.potential[self._node]
        beyond = any(amount > potential.get(of, 0) for of, amount in self._requested.items())
        if self._verdict.mode is not cohort.Mode.NO_FIT or beyond:
            return ""
        borrows = any(self._usage.borrows(self._node, of, amount) for of, amount in self._requested.items())
        return BORROWS if borrows else FLAVORS

    @cached_property
    def _inadmissible(self) -> Inadmissible | None:
        """Return why the workload is not considered at all, in which case neither quota nor priority helps, or None."""
        return cohort.inadmissible(self._cluster, self._workload)

    def _considered_tier(self) -> Tier:
        why = self._inadmissible
        if why is None and self._workload.gated and self._victims:
            why = Inadmissible.PREEMPTION_GATE
        return Tier(name=TierName.ADMISSIBLE, passes=why is None, shut=why or "")

    def _potential_tier(self) -> Tier:
        potential = self._tree.potential[self._node]
        needs = [self._need(of, amount, potential.get(of, 0)) for of, amount in self._requested.items()]
        return self._with_remedies(Tier.of(TierName.POTENTIAL, needs))

    def _priority_tier(self) -> Tier:
        held: Amounts = {}
        for candidate in self._candidates:
            for of in self._requested:
                if amount := candidate.usage.get(of, 0):
                    held[self._named(of)] = held.get(self._named(of), 0) + amount
        need = Need(resource=WORKLOADS, required=1, available=len(self._candidates))
        tier = Tier.of(TierName.PRIORITY, [need], held=held)
        return tier if tier.passes else msgspec.structs.replace(tier, remedies=tuple(self._by_priority()))

    def _remaining_tier(self) -> Tier:
        """Judge whether evictions make up what is missing; Kueue's own rules decide, not the amounts alone."""
        givers = () if self._fits or self._not_considered_reason else self._victims or self._candidates
        needs = tuple(
            self._need(
                of, amount, self._usage.available(self._node, of), sum(victim.usage.get(of, 0) for victim in givers)
            )
            for of, amount in self._requested.items()
        )
        passes = self._fits or bool(self._victims)
        return self._with_remedies(
            Tier(name=TierName.AVAILABLE, passes=passes, needs=needs, shut=self._not_considered_reason)
        )

    def _need(self, of: FlavorResource, required: int, available: int, evictable: int = 0) -> Need:
        return Need(
            where=self._path, resource=self._named(of), required=required, available=available, evictable=evictable
        )

    def _named(self, of: FlavorResource) -> str:
        """Return the name of a resource, with its flavor if the queue has several flavors of it."""
        group = self._queue.group_of(of[1])
        return of[1] if group is None or len(group.flavors) == 1 else f"{of[1]}{FLAVOR}{of[0]}"

    def _with_remedies(self, tier: Tier) -> Tier:
        return tier if tier.passes else msgspec.structs.replace(tier, remedies=self._by_quota)

    @property
    def _tries(self) -> Tries:
        return Tries(min(_TRIES, _WORKLOADS // max(1, len(self._cluster.workloads))))

    @cached_property
    def _by_quota(self) -> tuple[Remedy, ...]:
        """Return the least nominal quotas of the queue each of which alone gets the workload room."""
        return () if self._inadmissible else tuple(self._larger_quotas())

    def _larger_quotas(self) -> Iterator[Remedy]:
        for of, amount in self._requested.items():
            quota = self._queue.quotas.get(of)
            if quota is None or amount <= self._usage.available(self._node, of):
                continue
            most = self._usage.used(self._node, of) + amount

            def decided(nominal: int, of: FlavorResource = of, quota: FlavorQuota = quota) -> WorkloadVerdict:
                changed = msgspec.structs.replace(quota, nominal=nominal)
                return self._with_queue(quotas={**self._queue.quotas, of: changed})

            nominal_quota = least(quota.nominal, most, decided, _served, self._tries, most)
            if nominal_quota is not None:
                queues = {self._path: {self._named(of): nominal_quota}}
                yield Remedy(change=Change.GUARANTEE, queues=queues, enough=True)

    def _by_priority(self) -> Iterator[Remedy]:
        """Yield the lowest priority with which the workload gets room."""
        if self._inadmissible:
            return
        current, tries = self._workload.priority, self._tries
        priorities = {workload.priority for workload in self._cluster.workloads if workload.holds}
        for priority in sorted({raised for other in priorities for raised in (other, other + 1) if raised > current}):
            if not tries.take():
                return
            if self._decided(self._cluster, msgspec.structs.replace(self._workload, priority=priority)).served:
                yield Remedy(change=Change.PRIORITY, priority=priority, enough=True)
                return

    def _with_queue(self, **changes: Any) -> WorkloadVerdict:
        changed = msgspec.structs.replace(self._queue, **changes)
        queues: Mapping[str, Any] = {**self._cluster.queues, changed.name: changed}
        return self._decided(msgspec.structs.replace(self._cluster, queues=queues), self._workload)

    def _decided(self, cluster: QuotaCluster, workload: Workload) -> WorkloadVerdict:
        return cohort.decide(cluster, workload, self._strategies)


def _served(verdict: WorkloadVerdict) -> bool:
    return verdict.served
