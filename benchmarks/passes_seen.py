"""When clusters had their passes, and what the processes that ran them took."""

import os
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.figures import Row

_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Seen:
    """Looks at the status of every cluster: each pass leaves its time there, so one a second misses none of them."""

    def __init__(self) -> None:
        """Nothing seen yet. Django has to be set up."""
        self.last: dict[int, float] = {}
        """Cluster -> when its last pass began, in seconds since the epoch."""
        self.count = 0
        self._gaps: list[float] = []

    def begin(self) -> None:
        """Count from here on; a gap that began before counts whole."""
        self.count, self._gaps = 0, []

    def look(self) -> None:
        """Note the passes that there were since the last look."""
        from scheduler_admin.clusters.models import ClusterStatus  # noqa: PLC0415 - once Django is set up

        for pk, at in ClusterStatus.objects.filter(error="", pass_at__isnull=False).values_list("cluster", "pass_at"):
            now, before = at.timestamp(), self.last.get(pk)
            if before is not None and now > before:
                self._gaps.append(now - before)
                self.count += 1
            self.last[pk] = now

    def gaps(self) -> Row:
        """Of all clusters together: middle, 95th percentile and longest, in seconds."""
        gaps = sorted(self._gaps)
        return {
            "gap_median_s": round(statistics.median(gaps), 2),
            "gap_p95_s": round(gaps[len(gaps) * 95 // 100], 2),
            "gap_max_s": round(gaps[-1], 2),
            "passes": len(gaps),
        }

    @staticmethod
    def workers() -> int:
        """How many workers are there."""
        from scheduler_admin.clusters.models import Worker  # noqa: PLC0415

        return Worker.objects.count()

    @staticmethod
    def owners() -> dict[int, int]:
        """Cluster -> process id of the worker that owns it."""
        from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415

        owned = Cluster.objects.exclude(owner="").values_list("pk", "owner")
        return {pk: int(owner.split("/")[1]) for pk, owner in owned}


class Meter:
    """CPU time, memory and threads of some processes, from when it is made; what the database wrote meanwhile."""

    def __init__(self, pids: Mapping[str, int], others: Mapping[str, int]) -> None:
        """``pids``: name -> process id, of the workers; ``others``: of the servers that they need."""
        self._pids, self._others = dict(pids), dict(others)
        self._clock = _now()
        self._cpu = {name: _cpu_s(pid) for name, pid in (self._pids | self._others).items()}
        self._all = _busy_s()
        self._written = _written()

    def held(self) -> Row:
        """Memory, threads and open files, as text, a worker each."""
        pids = self._pids.values()
        return {
            "rss_mb": _each(_rss_mb(pid) for pid in pids),
            "threads": _each(_entries(pid, "task") for pid in pids),
            "files": _each(_entries(pid, "fd") for pid in pids),
        }

    def spent(self) -> Row:
        """Seconds of CPU time of all workers, of each other process, and of the machine."""
        return {
            "workers_cpu_s": round(sum(_cpu_s(pid) - self._cpu[name] for name, pid in self._pids.items()), 1),
            **{f"{name}_cpu_s": round(_cpu_s(pid) - self._cpu[name], 1) for name, pid in self._others.items()},
            "machine_cpu_percent": round(100 * (_busy_s() - self._all) / (_now() - self._clock)),
        }

    def figures(self, *, passes: int, owned: Counter[int]) -> Row:
        """A list for each figure, as text, a worker each; then all together."""
        spent_s = _now() - self._clock
        cpu = {name: _cpu_s(pid) - self._cpu[name] for name, pid in (self._pids | self._others).items()}
        workers_s = sum(cpu[name] for name in self._pids)
        written = {name: after - self._written[name] for name, after in _written().items()}
        return {
            "owned": _each(owned[pid] for pid in self._pids.values()),
            "cpu_percent": _each(round(100 * cpu[name] / spent_s) for name in self._pids),
            **self.held(),
            "cpu_ms_per_pass": round(1000 * workers_s / max(1, passes), 1),
            "workers_cpu_percent": round(100 * workers_s / spent_s),
            **{f"{name}_cpu_percent": round(100 * cpu[name] / spent_s, 1) for name in self._others},
            **{f"{name}_rss_mb": _rss_mb(pid) for name, pid in self._others.items()},
            "machine_cpu_percent": round(100 * (_busy_s() - self._all) / spent_s),
            **{f"{name}_per_s": round(figure / spent_s, 1) for name, figure in written.items()},
            "load": round(os.getloadavg()[0], 1),
        }


def _each(figures: Iterable[int]) -> str:
    return ", ".join(map(str, figures))


def _now() -> float:
    return os.times().elapsed


def _cpu_s(pid: int) -> float:
    """Of a process, of those of its children that have ended, and of those that run."""
    children = (Path(f"/proc/{pid}/task") / str(pid) / "children").read_text().split()
    return _ticks(pid, ended=True) / _TICKS + sum(_ticks(int(child), ended=False) for child in children) / _TICKS


def _ticks(pid: int, *, ended: bool) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:  # it has ended just now
        return 0
    return sum(map(int, fields[11 : 15 if ended else 13]))


def _entries(pid: int, what: str) -> int:
    return len(list(Path(f"/proc/{pid}/{what}").iterdir()))


def _rss_mb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE // 2**20


def _busy_s() -> float:
    """Of the whole machine, all cores together."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / _TICKS


def _written() -> dict[str, int]:
    """What the database has done ever; nothing where it does not count that.

    ``transactions`` are also those that only read. ``writes`` are of the log, of which a commit that changed something
    waits for one; several may share it.
    """
    from django.db import connection  # noqa: PLC0415 - once Django is set up

    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tup_inserted + tup_updated + tup_deleted, xact_commit, wal_write, wal_bytes::bigint / 1024"
            " FROM pg_stat_database, pg_stat_wal WHERE datname = current_database()"
        )
        return dict(zip(("rows", "transactions", "writes", "log_kb"), map(int, cursor.fetchone()), strict=True))
