"""How long pages of a large cluster take: ``python -m benchmarks large``."""

import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import django

from benchmarks.past import Row, cpu_ms, server_at
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree

_ENOUGH_S = 8.0
"""No longer is spent on one line, once it was measured."""
GROUPS, LEAVES = 50, 19
"""Groups of a tenant, and leaves of a group: a tenant has 1,001 queues."""
_NOW_ADDRESS = "/clusters/large/queues/"


def large(queues: int, pods: int, runs: int, database: str) -> Iterator[Row]:
    """A row of figures for each page, and for what a pass writes, at so many queues and pods."""
    with server_at(database) as address:
        os.environ |= {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        django.setup()
        _fill(queues, pods)
        import scheduler_admin.wsgi  # noqa: F401, PLC0415 - what it says of garbage once the site is loaded

        for name, ask in _asks().items():
            yield _measured(name, ask, runs)
        yield from _writes(runs)


def tree(queues: int) -> QueueTree:
    """About so many queues: tenants with fences of their own, groups in each, leaves in each group."""
    own, most = {"cpu": 4000, "memory": 16 * 2**30}, {"cpu": 8000, "memory": 32 * 2**30}
    found = [Queue(path="root")]
    for tenant in (f"root.t{number}" for number in range(max(1, round(queues / (1 + GROUPS + GROUPS * LEAVES))))):
        found.append(
            Queue(path=tenant, preemption_policy=PreemptionPolicy.FENCE, guaranteed={"cpu": 4000 * GROUPS * LEAVES})
        )
        for group in (f"{tenant}.g{number}" for number in range(GROUPS)):
            found.append(Queue(path=group, guaranteed={"cpu": 4000 * LEAVES}))
            found += [
                Queue(path=f"{group}.q{number}", guaranteed=own, max=most, delay_ms=30_000) for number in range(LEAVES)
            ]
    return QueueTree(found)


def _fill(queues: int, pods: int) -> None:
    """What is there already is left as it is."""
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up
    from django.utils import timezone  # noqa: PLC0415

    from benchmarks.large_pods import fill_pods  # noqa: PLC0415
    from scheduler_admin.accounts.models import Tenant, User  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster, ClusterStatus  # noqa: PLC0415
    from scheduler_admin.queues.drafts import edits  # noqa: PLC0415
    from scheduler_admin.queues.models import Hierarchy  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import publish  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    if Cluster.objects.exists():
        return
    ada = User.objects.create_user("ada", role=User.Role.ADMIN)
    tess = User.objects.create_user("tess", role=User.Role.TENANT)
    tess.tenants.add(Tenant.objects.create(name="tess's", namespaces=["ns-100", "ns-101"], subtrees=["root.t0"]))
    hierarchy = Hierarchy.objects.create(name="large")
    shape = tree(queues)
    began = time.process_time()
    publish(hierarchy=hierarchy, tree=shape, author=ada, reason="first")
    cluster = Cluster.objects.create(name="large", hierarchy=hierarchy)
    status = {"pass_at": timezone.now(), "read_at": timezone.now(), "revision_number": 1}
    ClusterStatus.objects.create(cluster=cluster, **status, **_figures(shape, random.Random(1)))
    edits.start(hierarchy=hierarchy, name="large", author=ada)
    _tell(f"Published {len(shape.queues)} queues and began a draft in {time.process_time() - began:.1f} s of CPU time.")
    fill_pods(cluster, pods, _tell)


def _figures(shape: QueueTree, random: random.Random) -> dict[str, Any]:
    """What queues use, as a pass stores it."""
    figures: dict[str, dict[str, Any]] = {}
    for path in reversed(list(shape.walk())):
        if shape.is_leaf(path):
            pods = random.randrange(300)
            used = {"cpu": 100 * pods, "memory": pods * 2**28, "pods": pods}
            asks = random.randrange(20) // 19
            figures[path] = {"used": used, "asks": asks, "oldest_ask_ms": 1_700_000_000_000 if asks else None}
            continue
        below = [figures[child] for child in shape.children[path]]
        figures[path] = {
            "used": {name: sum(one["used"][name] for one in below) for name in ("cpu", "memory", "pods")},
            "asks": sum(one["asks"] for one in below),
            "oldest_ask_ms": 1_700_000_000_000 if any(one["asks"] for one in below) else None,
        }
    capacity = {"cpu": 3_200_000_000, "memory": 2**47, "pods": 11_000_000}
    return {"queues": figures, "capacity": capacity, "nodes": 100_000, "pods": 3_000_000}


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


Ask = Callable[[Any], Any]
"""Sends one request by a client."""


def _asks() -> dict[str, tuple[str, Ask]]:
    """Everything that is measured: by its name who asks, and how."""
    from scheduler_admin.queues.models import Draft  # noqa: PLC0415 - once Django is set up

    def get(address: str, **headers: str) -> Ask:
        return lambda client: client.get(address, headers=headers)

    news, leaf = {"HX-Request": "true"}, "root.t0.g1.q1"
    draft = Draft.objects.get().pk
    asks = {
        "Queues": get(_NOW_ADDRESS),
        "Queues, news": get(_NOW_ADDRESS, **news),
        "Queues, a search": get(f"{_NOW_ADDRESS}?q=g1.q1"),
        "Queues, one open": get(f"{_NOW_ADDRESS}?open=root.t0"),
        "Queues, all open": get(f"{_NOW_ADDRESS}?levels=all"),
        "Queues, as many rows as possible": get(f"{_NOW_ADDRESS}?levels=all&rows=all"),
        "Queues, furthest below": get(f"{_NOW_ADDRESS}?sort=below"),
        "Queue, the root": get(f"{_NOW_ADDRESS}root/"),
        "Queue, a parent": get(f"{_NOW_ADDRESS}root.t0/"),
        "Queue, a leaf": get(f"{_NOW_ADDRESS}{leaf}/"),
        "Fences": get("/clusters/large/fences/"),
        "Fences, one open": get("/clusters/large/fences/?expanded=root.t0"),
        "Fences, a parent chosen": get("/clusters/large/fences/?queue=root.t0"),
        "Fences, a leaf chosen": get(f"/clusters/large/fences/?queue={leaf}"),
        "History": get("/clusters/large/history/"),
        "Revisions": get("/clusters/large/revisions/"),
        "a revision": get("/clusters/large/revisions/1/"),
        "Settings": get("/clusters/large/settings/"),
        "the editor of a draft": get(f"/clusters/large/drafts/{draft}/"),
        "the editor, a group": get(f"/clusters/large/drafts/{draft}/?path={leaf}"),
        "Clusters": get("/clusters/"),
        "My pods": get("/pods/"),
        "My pods, an application": get("/pods/?q=service-00100-"),
        "My pods, one letter": get("/pods/?q=s"),
        "My pods, a namespace": get("/pods/?namespace=ns-100"),
        "application": get("/clusters/large/application/?namespace=ns-100&application=service-00100"),
        "find": get("/find/?q=service-00100-"),
        "REST: queues": get("/api/v1/clusters/large/queues"),
        "REST: 100 queues": get("/api/v1/clusters/large/queues?limit=100"),
        "REST: a queue": get(f"/api/v1/clusters/large/queues/{leaf}"),
    }
    of_tenants = ("Queues", "Queue, a leaf", "Fences", "My pods, an application", "My pods, one letter", "REST: queues")
    return {name: ("ada", ask) for name, ask in asks.items()} | {
        f"{name} (a tenant’s)": ("tess", asks[name]) for name in of_tenants
    }


def _measured(name: str, asked: tuple[str, Ask], runs: int) -> Row:
    from django.test import Client  # noqa: PLC0415 - once Django is set up

    from scheduler_admin.accounts.models import User  # noqa: PLC0415

    who, ask = asked
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=who))
    took: list[tuple[float, float]] = []
    began, size = time.monotonic(), 0
    for run in range(runs + 1):
        cpu, start = cpu_ms(), time.perf_counter()
        answer = ask(client)
        took.append(((time.perf_counter() - start) * 1000, cpu_ms() - cpu))
        assert answer.status_code == 200, (name, answer.status_code)  # noqa: PLR2004
        size = len(answer.content)
        if run and time.monotonic() - began > _ENOUGH_S:
            break
    clock, cpus = zip(*took[1:], strict=True)  # the first one loads templates, and whatever else
    figures = {"cpu_ms": min(cpus), "clock_ms": statistics.median(clock), "first_cpu_ms": took[0][1]}
    return {"page": name, **{what: round(ms) for what, ms in figures.items()}, "bytes": size, "runs": len(clock)}


