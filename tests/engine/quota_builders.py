"""Small clusters of queues with quota of one flavor, for tests that read as sentences."""

from fractions import Fraction
from typing import Any

from engine.model.quota import (
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorQuota,
    PodSet,
    Preemption,
    QuotaCluster,
    ResourceGroup,
    Take,
    Workload,
)

FLAVOR = "default"
ANYBODY = Preemption(within=Take.LOWER_PRIORITY, reclaim=Take.ANY)


def quotas(**nominal: int | FlavorQuota) -> dict[tuple[str, str], FlavorQuota]:
    """Of the one flavor, by resource."""
    return {(FLAVOR, name): one if isinstance(one, FlavorQuota) else FlavorQuota(one) for name, one in nominal.items()}


def queue(name: str, cohort: str = "all", *, weight: int = 1, preemption: Preemption = ANYBODY, active: bool = True,
          **nominal: int | FlavorQuota) -> ClusterQueue:  # fmt: skip
    """With these quotas."""
    return ClusterQueue(
        name=name,
        cohort=cohort,
        quotas=quotas(**nominal),
        groups=(ResourceGroup(tuple(nominal), (FLAVOR,)),),
        preemption=preemption,
        weight=Fraction(weight),
        active=active,
    )


def holds(name: str, of: str, priority: int = 0, **usage: int) -> Workload:
    """A workload that holds quota of a queue."""
    held = {(FLAVOR, resource): amount for resource, amount in usage.items()}
    return Workload(uid=name, namespace="n", name=name, queue=of, priority=priority, usage=held, holds=True)


def waits(of: str, count: int = 1, least: int | None = None, priority: int = 5, **requests: int) -> Workload:
    """A workload of so many pods that waits in a queue."""
    one = PodSet(name="main", count=count, least=least, requests=requests)
    return Workload(uid="ask", namespace="n", name="ask", queue=of, priority=priority, pod_sets=(one,))


def cluster(*parts: Any) -> QuotaCluster:
    """Of queues, cohorts and workloads."""
    return QuotaCluster(
        flavors={FLAVOR: Flavor(name=FLAVOR)},
        queues={one.name: one for one in parts if isinstance(one, ClusterQueue)},
        cohorts={one.name: one for one in parts if isinstance(one, Cohort)},
        workloads=tuple(one for one in parts if isinstance(one, Workload)),
        now_ms=0,
    )
