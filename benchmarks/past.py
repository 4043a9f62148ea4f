"""How long pages of a long history take: ``python -m benchmarks history``."""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, encode
from tests.postgres import server

Row = dict[str, str | float | int]
_ENOUGH_S = 8.0
"""No longer is spent on one line, once it was measured."""
_SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "month": timedelta(days=30), "all": timedelta(days=730)}
_SETTINGS = ("shared_buffers=256MB", "max_wal_size=4GB", "autovacuum=off")


def past(decisions: int, days: int, runs: int, database: str) -> Iterator[Row]:
    """A row of figures for every kind of page, at so many decisions; without an address on a server of its own."""
    with server_at(database) as address:
        os.environ |= {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        django.setup()
        filled(decisions, days)
        import scheduler_admin.wsgi  # noqa: F401, PLC0415 - what it says of garbage once the site is loaded

        for name, asks in _asks().items():
            yield _measured(name, asks, runs)


@contextmanager
def server_at(database: str) -> Iterator[str]:
    if database:
        yield database
        return
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), *_SETTINGS) as address:
        yield address


def filled(decisions: int, days: int) -> None:
    """What is there already is left as it is."""
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up
    from django.utils import timezone  # noqa: PLC0415

    from benchmarks.past_copies import fill  # noqa: PLC0415
    from benchmarks.past_filler import tree  # noqa: PLC0415
    from scheduler_admin.accounts.models import Tenant, User  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster, ClusterStatus  # noqa: PLC0415
    from scheduler_admin.queues.models import Hierarchy  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import publish  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    if Cluster.objects.exists():
        return
    ada = User.objects.create_user("ada", role=User.Role.ADMIN)
    tess = User.objects.create_user("tess", role=User.Role.TENANT)
    tess.tenants.add(Tenant.objects.create(name="tess's", namespaces=["ns-100", "ns-101"], subtrees=["root.t8"]))
    hierarchy = Hierarchy.objects.create(name="large")
    publish(hierarchy=hierarchy, tree=tree(), author=ada, reason="first")
    cluster = Cluster.objects.create(name="large", hierarchy=hierarchy)
    ClusterStatus.objects.create(cluster=cluster, pass_at=timezone.now())
    fill(cluster, decisions, days, _document(), _tell)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _document() -> str:
    """A decision as the engine writes it."""

    def pod(name: str) -> PodFacts:
        place = {"namespace": "ns-1", "queue": "root.t0.g1.q12", "application": "app-12-1"}
        return PodFacts(uid=name, name=name, priority=0, requests={"cpu": 4000}, **place)

    went = tuple(PodVerdict(pod=pod(f"batch-{n}"), reason=PodReason.OVER_GUARANTEE) for n in range(3))
    return encode(
        Decision(
            policy="fence",
            ask=pod("worker-1"),
            outcome=Outcome.PREEMPT,
            reason=Reason.BELOW_GUARANTEE,
            node="n-1",
            victims=went,
        )
    ).decode()


Ask = Callable[[Any, random.Random], Any]
"""Sends one request by a client."""


def _asks() -> dict[str, tuple[str, Ask]]:
    """Everything that is measured: by its name who asks, and how."""
    filters: dict[str, Callable[[random.Random], dict[str, str]]] = {
        "": lambda _any: {},
        "queue": lambda any_of: {"queue": _leaf(any_of)},
        "subtree": lambda any_of: {"queue": f"root.t{any_of.randrange(20)}"},
        "namespace": lambda any_of: {"namespace": f"ns-{any_of.randrange(250)}"},
        "application": lambda any_of: {"application": f"app-{any_of.randrange(1000)}-{any_of.randrange(20)}"},
        "outcome": lambda any_of: {
            "outcome": any_of.choice(["bound", "capacity-taken", "rejected", "repeated", "no-candidate"])
        },
        "class": lambda any_of: {"priority_class": f"class-{any_of.randrange(8)}"},
        "node": lambda any_of: {"node": f"n-{any_of.randrange(5000)}"},
        "source": lambda any_of: {"source": any_of.choice(["engine", "kube-scheduler", "kubelet"])},
    }
    asks: dict[str, tuple[str, Ask]] = {
        f"page, {name or 'plain'}, {span}": ("ada", _page(filtered, _SPANS[span]))
        for name, filtered in filters.items()
        for span in _SPANS
    }
    asks["page, stacked by reason, all"] = "ada", _page(lambda _any: {"stack": "reason"}, _SPANS["all"])
    asks["page, further back, all"] = "ada", _page(_further_back, _SPANS["all"])
    asks["page of a decision"] = "ada", lambda client, any_of: client.get(f"/clusters/large/decisions/{_id(any_of)}/")
    asks["page of a pod"] = "ada", _pod
    for who in ("ada", "tess"):
        asks[f"REST, {who}, newest"] = who, lambda client, _any: client.get("/api/v1/clusters/large/decisions")
        asks[f"REST, {who}, namespace"] = (
            who,
            lambda client, _any: client.get("/api/v1/clusters/large/decisions?namespace=ns-100"),
        )
    for ending in ("csv", "json"):
        asks[f"{ending}, all, first line"] = "ada", _first_line(ending)
    return asks


