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
    def owners() -> dict[int, int]:
        """Cluster -> process id of the worker that owns it."""
        from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415

        owned = Cluster.objects.exclude(owner="").values_list("pk", "owner")
        return {pk: int(owner.split("/")[1]) for pk, owner in owned}


class Meter:
    """CPU time, memory and threads of some processes, from when it is made; what the database wrote meanwhile."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        """``pids``: name -> process id."""
        self._pids = dict(pids)
        self._clock = _now()
        self._cpu = {name: _cpu_s(pid) for name, pid in pids.items()}
        self._all = _busy_s()
        self._written = _written()

    def figures(self, *, passes: int, owned: Counter[int]) -> Row:
        """A list for each figure, as text, a worker each; then all together."""
        spent_s = _now() - self._clock
        cpu = {name: _cpu_s(pid) - self._cpu[name] for name, pid in self._pids.items()}
        rows, commits = (after - before for after, before in zip(_written(), self._written, strict=True))
        return {
            "owned": _each(owned[pid] for pid in self._pids.values()),
            "cpu_percent": _each(round(100 * one / spent_s) for one in cpu.values()),
            "rss_mb": _each(_rss_mb(pid) for pid in self._pids.values()),
            "threads": _each(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in self._pids.values()),
            "cpu_ms_per_pass": round(1000 * sum(cpu.values()) / max(1, passes), 1),
            "workers_cpu_percent": round(100 * sum(cpu.values()) / spent_s),
            "machine_cpu_percent": round(100 * (_busy_s() - self._all) / spent_s),
            "rows_per_s": round(rows / spent_s, 1),
            "commits_per_s": round(commits / spent_s, 1),
            "load": round(os.getloadavg()[0], 1),
        }


def _each(figures: Iterable[int]) -> str:
    return ", ".join(map(str, figures))


def _now() -> float:
    return os.times().elapsed


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _rss_mb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE // 2**20


def _busy_s() -> float:
    """Of the whole machine, all cores together."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / _TICKS


def _written() -> tuple[int, int]:
    """Rows that were written, and transactions, ever; nothing where the database does not count them."""
    from django.db import connection  # noqa: PLC0415 - once Django is set up

    if connection.vendor != "postgresql":
        return 0, 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tup_inserted + tup_updated + tup_deleted, xact_commit FROM pg_stat_database"
            " WHERE datname = current_database()"
        )
        rows, commits = cursor.fetchone()
    return int(rows), int(commits)
