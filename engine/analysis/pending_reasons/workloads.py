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
    cluster: QuotaCluster, ask: Workload, strategies: Sequence[Strategy] | None, path: str
) -> PendingReasons:
    """Return what a workload that waits in a queue of ``cluster`` has to pass.

    ``strategies``: the fair sharing strategies, None for classic preemption; ``path``: the queue's name in the result.
    Raises engine.model.quota.QuotaError for cohorts that form a cycle.
    """
    case = _Case(cluster, ask, strategies, path)
    return PendingReasons(tiers=tuple(case.tiers()), ahead=_ahead(cluster, ask))


def _ahead(cluster: QuotaCluster, ask: Workload) -> Ahead:
    """Return the number of workloads ahead, by priority and then by time, as each ClusterQueue orders them."""
    turn = _turn(ask)
    before = [one for one in cluster.workloads if not one.holds and not one.done and _turn(one) < turn]
    return Ahead(cluster=len(before), queue=sum(one.queue == ask.queue for one in before))


def _turn(one: Workload) -> tuple[int, int, str]:
    return -one.priority, one.turn_ms, one.uid


class _Case:
    """A workload under a cluster's quota at one moment."""

    def __init__(self, cluster: QuotaCluster, ask: Workload, strategies: Sequence[Strategy] | None, path: str) -> None:
        self._cluster = cohort.without_replaced(cluster, ask)
        self._ask, self._strategies, self._path = ask, strategies, path
        self._queue = cluster.queues[ask.queue]

    def tiers(self) -> Iterator[Tier]:
        """Yield whether the workload is considered, then its quota; with enough quota left, nothing is evicted."""
        yield self._considered()
        if not self._fits:
            yield self._most()
        if not (self._fits or self._shut):
            yield self._priority()
        yield self._left()

    @cached_property
    def _verdict(self) -> WorkloadVerdict:
        """Return the decision, and its victims, as if the workload had no preemption gate."""
        return self._decided(self._cluster, msgspec.structs.replace(self._ask, gated=False))

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
        return self._tree.queue[self._ask.queue]

    @cached_property
    def _asked(self) -> dict[FlavorResource, int]:
        """Return the request by flavor: the flavor that it would get, or else the nearest one.

        The flavor's name is empty if the queue has none for the resource.
        """
        found: dict[FlavorResource, int] = {}
        granted = {one.pod_set.name: one.granted for one in self._verdict.assignment.sets}
        for one in self._ask.pod_sets:
            wanted = {name: amount * one.count for name, amount in one.requests.items() if name != PODS}
            if self._queue.group_of(PODS) is not None:
                wanted[PODS] = one.count
            given = granted.get(one.name, {})
            for name, amount in wanted.items():
                flavor = given[name].flavor if name in given else self._nearest(name, wanted)
                found[flavor, name] = found.get((flavor, name), 0) + amount
        return {of: amount for of, amount in sorted(found.items()) if amount}

    def _nearest(self, resource: str, wanted: Amounts) -> str:
        """Return the flavor of the resource's group that lacks the fewest resources.

        Flavors are compared by their potential quota first, then by what is available now.
        """
        group = self._queue.group_of(resource)
        if group is None:
            return ""
        names = [name for name in group.resources if name in wanted]

        def lacks(flavor: str) -> tuple[int, int]:
            potential = self._tree.potential[self._node]
            never = sum(wanted[name] > potential.get((flavor, name), 0) for name in names)
            return never, sum(wanted[name] > self._usage.available(self._node, (flavor, name)) for name in names)

        return min(group.flavors, key=lacks, default="")

    @cached_property
    def _may_go(self) -> tuple[Workload, ...]:
        """Return the workloads that the queue's rules permit to evict at this priority, and that hold what is short."""
        short = tuple(of for of, amount in self._asked.items() if amount > self._usage.available(self._node, of))
        return cohort.preemption_candidates(self._cluster, self._ask, self._asked, short)

    @property
    def _going(self) -> list[Workload]:
        return [target.workload for target in self._verdict.search.targets]

    @cached_property
    def _shut(self) -> str:
        """Return why no candidate is considered although the queue has enough quota; empty if any is considered."""
        potential = self._tree.potential[self._node]
        beyond = any(amount > potential.get(of, 0) for of, amount in self._asked.items())
        if self._verdict.mode is not cohort.Mode.NO_FIT or beyond:
            return ""
        borrows = any(self._usage.borrows(self._node, of, amount) for of, amount in self._asked.items())
        return BORROWS if borrows else FLAVORS

    @cached_property
    def _kept_out(self) -> Inadmissible | None:
        """Return why the workload is not considered at all, in which case neither quota nor priority helps, or None."""
        return cohort.inadmissible(self._cluster, self._ask)

    def _considered(self) -> Tier:
        why = self._kept_out
        if why is None and self._ask.gated and self._going:
            why = Inadmissible.PREEMPTION_GATE
        return Tier(name=TierName.CONSIDERED, passes=why is None, shut=why or "")

    def _most(self) -> Tier:
        potential = self._tree.potential[self._node]
        needs = [self._need(of, amount, potential.get(of, 0)) for of, amount in self._asked.items()]
        return self._with_remedies(Tier.of(TierName.MOST, needs))

    def _priority(self) -> Tier:
        held: Amounts = {}
        for one in self._may_go:
            for of in self._asked:
                if amount := one.usage.get(of, 0):
                    held[self._named(of)] = held.get(self._named(of), 0) + amount
        need = Need(resource=WORKLOADS, required=1, available=len(self._may_go))
        tier = Tier.of(TierName.PRIORITY, [need], held=held)
        return tier if tier.passes else msgspec.structs.replace(tier, remedies=tuple(self._by_priority()))

    def _left(self) -> Tier:
        """Judge whether evictions make up what is missing; Kueue's own rules decide, not the amounts alone."""
        giving = () if self._fits or self._shut else self._going or self._may_go
        needs = tuple(
            self._need(of, amount, self._usage.available(self._node, of), sum(one.usage.get(of, 0) for one in giving))
            for of, amount in self._asked.items()
        )
        passes = self._fits or bool(self._going)
        return self._with_remedies(Tier(name=TierName.LEFT, passes=passes, needs=needs, shut=self._shut))

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
        return () if self._kept_out else tuple(self._larger_quotas())

    def _larger_quotas(self) -> Iterator[Remedy]:
        for of, amount in self._asked.items():
            quota = self._queue.quotas.get(of)
            if quota is None or amount <= self._usage.available(self._node, of):
                continue
            most = self._usage.used(self._node, of) + amount

            def decided(nominal: int, of: FlavorResource = of, quota: FlavorQuota = quota) -> WorkloadVerdict:
                changed = msgspec.structs.replace(quota, nominal=nominal)
                return self._with_queue(quotas={**self._queue.quotas, of: changed})

            found = least(quota.nominal, most, decided, _served, self._tries, most)
            if found is not None:
                queues = {self._path: {self._named(of): found}}
                yield Remedy(change=Change.GUARANTEE, queues=queues, enough=True)

    def _by_priority(self) -> Iterator[Remedy]:
        """Yield the lowest priority with which the workload gets room."""
        if self._kept_out:
            return
        own, tries = self._ask.priority, self._tries
        others = {one.priority for one in self._cluster.workloads if one.holds}
        for priority in sorted({turn for one in others for turn in (one, one + 1) if turn > own}):
            if not tries.take():
                return
            if self._decided(self._cluster, msgspec.structs.replace(self._ask, priority=priority)).served:
                yield Remedy(change=Change.PRIORITY, priority=priority, enough=True)
                return

    def _with_queue(self, **changes: Any) -> WorkloadVerdict:
        changed = msgspec.structs.replace(self._queue, **changes)
        queues: Mapping[str, Any] = {**self._cluster.queues, changed.name: changed}
        return self._decided(msgspec.structs.replace(self._cluster, queues=queues), self._ask)

    def _decided(self, cluster: QuotaCluster, ask: Workload) -> WorkloadVerdict:
        return cohort.decide(cluster, ask, self._strategies)


def _served(verdict: WorkloadVerdict) -> bool:
    return verdict.served
