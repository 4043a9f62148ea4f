"""Fifty people who click and two pipelines that call, at once, on a long history: ``python -m benchmarks load``.

The web server is as docker-compose starts it, with PostgreSQL and Locust on the same machine. Nothing but the cluster
itself is made up: passes that find news are a row that is written every other second.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import django

from benchmarks.figures import Row
from benchmarks.past import filled, server_at

PEOPLE, PIPELINES = 50, 2
_READY_S = 60.0
_HERE = Path(__file__).parent
_STARTING_S = 20
"""Until all are there; what is asked meanwhile does not count."""


def load(*, decisions: int, days: int, seconds: int, database: str, news_s: float) -> Iterator[Row]:
    """A row for each kind of request, then one for all; times are what a client waits, by the clock."""
    with server_at(database) as address, tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DATABASE_URL": address,
            "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
            "SECRET_KEY": secrets.token_urlsafe(32),
            "INSECURE_HTTP": "1",
            "STATIC_ROOT": f"{folder}/static",
            "LOG_LEVEL": "WARNING",
        }
        django.setup()
        filled(decisions, days)
        from benchmarks.load.site import furnish, people  # noqa: PLC0415 - once Django is set up

        furnish(days)
        who = Path(folder) / "people.json"
        who.write_text(json.dumps({"people": people(PEOPLE), "decisions": decisions}))
        subprocess.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v", "0"], check=True)
        with _redis(Path(folder)), _web() as (port, pid), _news(news_s):
            yield from _run(port, pid, who, seconds)


def _run(port: int, pid: int, who: Path, seconds: int) -> Iterator[Row]:
    """Locust's own figures of what was asked once everybody was there."""
    out = who.with_name("locust.json")
    command = [
        *(sys.executable, "-m", "locust", "-f", str(_HERE / "clicking.py"), "--host", f"http://127.0.0.1:{port}"),
        *("-u", str(PEOPLE + PIPELINES), "-r", str(PEOPLE / _STARTING_S * 1.5), "-t", f"{_STARTING_S + seconds}s"),
        *("--headless", "--json-file", str(out.with_suffix("")), "--reset-stats", "--only-summary"),
        *("--exit-code-on-error", "0", "--loglevel", "ERROR"),
    ]
    subprocess.run(command, check=True, env={**os.environ, "PEOPLE": str(who)}, stdout=subprocess.DEVNULL)  # noqa: S603 - our own words
    found = json.loads(out.read_text())
    yield from map(_row, found)
    for name, those in {
        "all pages": [said for said in found if not said["name"].startswith("REST") and "news" not in said["name"]],
        "all news": [said for said in found if "news" in said["name"]],
        "all": found,
    }.items():
        yield _row(_together(name, those))
    yield {"part": "web", **_memory(pid)}


def _row(said: dict[str, Any]) -> Row:
    """Of one kind of request; Locust counts answers by milliseconds, the larger ones rounded to two digits."""
    times = sorted((float(ms), many) for ms, many in said["response_times"].items())
    asked = said["num_requests"]
    return {
        "asked": said["name"],
        "times": asked,
        "failed": said["num_failures"],
        **{f"{name}_ms": _quantile(times, asked, part) for name, part in _PARTS.items()},
        "bytes": round(said["total_content_length"] / max(1, asked)),
    }


def _together(name: str, those: list[dict[str, Any]]) -> dict[str, Any]:
    times = Counter[str]()
    for said in those:
        times.update(said["response_times"])
    sums = {key: sum(said[key] for said in those) for key in ("num_requests", "num_failures", "total_content_length")}
    return {"name": name, "response_times": times, **sums}


_PARTS = {"median": 0.5, "p95": 0.95, "p99": 0.99, "most": 1.0}


def _quantile(times: list[tuple[float, int]], asked: int, part: float) -> float:
    sofar = 0
    for ms, many in times:
        sofar += many
        if sofar >= asked * part:
            return ms
    return 0.0


@contextmanager
def _redis(folder: Path) -> Iterator[None]:
    """Counts of requests to the REST API are kept there."""
    at = folder / "redis"
    command = ["redis-server", "--port", "0", "--unixsocket", str(at), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603 - as above
        os.environ["REDIS_URL"] = f"redis+socket://{at}"
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def _web() -> Iterator[tuple[int, int]]:
    """The web server on a free port, and its process, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        *(sys.executable, "-m", "gunicorn", "scheduler_admin.wsgi", "--bind", f"127.0.0.1:{port}"),
        *("--workers", "2", "--threads", "28", "--graceful-timeout", "1"),
    ]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}  # as in the image
    with subprocess.Popen(command, env=environment) as process:  # noqa: S603 - as above
        try:
            _wait_for(port)
            yield port, process.pid
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        try:
            urlopen(f"http://127.0.0.1:{port}/sign-in/", timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the web server does not answer")


@contextmanager
def _news(every_s: float) -> Iterator[None]:
    """What passes of a cluster in which something happens write, in a process of its own."""
    with subprocess.Popen([sys.executable, "-m", "benchmarks.load.site", str(every_s)]) as process:  # noqa: S603 - as above
        try:
            yield
        finally:
            process.terminate()


def _memory(pid: int) -> Row:
    """Of the server's processes together, and of the largest; what several share is divided among them (PSS)."""
    import psutil  # noqa: PLC0415

    of: Any = psutil.Process(pid)
    each = [process.memory_full_info().pss / 1e6 for process in (of, *of.children())]
    return {"memory_mb": round(sum(each)), "largest_mb": round(max(each)), "processes": len(each)}
