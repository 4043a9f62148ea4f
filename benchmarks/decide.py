"""How long one decision takes on a warm snapshot, trace included: ``python -m benchmarks decide``."""

import time
from collections.abc import Iterator
from functools import partial

import msgspec

from benchmarks.figures import Row, figures, timed
from benchmarks.scenario_d import scenario_d
from benchmarks.scenario_g import scenario_g, under_queues, under_shares
from benchmarks.scenario_k import scenario_k
from benchmarks.scenario_p import scenario_p
from benchmarks.scenario_y import scenario_y, waiting_y
from benchmarks.snapshots import carried_on
from engine.audit import Auditor
from engine.cluster.watching.runtime import tune_runtime
from engine.model.decision import Decision, apply_decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.quota import QuotaCluster, Workload
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import plan
from engine.policies import Decide, cohort, deserved, known_dialects, policy
from engine.policies.priority.groups import decide_group

Scene = tuple[Snapshot, QueueTree, Pod]


def decide(scale: float, runs: int) -> Iterator[Row]:
    """Yield a row of figures for every scenario at ``scale`` times its full size, in a process like a worker's."""
    tune_runtime()
    yield from carried_on(scale, runs)
    yield _row("priority/P", runs, scenario_p(scale))
    yield _row("priority/P-pdb", runs, scenario_p(scale, budgets=True))
    yield _row("priority/P-affinity", runs, scenario_p(scale, rules=True))
    yield from _groups(scale, runs)
    yield from _gangs(scale, runs)
    yield _row("fence/Y", runs, scenario_y(scale, priority=100))
    yield _row("fence/Y-none", runs, scenario_y(scale, priority=-1000))
    yield from _pass("fence/Y-pass", runs, *waiting_y(scale))
    yield _row("fence/Y-yunikorn", runs, scenario_y(scale, priority=100), "yunikorn")
    yield _row("fence/Y-yunikorn-none", runs, scenario_y(scale, priority=-1000), "yunikorn")
    yield from _by_quota("K-small", runs, *scenario_k(scale))
    yield from _by_quota("K-quarter", runs, *scenario_k(scale, quarter=True))
    yield from _by_deserved("D", runs, *scenario_d(scale))


def _row(scenario: str, runs: int, scene: Scene, dialect: str = "") -> Row:
    snapshot, tree, ask = scene
    name = scenario.partition("/")[0]
    decide = policy(name, dialect or known_dialects()[name][0])
    decide(snapshot, tree, ask)  # warm
    times = []
    for run in range(runs):
        # No two asks alike: what a pass keeps for the next ask of the same shape is of no use here.
        one = msgspec.structs.replace(ask, labels={**ask.labels, "run": str(run)})
        _forget(snapshot, tree)
        times.append(timed(partial(decide, snapshot, tree, one)))
    return figures(scenario, times)


def _forget(snapshot: Snapshot, tree: QueueTree) -> None:
    """Forget the victims that ``fence`` selected: asks that request the same would share them."""
    snapshot.once("fence victims", tree, dict[object, object]).clear()


def _groups(scale: float, runs: int) -> Iterator[Row]:
    """By kube-scheduler 1.37's dialect, for gangs of three sizes, all of whose pods need others gone."""
    for members in (8, 64, 256):
        snapshot, gang = scenario_g(scale, members)
        decide_group(snapshot, gang)  # warm
        times = [timed(partial(decide_group, snapshot, gang)) for _ in range(runs)]
        yield figures(f"priority/G-{members}", times)


def _gangs(scale: float, runs: int) -> Iterator[Row]:
    """The same gangs under queues, by ``fence`` and ``deserved``; of a gang's search nothing is kept for the next."""
    for name, make in (("fence", under_queues), ("deserved", under_shares)):
        decide = policy(name, known_dialects()[name][0])
        for members in (8, 64, 256):
            scene = make(scale, members)
            decide(*scene)  # warm
            times = []
            for _ in range(runs):
                _forget(*scene[:2])
                times.append(timed(partial(decide, *scene)))
            yield figures(f"{name}/G-{members}", times)


