"""How long a side of a comparison takes: a day of 500 pods on 25 nodes, a thousand entries of the journal."""

import time
from collections.abc import Iterator
from random import Random

import msgspec

from benchmarks.figures import SEED, Row
from engine.model.objects import Node, Pod
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.comparison import ComparedSide, record, rerun_recording
from engine.planning.journal import PassInputs
from engine.policies import audit_terms, foreign_dialects, known_dialects, policy

ENTRIES, PODS, LEAVES, NODES = 1_000, 500, 10, 25
_DAY_MS = 24 * 60 * 60 * 1_000
_ROOM = PODS // NODES - 1  # a little less than all want: some always wait
_GIB = 2**30


def compare(scale: float) -> list[Row]:
    """Seconds of reading the record, then of every side."""
    entries, tree = max(2, round(ENTRIES * scale)), _tree()
    began = time.process_time()
    recording = record(_frames(entries), tree, since_ms=_DAY_MS, until_ms=2 * _DAY_MS, evicted={})
    rows: list[Row] = [{"what": "the record", "seconds": round(time.process_time() - began, 1)}]
    for name, dialects in known_dialects().items():
        for dialect in dialects:
            side = ComparedSide(
                tree=tree,
                decide=policy(name, dialect),
                terms=audit_terms(name, dialect, {}),
                foreign=dialect in foreign_dialects(),
            )
            began = time.process_time()
            found = rerun_recording(recording, side)
            seconds = round(time.process_time() - began, 1)
            rows.append({"what": f"{name} {dialect}", "seconds": seconds, "preempted": found.preempted})
    return rows


def _tree() -> QueueTree:
    guaranteed = {"cpu": 1_000 * NODES * _ROOM // LEAVES, "memory": _GIB * NODES * _ROOM // LEAVES}
    leaves = [Queue(path=f"root.q{number}", guaranteed=guaranteed) for number in range(LEAVES)]
    return QueueTree([Queue(path="root"), *leaves])


def _frames(entries: int) -> Iterator[tuple[ClusterState, PassInputs]]:
    """In every entry a twentieth of the pods finish, as many others come, and those that waited take their room."""
    random, state = Random(SEED), ClusterState()
    room = {"cpu": 1_000 * _ROOM, "memory": _GIB * _ROOM, "pods": 110}
    state.nodes = {f"n{number}": Node(name=f"n{number}", allocatable=room) for number in range(NODES)}
    requests, count = {"cpu": 1_000, "memory": _GIB, "pods": 1}, 0
    for entry in range(entries):
        now_ms = _DAY_MS + entry * _DAY_MS // entries
        for uid in [uid for uid, pod in state.pods.items() if pod.finished]:
            del state.pods[uid]
        bound = [pod for pod in state.pods.values() if pod.node is not None]
        for pod in random.sample(bound, len(bound) // 20):
            state.pods[pod.uid] = msgspec.structs.replace(pod, finished=True)
        _bind(state, now_ms)
        while len(state.pods) < PODS:
            leaf, count = int(random.triangular(0, LEAVES, 0)), count + 1
            state.pods[f"uid-{count}"] = Pod(
                uid=f"uid-{count}",
                namespace="ns",
                name=f"p{count}",
                requests=requests,
                queue_label=f"root.q{leaf}",
                controller=f"Job/j{count}",
                priority=random.choice((0, 0, 10)),
                created_ms=now_ms,
                unschedulable_ms=now_ms,
            )
        yield state, PassInputs(now_ms=now_ms)


def _bind(state: ClusterState, now_ms: int) -> None:
    free = [node for node in state.nodes for _ in range(_ROOM)]
    for pod in state.pods.values():
        if pod.node is not None and not pod.finished:
            free.remove(pod.node)
    for pod in [pod for pod in state.pods.values() if pod.node is None][: len(free)]:
        state.pods[pod.uid] = msgspec.structs.replace(pod, node=free.pop(), started_ms=now_ms)
