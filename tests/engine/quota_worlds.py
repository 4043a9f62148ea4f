"""Random cohorts, queues and workloads, small enough to look at."""

import random
from fractions import Fraction

import msgspec
from hypothesis import strategies as st

from engine.model.quota import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorQuota,
    FlavorResource,
    Fungibility,
    PodSet,
    Preemption,
    QuotaCluster,
    ResourceGroup,
    Take,
    Workload,
)
from engine.policies.cohort import STRATEGIES, Strategy

NOW_MS = 1_000_000
FLAVORS, RESOURCES = ("f0", "f1"), ("cpu", "memory")
RECLAIMS = (Take.ANY, Take.LOWER_PRIORITY, Take.NEVER)
WITHINS = (Take.LOWER_OR_NEWER_EQUAL_PRIORITY, Take.LOWER_PRIORITY, Take.NEVER)
FAIR: list[tuple[Strategy, ...] | None] = [None, STRATEGIES, STRATEGIES[:1], STRATEGIES[1:]]

_limits = st.sampled_from([None, None, None, 0, 2, 4])
_quota = st.builds(FlavorQuota, st.integers(2, 6), _limits, _limits)
_weights = st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(0)])


@st.composite
def _quotas(draw: st.DrawFn, every: bool) -> dict[FlavorResource, FlavorQuota]:
    slots = [(flavor, resource) for flavor in FLAVORS for resource in RESOURCES]
    return {of: draw(_quota) for of in slots if every or draw(st.booleans())}


@st.composite
def _cohorts(draw: st.DrawFn) -> dict[str, Cohort]:
    """The root ``c0`` and others below it."""
    count = draw(st.integers(1, 4))
    parents = ["", *(f"c{draw(st.integers(0, number - 1))}" for number in range(1, count))]
    return {
        f"c{number}": Cohort(name=f"c{number}", parent=parent, quotas=draw(_quotas(every=False)), weight=draw(_weights))
        for number, parent in enumerate(parents)
    }


_preemption = st.builds(
    Preemption,
    within=st.sampled_from(WITHINS),
    reclaim=st.sampled_from(RECLAIMS),
    borrow=st.builds(BorrowWithinCohort, st.booleans(), st.none() | st.integers(0, 3)),
)
_fungibility = st.builds(
    Fungibility,
    next_before_borrowing=st.booleans(),
    next_before_preempting=st.booleans(),
    preemption_over_borrowing=st.booleans(),
)


@st.composite
def _queue(draw: st.DrawFn, name: str, cohorts: list[str]) -> ClusterQueue:
    return ClusterQueue(
        name=name,
        cohort=draw(st.sampled_from(["", *cohorts, *cohorts, *cohorts])),
        quotas=draw(_quotas(every=True)),
        groups=(ResourceGroup(RESOURCES, draw(st.sampled_from([FLAVORS[:1], FLAVORS, FLAVORS[::-1]]))),),
        preemption=draw(_preemption),
        fungibility=draw(_fungibility),
        weight=draw(_weights),
        active=draw(st.sampled_from([True, True, True, False])),
    )


@st.composite
def _holder(draw: st.DrawFn, number: int, queues: list[str]) -> Workload:
    slots = [(draw(st.sampled_from(["f0", *FLAVORS])), resource) for resource in RESOURCES]
    return Workload(
        uid=f"u{number}",
        namespace="n",
        name=f"w{number}",
        queue=draw(st.sampled_from(queues)),
        priority=draw(st.integers(0, 3)),
        created_ms=draw(st.integers(0, 5)),
        evicted=draw(st.sampled_from([False, False, False, True])),
        reserved_ms=draw(st.none() | st.integers(0, 5)),
        usage={of: draw(st.integers(0, 4)) for of in slots},
        holds=True,
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[QuotaCluster, Workload]:
    """A cluster, and a workload that waits in a queue of it."""
    cohorts = draw(_cohorts())
    names = [f"q{number}" for number in range(draw(st.integers(1, 5)))]
    queues = {name: draw(_queue(name, sorted(cohorts))) for name in names}
    holders = [draw(_holder(number, names)) for number in range(draw(st.integers(4, 12)))]
    sets = [
        PodSet(
            name=f"s{number}",
            count=(count := draw(st.integers(1, 3))),
            least=draw(st.none() | st.integers(1, count)),
            requests={resource: draw(st.integers(1, 3)) for resource in RESOURCES},
        )
        for number in range(draw(st.sampled_from([1, 1, 2])))
    ]
    active = [name for name in names if queues[name].active] or names
    ask = Workload(
        uid="ask",
        namespace="n",
        name="ask",
        queue=draw(st.sampled_from(active)),
        priority=draw(st.integers(1, 4)),
        created_ms=draw(st.integers(0, 5)),
        pod_sets=tuple(sets),
    )
    cluster = QuotaCluster(
        flavors={name: Flavor(name=name) for name in FLAVORS},
        queues=queues,
        cohorts=cohorts,
        workloads=(*holders, ask),
        now_ms=NOW_MS,
    )
    return cluster, ask


@st.composite
def crowds(draw: st.DrawFn) -> tuple[QuotaCluster, Workload]:
    """Far more in use than there is, by many workloads of few sizes: of those many have to go, and some come back.

    The ask's own queue uses little or nothing.
    """
    cluster, ask = draw(worlds())
    dice = random.Random(draw(st.integers(0, 1 << 32)))
    takes = (Take.ANY, Take.ANY, Take.LOWER_PRIORITY, Take.LOWER_OR_NEWER_EQUAL_PRIORITY)
    queues = {
        name: msgspec.structs.replace(
            one,
            preemption=msgspec.structs.replace(one.preemption, within=dice.choice(takes), reclaim=dice.choice(takes)),
        )
        for name, one in cluster.queues.items()
    }
    sizes = [{(flavor, name): dice.randint(0, 3) for name in RESOURCES} for flavor in ("f0", *FLAVORS)]
    others = sorted(queues.keys() - {ask.queue}) or [ask.queue]
    crowd = [_one_of_many(dice, number, dice.choice(others), sizes) for number in range(dice.randint(10, 60))]
    crowd += [_one_of_many(dice, 100 + number, ask.queue, [{("f0", "cpu"): 1}]) for number in range(dice.randint(0, 3))]
    return msgspec.structs.replace(cluster, queues=queues, workloads=(*crowd, ask)), ask


def _one_of_many(dice: random.Random, number: int, queue: str, sizes: list[dict[FlavorResource, int]]) -> Workload:
    return Workload(
        uid=f"u{number}",
        namespace="n",
        name=f"w{number}",
        queue=queue,
        priority=dice.randint(0, 3),
        created_ms=dice.randint(0, 5),
        evicted=dice.random() < 0.1,
        reserved_ms=dice.choice([None, 1, 2, 3]),
        spared=dice.random() < 0.1,
        usage=dice.choice(sizes),
        holds=True,
    )
