"""How long one decision takes on a warm snapshot, trace included: ``python -m benchmarks decide``."""

import statistics
import time
from collections.abc import Callable

import msgspec

from benchmarks.scenario_k import scenario_k
from benchmarks.scenario_p import scenario_p
from benchmarks.scenario_y import scenario_y, waiting_y
from engine.cluster.runtime import suit_a_cluster
from engine.planning import plan
from engine.policies import DIALECTS, cohort, policy
from engine.queues import QueueTree
from engine.quota import QuotaCluster, Workload
from engine.snapshot import Pod, Snapshot

Scene = tuple[Snapshot, QueueTree, Pod]
Row = dict[str, str | float | int]


def decide(scale: float, runs: int) -> list[Row]:
    """A row of figures for every scenario at ``scale`` times its full size, in a process like the engine's worker."""
    suit_a_cluster()
    return [
        _row("priority/P", runs, scenario_p(scale)),
        _row("priority/P-pdb", runs, scenario_p(scale, budgets=True)),
        _row("priority/P-affinity", runs, scenario_p(scale, rules=True)),
        _row("fence/Y", runs, scenario_y(scale, priority=100)),
        _row("fence/Y-none", runs, scenario_y(scale, priority=-1000)),
        _pass("fence/Y-pass", runs, *waiting_y(scale)),
        _row("fence/Y-yunikorn", runs, scenario_y(scale, priority=100), "yunikorn"),
        _row("fence/Y-yunikorn-none", runs, scenario_y(scale, priority=-1000), "yunikorn"),
        *_by_quota("K-small", runs, *scenario_k(scale)),
        *_by_quota("K-quarter", runs, *scenario_k(scale, quarter=True)),
    ]


def _row(scenario: str, runs: int, scene: Scene, dialect: str = "") -> Row:
    snapshot, tree, ask = scene
    name = scenario.partition("/")[0]
    decide = policy(name, dialect or DIALECTS[name][0])
    decide(snapshot, tree, ask)  # warm
    # No two asks alike: what a pass keeps for the next ask of the same shape is of no use here.
    asks = [msgspec.structs.replace(ask, labels={**ask.labels, "run": str(run)}) for run in range(runs)]
    return _figures(scenario, [_timed(lambda one=one: decide(snapshot, tree, one)) for one in asks])  # type: ignore[misc]


def _by_quota(scenario: str, runs: int, cluster: QuotaCluster, ask: Workload) -> list[Row]:
    """By both of Kueue's policies, which know no nodes."""
    rows = []
    for name, strategies in ((cohort.POLICY, None), (cohort.FAIR_SHARE, cohort.STRATEGIES)):
        cohort.decide(cluster, ask, strategies)  # warm
        times = [_timed(lambda how=strategies: cohort.decide(cluster, ask, how)) for _ in range(runs)]  # type: ignore[misc]
        rows.append(_figures(f"{name}/{scenario}", times))
    return rows


def _pass(scenario: str, runs: int, snapshot: Snapshot, tree: QueueTree) -> Row:
    """A whole pass with its audit, every ask on what the former left; of the passes before it nothing is kept."""
    name = scenario.partition("/")[0]
    decide = policy(name, DIALECTS[name][0])
    other = msgspec.structs.replace(snapshot.asks[0], labels={"of": "no shape of the pass"})
    times = []
    for _ in range(runs):
        anew = msgspec.structs.replace(snapshot)
        decide(anew, tree, other)  # warm
        times.append(_timed(lambda anew=anew: plan(anew, tree, decide)))  # type: ignore[misc]
    return _figures(scenario, times)


def _figures(scenario: str, times: list[float]) -> Row:
    return {
        "scenario": scenario,
        "median_ms": round(statistics.median(times), 2),
        "min_ms": round(min(times), 2),
        "max_ms": round(max(times), 2),
        "runs": len(times),
    }


def _timed(work: Callable[[], object]) -> float:
    """Milliseconds of wall time."""
    began = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began) / 1e6
