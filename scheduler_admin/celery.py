"""The Celery app: `celery -A scheduler_admin.celery worker -Q engine -P threads`, and beat."""

import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from celery import Celery, bootsteps
from celery.concurrency import get_implementation
from celery.signals import task_postrun, task_prerun, worker_init, worker_process_init
from kombu.transport.redis import Channel

from engine.cluster.watching.runtime import tune_runtime
from scheduler_admin.core.monitoring.logs import start_logging_with
from scheduler_admin.core.monitoring.tracing import start_tracing

log = logging.getLogger(__name__)
HEARTBEAT_S = 10.0

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
if os.environ.get("METRICS_LISTEN"):  # the processes that a worker forks count where it reads
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", tempfile.mkdtemp(prefix="scheduler-admin-metrics-"))
app = Celery("scheduler_admin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks([f"scheduler_admin.{name}" for name in ("sync", "notifications", "worker", "comparisons")])
# Nothing that Celery carries must outlive a connection. Were it put back into a Redis that has just gone, the worker
# would end instead of connecting again.
Channel.do_restore = False


class Watching(bootsteps.StartStopStep):
    """A worker that runs passes has a queue of its own, and in its memory the watches of its clusters."""

    requires = ("celery.worker.components:Pool",)

    def include_if(self, parent: Any) -> bool:
        """Only where the queue ``engine`` is consumed."""
        return "engine" in parent.app.amqp.queues.consume_from

    def start(self, parent: Any) -> None:
        """Consume its own queue, too, and take part in sharing clusters out; passes open their watches."""
        from scheduler_admin.clusters.watching.ownership import own_queue  # noqa: PLC0415 - models load after the app
        from scheduler_admin.clusters.watching.sharing import Sharing  # noqa: PLC0415
        from scheduler_admin.clusters.watching.watchers import OWNER  # noqa: PLC0415

        tune_runtime()
        parent.app.amqp.queues.select_add(own_queue(OWNER), auto_delete=True)
        self._sharing = Sharing()
        self._sharing.start()

    def stop(self, parent: Any) -> None:
        """End the watches, and give the clusters back."""
        del parent
        self._sharing.stop()


class Metrics(bootsteps.StartStopStep):
    """Serves what the processes of a worker have counted, if METRICS_LISTEN says so."""

    requires = ("celery.worker.components:Pool",)

    def include_if(self, parent: Any) -> bool:
        """Include the step if somebody may read the metrics."""
        from django.conf import settings  # noqa: PLC0415 - not before the app is there

        del parent
        return settings.METRICS_LISTEN is not None

    def start(self, parent: Any) -> None:
        """Listen, in a thread of its own."""
        from django.conf import settings  # noqa: PLC0415

        from scheduler_admin.core.monitoring.meters import worker_registry  # noqa: PLC0415
        from scheduler_admin.metrics.serving import serve  # noqa: PLC0415

        assert settings.METRICS_LISTEN is not None
        parent.metrics = serve(*settings.METRICS_LISTEN, worker_registry())

    def stop(self, parent: Any) -> None:
        """Listen no more."""
        parent.metrics.stop()


class Alive(bootsteps.StartStopStep):
    """Touches ALIVE_FILE while the worker consumes messages. A probe only looks how old the file is.

    ``celery inspect ping`` would load the product for each question, for seconds of CPU time.
    """

    requires = ("celery.worker.components:Timer",)

    def include_if(self, parent: Any) -> bool:
        """Include the step only if there is such a file."""
        from django.conf import settings  # noqa: PLC0415 - not before the app is there

        del parent
        return bool(settings.ALIVE_FILE)

    def start(self, parent: Any) -> None:
        """Touch the file now and then, in the main process, whose loop stops while Redis is away."""
        self._entry = parent.timer.call_repeatedly(HEARTBEAT_S, self._touch)

    def stop(self, parent: Any) -> None:
        """Stop, so that the file grows old."""
        del parent
        self._entry.cancel()

    def _touch(self) -> None:
        from django.conf import settings  # noqa: PLC0415

        Path(settings.ALIVE_FILE).touch()


class Heartbeats(bootsteps.StartStopStep):
    """Tells that the worker of comparisons is there, idle or at one: for minutes it takes no task that could."""

    requires = ("celery.worker.components:Timer",)

    def include_if(self, parent: Any) -> bool:
        """Only where the queue ``comparisons`` is consumed."""
        return "comparisons" in parent.app.amqp.queues.consume_from

    def start(self, parent: Any) -> None:
        """At once, and then again and again, in the main process."""
        self._tell()
        self._entry = parent.timer.call_repeatedly(HEARTBEAT_S, self._tell)

    def stop(self, parent: Any) -> None:
        """No more."""
        del parent
        self._entry.cancel()

    def _tell(self) -> None:
        from django.db import DatabaseError, connection  # noqa: PLC0415 - not before the app is there
        from django.utils import timezone  # noqa: PLC0415

        from scheduler_admin.clusters.services import note_heartbeat  # noqa: PLC0415

        try:
            note_heartbeat(worker="comparisons", now=timezone.now())
        except DatabaseError:
            log.warning("The heartbeat of the comparisons worker could not be stored: the database does not respond")
        finally:
            connection.close()  # comparisons run in processes that are forked off this one


app.steps["worker"].add(Alive)
app.steps["worker"].add(Heartbeats)
app.steps["worker"].add(Watching)
app.steps["worker"].add(Metrics)


@worker_init.connect
def _trace_threads(sender: Any, **_others: object) -> None:
    if get_implementation(sender.pool_cls).__module__ == "celery.concurrency.thread":  # others do so once forked
        start_tracing("worker")


@worker_process_init.connect
def _trace_process(**_others: object) -> None:
    start_tracing("worker")


@task_prerun.connect
def _begin_task(task_id: str, task: Any, **_others: object) -> None:
    start_logging_with(task=task.name.rpartition(".")[2], task_id=task_id)
    task.request.began_s = time.perf_counter()


@task_postrun.connect
def _end_task(task: Any, state: str, **_others: object) -> None:
    from scheduler_admin.core.monitoring.meters import TASKS  # noqa: PLC0415 - once it is known where counts are kept

    start_logging_with()
    TASKS.labels(task.name.rpartition(".")[2], state.lower()).observe(time.perf_counter() - task.request.began_s)
