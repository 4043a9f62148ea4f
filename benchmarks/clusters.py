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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.feeder import Feed
from benchmarks.figures import SEED, Row
from benchmarks.many_feeder import serve
from benchmarks.passes_seen import Meter, Seen
from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import BASE, Place
from scheduler_admin.demo.supervisor import Supervisor

PODS_PER_NODE = 30
_READY_S = 600.0
_SETTLED_S = 20.0
"""So long after the first passes, whoever watches a cluster in vain has stopped."""
_LOOK_S = 0.5
_CELERY = [sys.executable, "-m", "celery", "-A", "scheduler_admin.celery", "worker", "-P", "threads", "-Q", "engine"]


def clusters(
    *, many: int, nodes: int, workers: int, seconds: int, rate: int, interval_s: float, postgres: bool
) -> Iterator[Row]:
    """Rows of a course: before there are clusters, with all workers, as one is killed, then, and with a new one.

    ``seconds`` is how long each stretch lasts, ``nodes`` and ``rate`` (changes of pods a second) are of each cluster.
    """
    feed = Feed(nodes=nodes, pods=nodes * PODS_PER_NODE, rate=rate, namespaces=60, seed=SEED)
    with tempfile.TemporaryDirectory() as folder, _database(Path(folder), postgres=postgres) as address:
        place = Place(Path(folder))
        os.environ |= _environment(place, address)
        with Supervisor(place.logs, os.environ) as children:
            _migrate()
            names = [f"engine-{number}" for number in range(workers)]
            _start(children, place, names)
            with _served(feed, many) as (ports, feeder):
                course = _Course(children, place, names, seconds, {"feeder": feeder} | _servers(address, children))
                yield course.empty()
                _add(ports, place, interval_s)
                yield {"part": "begin", "clusters": many, "nodes": nodes, "rate": rate} | course.begin(many)
                yield {"part": "steady"} | course.stretch()
                yield course.killed()
                yield {"part": "after"} | course.stretch()
                yield course.joined()


