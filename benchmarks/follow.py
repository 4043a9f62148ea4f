"""How fast a cluster is read, and how far behind the picture is while pods change: ``python -m benchmarks follow``.

Two processes: the feeder, whose CPU time and memory have figures of their own, and the follower, which is measured: a
ClusterWatcher in a process that has loaded what the engine's worker loads. It is one interpreter, so it uses one core
at most.
"""

import gc
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import Any

import psutil

from benchmarks.feeder import Feed, serve
from benchmarks.figures import SEED
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.runtime import tune_runtime
from engine.cluster.watching.tables import WatchedKind
from engine.cluster.watching.watcher import ClusterWatcher
from engine.model.objects import Pod
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Protection

Figures = dict[str, str | float | int]

NODES, PODS, RATE = 5_000, 150_000, 1_000
CLAIMS, NAMESPACES = 20_000, 1_000
_TENANTS, _TEAMS = 20, 100
_READY_S = 3_600.0


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is measured."""

    feed: Feed
    seconds: int
    """How long changes are followed, without passes and then, after a first snapshot, with a snapshot a second."""
    worker: bool
    """Whether the follower has loaded Django, Celery and the product first, as the engine's worker has."""
    streamed: bool
    """Whether the list comes as a stream."""
    feeder: int
    """The feeder's process."""
    core: int | None = None
    """The core that the follower keeps to; None: any."""


def follow(
    scale: float, rate: int, seconds: int, *, worker: bool, streamed: bool = False, pin: bool = False, seed: int = SEED
) -> Figures:
    """Figures of one run at ``scale`` times 5,000 nodes and 150,000 pods, ``rate`` changes of pods a second."""
    cores = sorted(os.sched_getaffinity(0))
    apart = pin and len(cores) > 1
    nodes, pods, claims, namespaces = (max(1, round(full * scale)) for full in (NODES, PODS, CLAIMS, NAMESPACES))
    still = {"claims": claims, "namespaces": namespaces}
    feed = Feed(nodes=nodes, pods=pods, rate=rate, seed=seed, core=cores[-1] if apart else None, **still)
    spawn = multiprocessing.get_context("spawn")
    ready, told = spawn.Pipe(duplex=False)
    feeder = spawn.Process(target=serve, args=(feed, told), daemon=True)
    feeder.start()
    try:
        if not ready.poll(_READY_S):
            raise TimeoutError("the feeder is not ready")
        port, size = ready.recv()
        course = Course(
            feed=feed,
            seconds=seconds,
            worker=worker,
            streamed=streamed,
            feeder=feeder.pid or 0,
            core=cores[0] if apart else None,
        )
        results, tell = spawn.Pipe(duplex=False)
        follower = spawn.Process(target=_measure, args=(course, port, tell), daemon=True)
        follower.start()
        tell.close()  # so that a follower that dies is told by EOFError
        return {"scenario": "follow", "nodes": nodes, "pods": pods, **still, "pod_bytes": size, **results.recv()}
    finally:
        feeder.kill()