def _by_quota(scenario: str, runs: int, cluster: QuotaCluster, ask: Workload) -> Iterator[Row]:
    """By both of Kueue's policies, which know no nodes."""
    for name, strategies in ((cohort.POLICY, None), (cohort.FAIR_SHARE, cohort.STRATEGIES)):
        cohort.decide(cluster, ask, strategies)  # warm
        times = [timed(lambda how=strategies: cohort.decide(cluster, ask, how)) for _ in range(runs)]  # type: ignore[misc]
        yield figures(f"{name}/{scenario}", times)


def _by_deserved(scenario: str, runs: int, snapshot: Snapshot, tree: QueueTree) -> Iterator[Row]:
    """What all deserve, by both methods, then who gives back for one that waits, and for all of them in turn."""
    for method in deserved.Method:
        times = []
        for run in range(runs + 1):  # the first one gets warm; the capacity is never the one before
            there = deserved.share_index_of(snapshot, tree)
            capacity = {name: amount - run for name, amount in there.capacity.items()}
            work = partial(deserved.deserved, tree, there.requests, capacity, method)
            times.append(timed(work))
        yield figures(f"deserved/{scenario}-{method}", times[1:])
    deserved.decide(snapshot, tree, snapshot.asks[0])
    asks = [msgspec.structs.replace(snapshot.asks[0], labels={"run": str(run)}) for run in range(runs)]
    yield figures(f"reclaim/{scenario}", [timed(partial(deserved.decide, snapshot, tree, ask)) for ask in asks])
    yield figures(f"reclaim/{scenario}-all", [timed(partial(_all, snapshot, tree))])
    whole, decided = _split(snapshot, tree, deserved.decide)
    yield from _parts(f"reclaim/{scenario}-pass", [whole], [decided])


def _all(snapshot: Snapshot, tree: QueueTree) -> None:
    """Decide for all that wait, each on what the former left, without an audit."""
    for ask in sorted(snapshot.asks, key=lambda ask: ask.turn):
        snapshot = apply_decision(snapshot, deserved.decide(snapshot, tree, ask))


def _pass(scenario: str, runs: int, snapshot: Snapshot, tree: QueueTree) -> list[Row]:
    """A whole pass with its audit, every ask on what the former left; of the passes before it nothing is kept."""
    name = scenario.partition("/")[0]
    decide = policy(name, known_dialects()[name][0])
    other = msgspec.structs.replace(snapshot.asks[0], labels={"of": "no shape of the pass"})
    wholes, decisions = [], []
    for _ in range(runs):
        anew = msgspec.structs.replace(snapshot)
        Auditor(anew, tree).judge(decide(anew, tree, other))  # warm
        whole, decided = _split(anew, tree, decide)
        wholes.append(whole)
        decisions.append(decided)
    return _parts(scenario, wholes, decisions)


def _split(snapshot: Snapshot, tree: QueueTree, decide: Decide) -> tuple[float, float]:
    """Milliseconds of CPU time that a pass takes, and of it those that its decisions take."""
    decided_ns = 0

    def timed_too(at: Snapshot, under: QueueTree, ask: Pod) -> Decision:
        nonlocal decided_ns
        began = time.thread_time_ns()
        decision = decide(at, under, ask)
        decided_ns += time.thread_time_ns() - began
        return decision

    began = time.thread_time_ns()
    plan(snapshot, tree, timed_too)
    return (time.thread_time_ns() - began) / 1e6, decided_ns / 1e6


def _parts(scenario: str, wholes: list[float], decisions: list[float]) -> list[Row]:
    """The pass, its decisions, and the rest: the audit, and what the next ask finds."""
    rest = [whole - decided for whole, decided in zip(wholes, decisions, strict=True)]
    named = {"": wholes, "-decided": decisions, "-audited": rest}
    return [figures(f"{scenario}{part}", times) for part, times in named.items()]