def _writes(runs: int) -> Iterator[Row]:
    from benchmarks.large_pods import change_pods  # noqa: PLC0415 - once Django is set up
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import tree_of  # noqa: PLC0415
    from scheduler_admin.usage.samples import sample  # noqa: PLC0415

    cluster = Cluster.objects.select_related("hierarchy__current", "status").get()
    assert cluster.hierarchy is not None
    assert cluster.hierarchy.current is not None
    shape, status = tree_of(cluster.hierarchy.current), cluster.status

    def usage() -> None:
        from django.utils import timezone  # noqa: PLC0415

        sample(cluster=cluster, tree=shape, capacity=status.capacity, figures=status.queues, now=timezone.now())

    for name, write in (
        ("a sample of usage", usage),
        ("10 new and 10 deleted pods", lambda: change_pods(cluster, 10)),
        ("1,000 new and 1,000 deleted pods", lambda: change_pods(cluster, 1_000)),
    ):
        took: list[tuple[float, float]] = []
        for _run in range(min(runs, 5)):
            cpu, start = cpu_ms(), time.perf_counter()
            write()
            took.append(((time.perf_counter() - start) * 1000, cpu_ms() - cpu))
        clock, cpus = zip(*took, strict=True)
        yield {"write": name, "cpu_ms": round(min(cpus)), "clock_ms": round(min(clock)), "runs": len(took)}