class _Timed(ClusterWatcher):
    """Notes how long each stamped change took from being due at the server to standing in the picture."""

    lags_ms: list[int] = []

    def put(self, table: WatchedKind, key: Hashable, obj: Any) -> None:
        before = self._state.pods.get(str(key))
        super().put(table, key, obj)
        if isinstance(obj, Pod) and obj.started_ms and (before is None or before.started_ms != obj.started_ms):
            self.lags_ms.append(time.time_ns() // 1_000_000 - obj.started_ms)


def _measure(course: Course, port: int, tell: Pipe) -> None:
    if course.core is not None:
        os.sched_setaffinity(0, {course.core})
    if course.worker:
        load_worker()
    tune_runtime()
    before_mb = peak_mb()
    feeder = psutil.Process(course.feeder)
    watcher = _Timed(
        Connection(ConnectionSettings(address=f"http://127.0.0.1:{port}")),
        settings=ReflectorSettings(streamed=course.streamed),
    )
    began, began_cpu = time.perf_counter(), time.process_time()
    watcher.start()
    if not watcher.wait_synced(_READY_S):
        raise TimeoutError(f"not read: {watcher.health().errors}")
    figures: Figures = {
        "list_s": round(time.perf_counter() - began, 2),
        "list_cpu_s": round(time.process_time() - began_cpu, 2),
        "loaded_mb": before_mb,
        "list_peak_mb": peak_mb(),
        "feeder_list_cpu_s": round(_cpu_s(feeder), 2),
        "cores": os.cpu_count() or 1,
        "cores_used": "a core each" if course.core is not None else "any core",
    }
    figures |= _followed(watcher, course, feeder, "")
    figures |= _first_snapshot(watcher)
    figures |= _followed(watcher, course, feeder, "passes_")
    tell.send(
        {
            **figures,
            "peak_mb": peak_mb(),
            "feeder_mb": feeder.memory_info().rss // 2**20,
            "kept_pods": len(watcher.state().pods),
            "kept_claims": len(watcher.state().claims),
        }
    )
    os._exit(0)


def _snapshot(watcher: ClusterWatcher) -> None:
    watcher.snapshot(TREE, now_ms=time.time_ns() // 1_000_000, protection=Protection())


def _first_snapshot(watcher: _Timed) -> Figures:
    """How long the first snapshot takes, which sorts all pods, and how late changes are meanwhile."""
    watcher.lags_ms = []
    began, began_cpu = time.perf_counter(), time.process_time()
    _snapshot(watcher)
    return {
        "first_snapshot_s": round(time.perf_counter() - began, 2),
        "first_snapshot_cpu_s": round(time.process_time() - began_cpu, 2),
        "first_snapshot_lag_max_ms": max(watcher.lags_ms, default=0),
    }


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _followed(watcher: _Timed, course: Course, feeder: psutil.Process, name: str) -> Figures:
    """Lag and cost over some seconds; with ``passes_`` while a snapshot is taken each second."""
    watcher.lags_ms = []
    began, began_cpu, began_feeder = time.perf_counter(), time.process_time(), _cpu_s(feeder)
    took = []
    end = began + course.seconds
    pause = threading.Event()
    while (now := time.perf_counter()) < end:
        if name:
            _snapshot(watcher)
            took.append(time.perf_counter() - now)
        pause.wait(min(end, now + 1.0) - time.perf_counter())
    lags = sorted(watcher.lags_ms)
    spent = time.perf_counter() - began
    figures: Figures = {
        f"{name}lag_p50_ms": lags[len(lags) // 2],
        f"{name}lag_p99_ms": lags[len(lags) * 99 // 100],
        f"{name}lag_max_ms": lags[-1],
        f"{name}stamped_per_s": round(len(lags) / spent),
        f"{name}cpu_percent": round(100 * (time.process_time() - began_cpu) / spent),
        f"{name}feeder_cpu_percent": round(100 * (_cpu_s(feeder) - began_feeder) / spent),
    }
    if took:
        figures["snapshot_median_ms"] = round(1000 * sorted(took)[len(took) // 2])
        figures["snapshot_max_ms"] = round(1000 * max(took))
    return figures


def load_worker() -> None:
    """Load what the engine's worker loads."""
    os.environ.setdefault("SECRET_KEY", "only-for-measuring")
    os.environ.setdefault("INSECURE_HTTP", "1")
    import scheduler_admin.celery  # noqa: PLC0415 - only where the worker is measured

    scheduler_admin.celery.app.loader.import_default_modules()
    gc.collect()


def peak_mb() -> int:
    """The most memory that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _tree() -> QueueTree:
    """The tree that the pods' queue labels name, to take snapshots under."""
    teams = {f"root.tenant-{team % _TENANTS}.team-{team}" for team in range(_TEAMS)}
    above = {path.rpartition(".")[0] for path in teams}
    return QueueTree(Queue(path=path) for path in sorted({"root"} | above | teams))


TREE = _tree()
