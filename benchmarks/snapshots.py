"""How long the next snapshot takes after some pods changed, and the first decision on it."""

from random import Random

import msgspec

from benchmarks.figures import SEED, Row, figures, timed
from benchmarks.scenario_y import ASK, NOW_MS, cluster_y
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.policies import known_dialects, policy

CHANGED = (10, 100, 1_000)


def carried_on(scale: float, runs: int) -> list[Row]:
    """For every number of changed pods: the snapshot, and a decision by ``fence`` with all that it needs made first."""
    state, tree = cluster_y(scale)
    random, rows, now_ms = Random(SEED), [], NOW_MS
    _taken(state, tree, now_ms)
    for many in CHANGED:
        snapshots, firsts = [], []
        for _ in range(runs + 1):  # the first one gets warm
            change(state, many, random)
            now_ms += 1_000
            taken: list[Snapshot] = []
            snapshots.append(timed(lambda now_ms=now_ms, taken=taken: taken.append(_snapshot(state, tree, now_ms))))  # type: ignore[misc]
            firsts.append(timed(lambda taken=taken: _decide(taken[0], tree)))  # type: ignore[misc]
        rows += [figures(f"snapshot/Y-{many}", snapshots[1:]), figures(f"snapshot/Y-{many}-first", firsts[1:])]
    return rows


def change(state: ClusterState, many: int, random: Random) -> None:
    """A third is on its way out, a third is replaced by another, a third says something else of itself."""
    for number, uid in enumerate(random.sample([uid for uid in state.pods if uid != ASK], many)):
        pod = state.pods[uid]
        if number % 3 == 0:
            state.pods[uid] = msgspec.structs.replace(pod, terminating=True)
        elif number % 3 == 1:
            del state.pods[uid]
            state.pods[f"{uid}+"] = msgspec.structs.replace(pod, uid=f"{uid}+", name=f"{pod.name}+")
        else:
            state.pods[uid] = msgspec.structs.replace(pod, priority=pod.priority + 1)


def _taken(state: ClusterState, tree: QueueTree, now_ms: int) -> None:
    _decide(_snapshot(state, tree, now_ms), tree)


def _snapshot(state: ClusterState, tree: QueueTree, now_ms: int) -> Snapshot:
    return state.copy().snapshot(tree, now_ms=now_ms)


def _decide(snapshot: Snapshot, tree: QueueTree) -> None:
    policy("fence", known_dialects()["fence"][0])(snapshot, tree, snapshot.asks[0])
