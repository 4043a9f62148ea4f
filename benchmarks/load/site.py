"""What people look at beside a long history: how its queues stand, two years of their usage, and who they are.

As a program, ``python -m benchmarks.load.site 2``: passes of a cluster in which something happens every two seconds.
"""

import math
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from benchmarks.figures import SEED
from benchmarks.past_filler import QUEUES, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler_admin.usage.runs import Level, Run

KEPT = (timedelta(days=1), timedelta(days=30), None)
"""How long points of each level are kept; the coarsest as long as the history is."""
_ALIKE = 8
"""So many different courses of usage are made for each block; queues take them in turn."""
_CHANGED = 20
"""Queues whose usage a pass finds changed."""
_CAPACITY = {"cpu": 160_000_000, "memory": 640 * 2**40, "pods": 550_000}
_HELD = {"cpu": 4000, "memory": 16 * 2**30, "pods": 4}
"""Of a leaf, at its mean."""


def furnish(days: int) -> None:
    """Add it to a history that was filled; what is there already is left as it is."""
    from scheduler_admin.clusters.models import Cluster, ClusterStatus  # noqa: PLC0415 - once Django is set up
    from scheduler_admin.usage.models import Usage  # noqa: PLC0415

    cluster = Cluster.objects.get()
    status = ClusterStatus.objects.get(cluster=cluster)
    status.queues, status.capacity, status.nodes, status.pods = (
        _figures(random.Random(SEED)),
        _CAPACITY,
        5000,
        4 * QUEUES,
    )
    status.read_at = status.pass_at = datetime.now(UTC)
    status.save()
    if not Usage.objects.exists():
        _fill_usage(cluster, days)


def people(many: int) -> list[dict[str, str]]:
    """Sessions of admins, operators and tenants, one for each person, and a token for pipelines."""
    from django.conf import settings  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from scheduler_admin.accounts.models import Tenant, User  # noqa: PLC0415
    from scheduler_admin.accounts.services.tokens import create_token  # noqa: PLC0415

    found = []
    for number in range(many):
        role = (User.Role.ADMIN, User.Role.OPERATOR, User.Role.TENANT, User.Role.TENANT)[number % 4]
        user, new = User.objects.get_or_create(username=f"person-{number}", defaults={"role": role})
        part = number % 20
        if role == User.Role.TENANT and new:
            spaces = [f"ns-{space}" for space in range(part * 50 // 4, (part * 50 + 49) // 4 + 1)]
            user.tenants.add(
                Tenant.objects.get_or_create(
                    name=f"part-{part}", defaults={"namespaces": spaces, "subtrees": [f"root.t{part}"]}
                )[0]
            )
        client = Client(headers={"host": "localhost"})
        client.force_login(user)
        key = client.cookies[settings.SESSION_COOKIE_NAME].value
        found.append({"role": str(role), "session": key, "part": str(part)})
    ci, _new = User.objects.get_or_create(username="pipeline", defaults={"role": User.Role.ADMIN})
    _row, token = create_token(user=ci, name=f"load {time.time():.0f}", actor=None)
    return [*found, {"role": "pipeline", "token": token}]


def _figures(any_of: random.Random) -> dict[str, dict[str, Any]]:
    """As ClusterStatus.queues has them, rolled up."""
    shape = tree()
    used = {path: dict.fromkeys(_HELD, 0) for path in shape.queues}
    asks = dict.fromkeys(shape.queues, 0)
    for leaf in shape.leaves:
        factor, waits = any_of.randrange(50, 200), any_of.random() < 0.05  # noqa: PLR2004
        for path in shape.lineage(leaf):
            asks[path] += waits
            for name, amount in _HELD.items():
                used[path][name] += amount * factor // 100
    since = int(time.time() * 1000) - 60_000
    return {
        path: {"used": used[path], "asks": asks[path], "oldest_ask_ms": since if asks[path] else None}
        for path in shape.queues
    }


def _fill_usage(cluster: Any, days: int) -> None:
    from django.db import connection  # noqa: PLC0415

    from scheduler_admin.usage.models import Usage  # noqa: PLC0415
    from scheduler_admin.usage.runs import LEVELS, pack  # noqa: PLC0415

    now, paths = int(time.time()), list(tree().queues)
    for level, kept in zip(LEVELS, KEPT, strict=True):
        first = now - int((kept or timedelta(days=days)).total_seconds())
        for start in range(level.start(first), level.start(now), level.span):
            documents = [pack(run) for run in _courses(level, start)]
            at = datetime.fromtimestamp(start, UTC)
            Usage.objects.bulk_create(
                Usage(cluster=cluster, queue=path, step=level.step, start=at, document=documents[number % _ALIKE])
                for number, path in enumerate(paths)
            )
    with connection.cursor() as cursor:  # as autovacuum would, which the benchmark's own server has none of
        cursor.execute("ANALYZE")


def _courses(level: "Level", start: int) -> "Iterator[Run]":
    """A block of each, wherever the clock stands."""
    from scheduler_admin.usage.runs import Columns, Run  # noqa: PLC0415

    times = list(range(start, start + level.span, level.step))
    for number in range(_ALIKE):
        waves = [1 + math.sin((at + 7919 * number) / 20_000) / 2 for at in times]
        amounts = {}
        for name, held in {**_HELD, "dominant": 5000}.items():
            used = [int(held * wave) for wave in waves]
            amounts[name] = Columns(used, used, [held] * len(times), [2 * held] * len(times), [None] * len(times))
        yield Run(times, [max(1, level.step // 10)] * len(times), [number % 3] * len(times), amounts)


def _passes(every_s: float) -> None:
    """Until this is ended: a status with other figures, and one more of its news."""
    from django.db.models import F  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415

    from scheduler_admin.clusters.models import ClusterStatus  # noqa: PLC0415

    any_of, shape = random.Random(SEED), tree()
    while True:
        status = ClusterStatus.objects.get()
        for leaf in any_of.sample(list(shape.leaves), _CHANGED):
            more = any_of.randrange(-1, 2)
            for path in shape.lineage(leaf):
                for name, amount in _HELD.items():
                    status.queues[path]["used"][name] += more * amount // 10
        now = timezone.now()
        ClusterStatus.objects.update(queues=status.queues, read_at=now, pass_at=now, news=F("news") + 1)
        time.sleep(every_s)


if __name__ == "__main__":
    import django

    django.setup()
    _passes(float(sys.argv[1]))
