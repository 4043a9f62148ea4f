"""The chart's Redis, as its container is begun."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError
from redis.exceptions import ConnectionError as NotThere

from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import Place
from tests.deploy.helm import Manifest, container, pods
from tests.ports import free_port
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.helm

PASSWORD = "0a1b2c3d"


@pytest.fixture
def port() -> int:
    """Where it listens: a container has the usual one to itself, a test has not."""
    return free_port()


@pytest.fixture
def begun(tmp_path: Path, port: int, minimal: list[Manifest]) -> Iterator["subprocess.Popen[bytes]"]:
    """Its command, with a Redis of this machine."""
    shell, option, script = container(pods(minimal)["redis"])["command"]
    program = processes.redis(Place(tmp_path))[0]
    script = script.replace("exec redis-server -", f'exec "{program}" - --port {port} --bind 127.0.0.1', 1)
    process = subprocess.Popen(
        [shutil.which(shell) or shell, option, script],
        env={"PATH": os.environ["PATH"], "REDIS_PASSWORD": PASSWORD},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    yield process
    process.kill()
    process.wait()


def test_it_wants_its_password_and_keeps_nothing(begun: "subprocess.Popen[bytes]", port: int, tmp_path: Path) -> None:
    """No list of processes shows the password, and it ends when it is told to."""
    with Redis(port=port, password=PASSWORD) as ours, Redis(port=port) as stranger:
        wait_for(lambda: _answers(ours), "Redis answers")
        with pytest.raises(AuthenticationError):
            stranger.ping()
        ours.set("a", "message")
        kept = ours.config_get("save", "appendonly")
    assert kept == {"save": "", "appendonly": "no"}
    assert PASSWORD not in Path(f"/proc/{begun.pid}/cmdline").read_text()
    begun.send_signal(signal.SIGTERM)
    assert begun.wait(PATIENCE_S) == 0
    assert list(tmp_path.iterdir()) == []


def _answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except NotThere:
        return False
