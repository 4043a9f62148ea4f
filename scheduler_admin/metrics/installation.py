"""Metrics of the installation: its version, and the tasks that no worker has taken yet."""

from collections.abc import Iterable, Iterator

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis import RedisError

from scheduler_admin.core.monitoring.broker import broker_client
from scheduler_admin.core.monitoring.release import version

_QUEUES = ("engine", "housekeeping", "comparisons")


class Installation(Collector):
    """Asks Redis at every scrape. Without an answer there is no sample of the queues."""

    def collect(self) -> Iterable[Metric]:
        """Yield every family."""
        build = GaugeMetricFamily(
            "scheduler_admin_build_info", "Always 1; the labels name the release.", labels=["version", "revision"]
        )
        build.add_metric([version(), settings.REVISION], 1)
        yield build
        waiting = GaugeMetricFamily("scheduler_admin_tasks_waiting", "Tasks that no worker took yet.", labels=["queue"])
        for queue, length in _lengths():
            waiting.add_metric([queue], length)
        yield waiting


def _lengths() -> Iterator[tuple[str, int]]:
    try:
        for queue in _QUEUES:
            yield queue, int(broker_client().llen(queue))
    except (RedisError, OSError):
        return
