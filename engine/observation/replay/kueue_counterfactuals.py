"""Find what would have kept a Workload that Kueue preempted: its queue's quota or weight, or its own priority.

Each setting is changed alone, by as little as is enough, and decided again by Kueue's rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from engine.analysis.counterfactuals import Counterfactual, Then, Tries, least
from engine.model.change import Change
from engine.model.quantities import FLAVOR
from engine.model.queue_tree import WEIGHT_ONE
from engine.model.quota import FlavorQuota, FlavorResource, QuotaCluster, Workload
from engine.policies import cohort
from engine.policies.cohort import Strategy, WorkloadVerdict

FIRST = 3
"""Number of preempted Workloads per decision for which this is calculated."""
_TRIES, _FEW = 24, 4
_WORKLOADS = 40_000
"""Number of Workloads that can be evaluated in about a second, over all tries for one question of each preemptor."""
_STEP = WEIGHT_ONE // 1000
_MOST_WEIGHT = 1_000_000
"""The highest increase of a weight that is tried, in thousandths."""


def workload_counterfactuals(
    cluster: QuotaCluster,
    preemptor: Workload,
    strategies: Sequence[Strategy] | None,
    victims: Sequence[Workload],
    *,
    among: int = 1,
) -> tuple[Counterfactual, ...] | None:
    """Return the changes that keep the first Workloads preempted for a Workload, or None if the cluster is too large.

    ``among``: the number of preemptors that share the available time in one run.
    """
    tries = min(_TRIES, _WORKLOADS // max(1, len(cluster.workloads) * among))
    if tries < _FEW:
        return None
    return tuple(
        change
        for victim in victims[:FIRST]
        for change in _VictimChanges(cluster, preemptor, strategies, victim, tries).changes()
    )


class _VictimChanges:
    def __init__(
        self,
        cluster: QuotaCluster,
        preemptor: Workload,
        strategies: Sequence[Strategy] | None,
        victim: Workload,
        tries: int,
    ) -> None:
        self._cluster, self._preemptor, self._strategies, self._victim, self._tries = (
            cluster,
            preemptor,
            strategies,
            victim,
            tries,
        )
        self._queue = cluster.queues[victim.queue]

    def changes(self) -> Iterator[Counterfactual]:
        yield from self._quotas()
        if self._strategies is not None:
            yield from self._weight()
        yield from self._priority()

    def _quotas(self) -> Iterator[Counterfactual]:
        """Yield, for each flavor and resource, the least nominal quota that keeps the Workload, up to its usage."""
        for of in sorted(self._victim.usage):
            quota = self._queue.quotas.get(of, FlavorQuota(0))
            used = sum(
                workload.usage.get(of, 0) for workload in self._cluster.workloads if workload.queue == self._queue.name
            )

            def decided(nominal: int, of: FlavorResource = of, quota: FlavorQuota = quota) -> WorkloadVerdict:
                changed = msgspec.structs.replace(quota, nominal=nominal)
                return self._with_queue(quotas={**self._queue.quotas, of: changed})

            guess = used - self._victim.usage[of] + 1
            least_quota = least(quota.nominal, used, decided, self._spares, Tries(self._tries), guess)
            if least_quota is not None:
                name = self._named(of)
                amounts = {"amounts": {name: least_quota}, "more": {name: least_quota - quota.nominal}}
                yield self._spared(decided(least_quota), Change.GUARANTEE, queue=self._queue.name, **amounts)

    def _weight(self) -> Iterator[Counterfactual]:
        """Yield the least weight of the queue, in thousandths; a higher weight makes its borrowing count less."""
        low = int(self._queue.weight * 1000)

        def decided(weight: int) -> WorkloadVerdict:
            return self._with_queue(weight=Fraction(weight, 1000))

        least_weight = least(low, low + _MOST_WEIGHT, decided, self._spares, Tries(self._tries), guess=2 * low)
        if least_weight is not None:
            yield self._spared(
                decided(least_weight), Change.WEIGHT, queue=self._queue.name, weight=least_weight * _STEP
            )

    def _priority(self) -> Iterator[Counterfactual]:
        """Yield the lowest priority that keeps the Workload, up to just above the preemptor's."""
        current, most, tries = self._victim.priority, self._preemptor.priority + 1, Tries(self._tries)
        others = {workload.priority for workload in self._cluster.workloads if workload.holds} | {
            self._preemptor.priority
        }
        for priority in sorted(
            {candidate for other in others for candidate in (other, other + 1) if current < candidate <= most}
        ):
            if not tries.take():
                return
            changed = msgspec.structs.replace(self._victim, priority=priority)
            workloads = tuple(
                changed if workload.uid == changed.uid else workload for workload in self._cluster.workloads
            )
            decided = self._decided(msgspec.structs.replace(self._cluster, workloads=workloads))
            if self._spares(decided):
                yield self._spared(decided, Change.PRIORITY, pod=self._victim.key, priority=priority)
                return

    def _with_queue(self, **changes: Any) -> WorkloadVerdict:
        changed = msgspec.structs.replace(self._queue, **changes)
        queues: Mapping[str, Any] = {**self._cluster.queues, changed.name: changed}
        return self._decided(msgspec.structs.replace(self._cluster, queues=queues))

    def _decided(self, cluster: QuotaCluster) -> WorkloadVerdict:
        return cohort.decide(cluster, self._preemptor, self._strategies)

    def _spares(self, decided: WorkloadVerdict) -> bool:
        return all(target.workload.uid != self._victim.uid for target in decided.search.targets)

    def _named(self, of: FlavorResource) -> str:
        """Return the name of a resource, with its flavor if the queue has several flavors of it."""
        flavors = {flavor for flavor, resource in self._queue.quotas if resource == of[1]}
        return of[1] if len(flavors) <= 1 else f"{of[1]}{FLAVOR}{of[0]}"

    def _spared(self, decided: WorkloadVerdict, change: Change, **changed: Any) -> Counterfactual:
        victims = tuple(target.workload.key for target in decided.search.targets)
        return Counterfactual(then=Then.SPARED, change=change, victims=victims, spared=self._victim.key, **changed)
