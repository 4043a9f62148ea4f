"""What only the worker that runs passes knows of them: counted in its memory since it started.

The database can't tell: it keeps no row of a quiet pass, and drops rows that are past their time.
"""

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from engine.cluster.watching.supervised import failures

REGISTRY = CollectorRegistry()
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client keeps counts that several processes share, if it is set before its first import."""
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Ended(StrEnum):
    """How a pass ended."""

    DONE = "done"
    UNREADABLE = "unreadable"
    """The cluster can't be read, or not by now."""
    FAILED = "failed"
    """The worker's log has the reason."""
    SKIPPED = "skipped"
    """Another pass was at it, or another worker has the cluster, or it has no tree."""


PASSES = Histogram(
    "scheduler_admin_pass_duration_seconds",
    "Duration of passes by result.",
    ["cluster", "result"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
DECISIONS = Counter(
    "scheduler_admin_decisions",
    "New decisions of the engine by policy and outcome; a repeated decision is not counted again.",
    ["cluster", "policy", "outcome"],
    registry=REGISTRY,
)
OBSERVED = Counter(
    "scheduler_admin_observed_decisions",
    "New preemptions by other schedulers, and other evictions, by source.",
    ["cluster", "source"],
    registry=REGISTRY,
)
ENDINGS = Counter(
    "scheduler_admin_decisions_ended",
    "Decisions that were carried out or rejected by a safety check, by result.",
    ["cluster", "ending"],
    registry=REGISTRY,
)
EVICTIONS = Counter(
    "scheduler_admin_evictions",
    "Eviction requests by result; every attempt counts.",
    ["cluster", "result"],
    registry=REGISTRY,
)
IN_VAIN = Counter(
    "scheduler_admin_evictions_in_vain",
    "Evicted pods whose decision ended without the pending pod or group bound to the nodes that were freed.",
    ["cluster"],
    registry=REGISTRY,
)


LOOPS = Counter(
    "scheduler_admin_preemption_loops",
    "Reported preemption loops; each counts once a day while it lasts.",
    ["cluster"],
    registry=REGISTRY,
)


TASKS = Histogram(
    "scheduler_admin_task_duration_seconds",
    "Duration of Celery tasks by result.",
    ["task", "result"],
    buckets=_SECONDS,
    registry=REGISTRY,
)


class _Threads(Collector):
    """Reads the count that the threads themselves keep."""

    def collect(self) -> Iterator[Metric]:
        """Yield one metric."""
        found = CounterMetricFamily(
            "scheduler_admin_thread_failures",
            "Unexpected failures of background threads; each thread was restarted.",
            labels=["thread"],
        )
        for name, times in failures().items():
            found.add_metric([name], times)
        yield found


THREADS = _Threads()
REGISTRY.register(THREADS)


def worker_registry() -> CollectorRegistry:
    """Return what a worker serves: counts of all processes that it forks, and of its own threads."""
    if FOLDER_VARIABLE not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(THREADS)
    return registry


def register_counted(registry: CollectorRegistry, *own: Collector) -> None:
    """Let a registry read what is counted: by all processes that share a folder, or else by this one (``own``)."""
    if FOLDER_VARIABLE in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return
    for collector in own:
        registry.register(collector)


def count_observed(cluster: str, sources: Iterable[str]) -> None:
    """Count new decisions of others, each by its source; called once they are stored."""
    for source in sources:
        OBSERVED.labels(cluster, source).inc()


def count_begun(cluster: str, begun: Iterable[tuple[str, str, str]]) -> None:
    """Count new decisions, each by policy, outcome and, if it ended at once, ending; called once they are stored."""
    for policy, outcome, ending in begun:
        DECISIONS.labels(cluster, policy, outcome).inc()
        if ending:
            ENDINGS.labels(cluster, ending).inc()