def _leaf(any_of: random.Random) -> str:
    q = any_of.randrange(1000)
    return f"root.t{q // 50}.g{q // 10 % 5}.q{q}"


def _id(any_of: random.Random) -> int:
    from scheduler_admin.decisions.models import Decision as Stored  # noqa: PLC0415

    return any_of.randrange(1, Stored.objects.order_by("-pk").values_list("pk", flat=True)[0])


def _further_back(any_of: random.Random) -> dict[str, str]:
    at = datetime.now(UTC) - any_of.random() * timedelta(days=700)
    return {"before": f"{at.isoformat()}_{2**40}"}


def _page(filtered: Callable[[random.Random], dict[str, str]], span: timedelta) -> Ask:
    def send(client: Any, any_of: random.Random) -> Any:
        now = datetime.now(UTC)
        time_of = {"range": "between", "from": (now - span).isoformat(), "to": (now + timedelta(minutes=1)).isoformat()}
        return client.get(f"/clusters/large/history/?{urlencode(time_of | filtered(any_of))}")

    return send


def _pod(client: Any, any_of: random.Random) -> Any:
    from scheduler_admin.decisions.models import Victim  # noqa: PLC0415

    victim = Victim.objects.filter(decision__gte=_id(any_of)).order_by("decision_id")[0]
    return client.get(f"/pods/large/{victim.namespace}/{victim.name}/")


def _first_line(ending: str) -> Ask:
    def send(client: Any, _any_of: random.Random) -> Any:
        answer = client.get(f"/clusters/large/history.{ending}?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z")
        lines = iter(answer.streaming_content)
        next(lines), next(lines)
        answer.close()
        return answer

    return send


def _measured(name: str, asked: tuple[str, Ask], runs: int) -> Row:
    from django.test import Client  # noqa: PLC0415

    from scheduler_admin.accounts.models import User  # noqa: PLC0415

    who, ask = asked
    client, any_of = Client(headers={"host": "localhost"}), random.Random(1)
    client.force_login(User.objects.get(username=who))
    took: list[tuple[float, float]] = []
    began = time.monotonic()
    for run in range(runs + 1):
        cpu, start = cpu_ms(), time.perf_counter()
        answer = ask(client, any_of)
        took.append(((time.perf_counter() - start) * 1000, cpu_ms() - cpu))
        assert answer.status_code == 200, (name, answer.status_code)  # noqa: PLR2004
        if run and time.monotonic() - began > _ENOUGH_S:
            break
    clock, cpus = zip(*took[1:], strict=True)  # the first one loads templates, and whatever else
    figures = {"median_ms": statistics.median(clock), "p95_ms": _p95(clock), "cpu_p95_ms": _p95(cpus)}
    return {"page": name, **{what: round(ms) for what, ms in figures.items()}, "runs": len(clock)}


def _p95(took: tuple[float, ...]) -> float:
    return statistics.quantiles(took, n=20, method="inclusive")[-1] if len(took) > 1 else took[0]


def cpu_ms() -> float:
    """CPU time of this thread, and of the database's process that serves it: what a busy machine does not add to."""
    from django.db import connection  # noqa: PLC0415

    connection.ensure_connection()
    server = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.thread_time() * 1000 + int(server.read_text().split()[0]) / 1e6
