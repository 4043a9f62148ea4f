"""Many clusters over several of the engine's workers, one of which is killed: ``python -m benchmarks clusters``.

All real but the clusters: Redis, PostgreSQL or SQLite, beat, and workers as docker-compose starts them. The clusters
are only observed. What is in no figure: one process that serves them all, and who looks when passes were.
"""

import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.feeder import Feed
from benchmarks.figures import SEED, Row
from benchmarks.many_feeder import serve
from benchmarks.passes_seen import Meter, Seen
from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import BASE, Place
from scheduler_admin.demo.supervisor import Supervisor

PODS_PER_NODE, INTERVAL_S = 30, 5.0
_READY_S = 600.0
_LOOK_S = 0.5
_CELERY = [sys.executable, "-m", "celery", "-A", "scheduler_admin.celery", "worker", "-P", "threads", "-Q", "engine"]


def clusters(*, many: int, nodes: int, workers: int, seconds: int, rate: int, postgres: bool) -> Iterator[Row]:
    """Rows of three stretches of ``seconds``: with all workers, from the kill of one until all passes are back, after.

    ``nodes`` and ``rate`` (changes of pods a second) are of each cluster.
    """
    feeds = [
        Feed(nodes=nodes, pods=nodes * PODS_PER_NODE, rate=rate, namespaces=60, seed=SEED + number)
        for number in range(many)
    ]
    with tempfile.TemporaryDirectory() as folder, _database(Path(folder), postgres=postgres) as address:
        place = Place(Path(folder))
        os.environ |= _environment(place, address)
        with _served(feeds) as ports, Supervisor(place.logs, os.environ) as children:
            _add(ports, place)
            names = [f"engine-{number}" for number in range(workers)]
            _start(children, place, names)
            yield from _course(children, names, seconds, {"clusters": many, "nodes": nodes, "rate": rate})


def _course(children: Supervisor, names: list[str], seconds: int, size: Row) -> Iterator[Row]:
    seen, began = Seen(), time.monotonic()
    _look(seen, lambda: len(seen.last) == size["clusters"])
    yield {"part": "begin", **size, "workers": len(names), "all_passed_s": round(time.monotonic() - began, 1)}
    _look_for(seen, 4 * INTERVAL_S)  # until whoever watches in vain has stopped
    pids = {name: children.pids[name] for name in names}
    yield {"part": "steady", **_stretch(seen, pids, seconds)}
    owned = seen.owners()
    of_pid = {pid: name for name, pid in pids.items()}
    most, many = Counter(pid for pid in owned.values() if pid in of_pid).most_common(1)[0]
    left = {pk for pk, pid in owned.items() if pid == most}
    seen.begin()
    os.kill(most, signal.SIGKILL)
    killed = time.time()
    _look(seen, lambda: all(seen.last[pk] > killed for pk in left))
    moved = sorted(seen.last[pk] - killed for pk in left)
    yield {"part": "killed", "had": many, "moved_first_s": round(moved[0], 1), "moved_last_s": round(moved[-1], 1)} | {
        f"{name}": figure for name, figure in seen.gaps().items()
    }
    _look_for(seen, 4 * INTERVAL_S)
    del pids[of_pid[most]]
    yield {"part": "after", **_stretch(seen, pids, seconds)}


def _stretch(seen: Seen, pids: Mapping[str, int], seconds: int) -> Row:
    """The gaps between passes, and what workers took, over some seconds."""
    seen.begin()
    meter = Meter(pids)
    _look_for(seen, seconds)
    return seen.gaps() | meter.figures(passes=seen.count, owned=Counter(seen.owners().values()))


def _look(seen: Seen, done: Any) -> None:
    deadline = time.monotonic() + _READY_S
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError("passes did not come")
        seen.look()
        time.sleep(_LOOK_S)


def _look_for(seen: Seen, seconds: float) -> None:
    end = time.monotonic() + seconds
    _look(seen, lambda: time.monotonic() >= end)


@contextmanager
def _served(feeds: list[Feed]) -> Iterator[list[int]]:
    """The ports that the clusters are served at."""
    spawn = multiprocessing.get_context("spawn")
    ready, told = spawn.Pipe(duplex=False)
    feeder = spawn.Process(target=serve, args=(feeds, told), daemon=True)
    feeder.start()
    try:
        if not ready.poll(_READY_S):
            raise TimeoutError("the clusters are not ready")
        yield ready.recv()
    finally:
        feeder.kill()


@contextmanager
def _database(folder: Path, *, postgres: bool) -> Iterator[str]:
    from tests.postgres import server  # noqa: PLC0415 - needs a PostgreSQL only where one is asked for

    if not postgres:
        yield f"sqlite:///{folder}/db.sqlite3"
        return
    with tempfile.TemporaryDirectory() as own, server(Path(own)) as address:
        yield address


def _environment(place: Place, address: str) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
        "SECRET_KEY": secrets.token_urlsafe(32),
        "INSECURE_HTTP": "1",
        "DATABASE_URL": address,
        "REDIS_URL": f"redis+socket://{place.socket}",
        "LOG_LEVEL": "WARNING",
    }


def _add(ports: list[int], place: Place) -> None:
    """Migrate, and add a cluster for each port; all under one tree."""
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=BASE, check=True)  # noqa: S603 - our own words
    import django  # noqa: PLC0415 - once it is known which database

    django.setup()
    from benchmarks.follow import TREE  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.clusters.services import add_cluster  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import publish_as  # noqa: PLC0415
    from simulator.kubeconfig import kubeconfig  # noqa: PLC0415

    revision = publish_as(name="main", tree=TREE, author=None, reason="measured")
    for number, port in enumerate(ports):
        file = place.folder / f"kubeconfig-{number}"
        file.write_text(kubeconfig(f"http://127.0.0.1:{port}"))
        add_cluster(name=f"cluster-{number}", hierarchy=revision.hierarchy, kubeconfig=str(file))
    Cluster.objects.update(interval_ms=round(1000 * INTERVAL_S))


def _start(children: Supervisor, place: Place, names: list[str]) -> None:
    children.start("redis", processes.redis(place))
    children.wait_for(place.socket.exists, "Redis", _READY_S)
    for name in names:
        children.start(name, [*_CELERY, "-c", "4", "-n", f"{name}@here"])
    children.start("beat", processes.beat(place))
