"""How long it takes to store what a pass decided: ``python -m benchmarks store``."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
import msgspec

from benchmarks.figures import Row, figures
from benchmarks.scenario_y import waiting_y
from engine.cluster.watching.runtime import tune_runtime
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import fence
from tests.postgres import server


def store(scale: float, runs: int, *, postgres: bool) -> list[Row]:
    """What scenario Y-pass decides, stored: new, decided again alike, and again with other figures; CPU time of ours.

    In a database of its own, a file of SQLite or a server of PostgreSQL. The rows also say how many queries it took.
    """
    snapshot, tree = waiting_y(scale)
    considered = plan(snapshot, tree, fence.decide)
    with _database(postgres=postgres) as address:
        os.environ |= {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        django.setup()
        return _measured(considered, runs)


@contextmanager
def _database(*, postgres: bool) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        if not postgres:
            yield f"sqlite:///{folder}/db.sqlite3"
            return
        with server(Path(folder)) as address:
            yield address


def _measured(considered: list[AuditedDecision], runs: int) -> list[Row]:
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up
    from django.utils import timezone  # noqa: PLC0415

    from benchmarks.editor import tree  # noqa: PLC0415
    from scheduler_admin.accounts.models import User  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.queues.models import Hierarchy  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import publish  # noqa: PLC0415

    tune_runtime()
    call_command("migrate", verbosity=0)
    hierarchy = Hierarchy.objects.create(name="large")
    revision = publish(hierarchy=hierarchy, tree=tree(), author=User.objects.create_user("ada"), reason="first")
    now, times = timezone.now(), dict[str, list[Row]]()
    for run in range(runs):
        cluster = Cluster.objects.create(name=f"large-{run}", hierarchy=hierarchy)
        for second, (name, found) in enumerate(_passes(considered)):
            at = now + timedelta(seconds=second)
            times.setdefault(name, []).append(_stored(cluster, revision, found, at))
    return [row for name, found in times.items() for row in _rows(name, found)]


def _passes(considered: list[AuditedDecision]) -> list[tuple[str, list[AuditedDecision]]]:
    """Three passes, one after the other."""

    def otherwise(one: AuditedDecision) -> AuditedDecision:
        trace = msgspec.structs.replace(one.decision.trace, candidates=one.decision.trace.candidates + 1)
        return msgspec.structs.replace(one, decision=msgspec.structs.replace(one.decision, trace=trace))

    return [("new", considered), ("again", considered), ("changed", [otherwise(one) for one in considered])]


def _rows(name: str, found: list[Row]) -> list[Row]:
    wall, cpu = (figures(f"store/{name}{what}", [float(one[key]) for one in found]) for what, key in _COLUMNS.items())
    return [wall | {"queries": found[0]["queries"]}, cpu]


_COLUMNS = {"": "wall_ms", "-cpu": "cpu_ms"}


def _stored(cluster: Any, revision: Any, considered: list[AuditedDecision], now: Any) -> Row:
    from django.db import connection, transaction  # noqa: PLC0415

    from scheduler_admin.worker.recorder.decisions import Finding, record  # noqa: PLC0415

    findings = [Finding(considered=one, since_ms=int(now.timestamp() * 1000) - 60_000) for one in considered]
    counted = _Counting()
    with connection.execute_wrapper(counted):
        wall, cpu = time.perf_counter(), time.thread_time()
        with transaction.atomic():
            record(cluster=cluster, revision=revision, findings=findings, now=now, took_us=0)
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    return {"wall_ms": wall * 1000, "cpu_ms": cpu * 1000, "queries": counted.many}


class _Counting:
    """Counts what is executed."""

    many = 0

    def __call__(self, execute: Callable[..., Any], *rest: Any) -> Any:
        self.many += 1
        return execute(*rest)