class _Course:
    """What happens to the workers, step by step."""

    def __init__(
        self, children: Supervisor, place: Place, names: list[str], seconds: int, others: dict[str, int]
    ) -> None:
        """``others``: process ids of the servers that the workers need."""
        self._children, self._place, self._seconds, self._others = children, place, seconds, others
        self._pids = {name: children.pids[name] for name in names}
        self._seen = Seen()

    def empty(self) -> Row:
        """Memory and threads of workers that have no cluster yet."""
        self._children.wait_for(lambda: self._seen.workers() == len(self._pids), "The workers", _READY_S)
        return {"part": "empty", "workers": len(self._pids)} | Meter(self._pids, {}).held()

    def begin(self, many: int) -> Row:
        """Start beat, and wait until each cluster had a pass."""
        self._children.start("beat", processes.beat(self._place))
        self._others["beat"] = self._children.pids["beat"]
        meter, began = Meter(self._pids, self._others), time.monotonic()
        self._look(lambda: len(self._seen.last) == many)
        found = {"all_passed_s": round(time.monotonic() - began, 1)} | meter.spent()
        self._look_for(_SETTLED_S)
        return found

    def stretch(self) -> Row:
        """The gaps between passes, and what workers took, over some seconds."""
        self._seen.begin()
        meter = Meter(self._pids, self._others)
        self._look_for(self._seconds)
        return self._seen.gaps() | meter.figures(passes=self._seen.count, owned=Counter(self._seen.owners().values()))

    def killed(self) -> Row:
        """Kill the worker with the most clusters, and wait until each of them had a pass."""
        owned = self._seen.owners()
        most, many = Counter(pid for pid in owned.values() if pid in self._pids.values()).most_common(1)[0]
        left = {pk for pk, pid in owned.items() if pid == most}
        self._seen.begin()
        meter = Meter({name: pid for name, pid in self._pids.items() if pid != most}, self._others)
        os.kill(most, signal.SIGKILL)
        killed = time.time()
        first: dict[int, float] = {}

        def all_moved() -> bool:
            first.update({pk: self._seen.last[pk] for pk in left - first.keys() if self._seen.last[pk] > killed})
            return len(first) == many

        self._look(all_moved)
        moved = sorted(at - killed for at in first.values())
        name = next(name for name, pid in self._pids.items() if pid == most)
        del self._pids[name]
        found = {"moved_first_s": moved[0], "moved_median_s": moved[len(moved) // 2], "moved_last_s": moved[-1]}
        found = {key: round(figure, 1) for key, figure in found.items()} | self._seen.gaps() | meter.spent()
        self._look_for(_SETTLED_S)
        return {"part": "killed", "had": many} | found

    def joined(self) -> Row:
        """Start another worker, and wait until all have about as many clusters; what each holds before and then."""
        before = Meter(self._pids, {}).held()
        held = Counter(self._seen.owners().values())
        began = time.monotonic()
        _start_worker(self._children, "engine-new")
        joined = self._pids | {"engine-new": self._children.pids["engine-new"]}

        def even() -> bool:
            owned = Counter(self._seen.owners().values())
            each = [owned[pid] for pid in joined.values()]
            return max(each) - min(each) <= 1

        self._look(even)
        took_s = round(time.monotonic() - began, 1)
        self._look_for(_SETTLED_S)
        owned = Counter(self._seen.owners().values())
        gave = ", ".join(str(held[pid] - owned[pid]) for pid in self._pids.values())
        after = Meter(self._pids, {}).held()
        new = Meter({"": joined["engine-new"]}, {}).held()
        return {"part": "joined", "even_s": took_s, "gave": gave, "rss_mb_before": before["rss_mb"]} | {
            "rss_mb_after": after["rss_mb"],
            "threads_before": before["threads"],
            "threads_after": after["threads"],
            "new_owns": owned[joined["engine-new"]],
            "new_rss_mb": new["rss_mb"],
        }

    def _look(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _READY_S
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError("passes did not come")
            self._seen.look()
            time.sleep(_LOOK_S)

    def _look_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self._look(lambda: time.monotonic() >= end)


@contextmanager
def _served(feed: Feed, many: int) -> Iterator[tuple[list[int], int]]:
    """The ports that the clusters are served at, and the id of the process that serves them."""
    spawn = multiprocessing.get_context("spawn")
    ready, told = spawn.Pipe(duplex=False)
    feeder = spawn.Process(target=serve, args=(feed, many, told), daemon=True)
    feeder.start()
    try:
        if not ready.poll(_READY_S):
            raise TimeoutError("the clusters are not ready")
        assert feeder.pid is not None
        yield ready.recv(), feeder.pid
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


def _servers(address: str, children: Supervisor) -> dict[str, int]:
    """Process ids of Redis and of PostgreSQL, if that is used."""
    found = {"redis": children.pids["redis"]}
    if address.startswith("postgres"):
        from django.db import connection  # noqa: PLC0415

        with connection.cursor() as cursor:
            cursor.execute("SHOW data_directory")
            data = Path(cursor.fetchone()[0])
        found["postgres"] = int((data / "postmaster.pid").read_text().split()[0])
    return found


def _migrate() -> None:
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=BASE, check=True)  # noqa: S603 - our own words
    import django  # noqa: PLC0415 - once it is known which database

    django.setup()


def _add(ports: list[int], place: Place, interval_s: float) -> None:
    """Add a cluster for each port; all under one tree."""
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
    Cluster.objects.update(interval_ms=round(1000 * interval_s))


def _start(children: Supervisor, place: Place, names: list[str]) -> None:
    children.start("redis", processes.redis(place))
    children.wait_for(place.socket.exists, "Redis", _READY_S)
    for name in names:
        _start_worker(children, name)


def _start_worker(children: Supervisor, name: str) -> None:
    children.start(name, [*_CELERY, "-c", "4", "-n", f"{name}@here"])
