"""What several processes count is told as one, whichever of them is asked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.metrics.reading import read, value
from tests.ports import free_port
from tests.waiting import wait_for

TOKEN = "a token of enough characters"
BASE = Path(__file__).parents[2]


def asked(port: int, path: str) -> str:
    """The answer over a connection of its own, so that any process may give it; empty while nobody listens."""
    request = Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    except HTTPError as error:
        return str(error.code)
    except URLError:
        return ""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of an installation with a database of its own."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
        "SECRET_KEY": "x" * 50,
        "INSECURE_HTTP": "1",
        "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3",
        "METRICS_TOKEN": TOKEN,
        "TMPDIR": str(tmp_path),
        "LOG_FORMAT": "json",
    }


def test_web_processes_count_requests_together(environment: dict[str, str]) -> None:
    """And gunicorn logs as everything else does."""
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=BASE, env=environment, check=True)
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "scheduler_admin.wsgi",
        "--bind",
        f"127.0.0.1:{port}",
        "--workers",
        "2",
    ]
    with subprocess.Popen(command, cwd=BASE, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            wait_for(lambda: asked(port, "/livez"), "an answer")
            for _ in range(20):
                assert asked(port, "/api/v1/clusters") == "401"
            samples = [read(asked(port, "/metrics/requests")) for _ in range(5)]
        finally:
            server.terminate()
            assert server.stderr is not None
            lines = server.stderr.read().splitlines()
    labels = {"method": "GET", "route": "api/v1/clusters", "status": "4xx"}
    assert [value(one, "http_request_duration_seconds_count", **labels) for one in samples] == [20.0] * 5
    assert all(json.loads(line)["logger"] for line in lines if "Starting gunicorn" in line)
    assert any("Starting gunicorn" in line for line in lines)


def test_a_worker_tells_what_the_processes_count_that_it_forked(environment: dict[str, str], tmp_path: Path) -> None:
    """Comparisons run in processes that end after a while."""
    program = """
import os, django
django.setup()
from prometheus_client import generate_latest
from scheduler_admin.core.monitoring.meters import TASKS, worker_registry
TASKS.labels("compare", "success").observe(1)
if not (child := os.fork()):
    TASKS.labels("compare", "success").observe(2)
    os._exit(0)
os.waitpid(child, 0)
print(generate_latest(worker_registry()).decode())
"""
    folder = tmp_path / "counts"
    folder.mkdir()
    together = {**environment, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=BASE, env=together, capture_output=True, text=True, check=True
    )
    samples = read(ran.stdout)
    assert value(samples, "task_duration_seconds_count", task="compare", result="success") == 2
    assert value(samples, "task_duration_seconds_sum", task="compare", result="success") == 3
    assert value(samples, "thread_failures_total", thread="sign-in") == 0
