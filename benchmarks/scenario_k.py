"""Scenario K: queues of equal size in one flat cohort, with all of its quota in use, and one ask."""

from engine.model.quantities import parse_amounts
from engine.model.quota import (
    ClusterQueue,
    Flavor,
    FlavorQuota,
    FlavorResource,
    PodSet,
    Preemption,
    QuotaCluster,
    ResourceGroup,
    Take,
    Workload,
)

NOW_MS = 1_767_268_800_000
QUEUES, WORKLOADS = 1_000, 100_000
_CPU: FlavorResource = ("default", "cpu")
_MILLI = 1_000
_EACH = {_CPU: _MILLI}
"""What a workload holds, made once."""


def scenario_k(scale: float, *, quarter: bool = False) -> tuple[QuotaCluster, Workload]:
    """A cluster and its ask at ``scale`` times 1,000 queues and 100,000 workloads.

    The ask needs a few cores of its own quota back from queues that borrow one each; with ``quarter`` a quarter of all
    there is, which all the others borrow.
    """
    queues, workloads = max(2, round(QUEUES * scale)), round(WORKLOADS * scale)
    per = workloads // queues
    own = 0 if quarter else per // 2
    nominal = [per * _MILLI] * queues
    if quarter:
        nominal = [workloads // 4 * _MILLI, *[750 * workloads // (queues - 1)] * (queues - 1)]
    cores = workloads // 4 if quarter else min(8, per // 4)
    ask = Workload(
        uid="ask",
        namespace="n",
        name="ask",
        queue=_name(0),
        priority=30,
        created_ms=NOW_MS - 60_000,
        pod_sets=(PodSet(name="main", count=1, requests=parse_amounts({"cpu": str(cores)})),),
    )
    holding = [_holder(number, 0 if number < own else 1 + (number - own) % (queues - 1)) for number in range(workloads)]
    cluster = QuotaCluster(
        flavors={"default": Flavor(name="default")},
        queues={_name(number): _queue(number, amount) for number, amount in enumerate(nominal)},
        cohorts={},
        workloads=(*holding, ask),
        now_ms=NOW_MS,
    )
    return cluster, ask


def _name(number: int) -> str:
    return f"cq-{number}"


def _queue(number: int, nominal: int) -> ClusterQueue:
    return ClusterQueue(
        name=_name(number),
        cohort="all",
        quotas={_CPU: FlavorQuota(nominal)},
        groups=(ResourceGroup(("cpu",), ("default",)),),
        preemption=Preemption(within=Take.LOWER_PRIORITY, reclaim=Take.ANY),
    )


def _holder(number: int, queue: int) -> Workload:
    created_ms = NOW_MS - (number % 5_000 + 100) * 1_000
    return Workload(
        uid=f"uid-{number:06}",
        namespace="n",
        name=f"w-{number}",
        queue=_name(queue),
        priority=number % 7 * 10,
        created_ms=created_ms,
        reserved_ms=NOW_MS - (number * 7_919 % 90_000 + 60) * 1_000,
        usage=_EACH,
        holds=True,
    )
