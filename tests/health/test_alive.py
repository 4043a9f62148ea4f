"""A worker that consumes messages touches a file, whose age its probe looks at."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from scheduler_admin.celery import HEARTBEAT_S, Alive
from tests.comparisons.test_heartbeat import Timer

BASE = Path(__file__).parents[2]


def test_it_touches_the_file_again_and_again_until_it_ends(tmp_path: Path, settings: Any) -> None:
    """From the loop that consumes messages, so a worker that hangs stops touching it."""
    file = tmp_path / "alive"
    settings.ALIVE_FILE = str(file)
    parent = SimpleNamespace(timer=Timer())
    step = Alive(parent)
    assert step.include_if(parent)
    step.start(parent)
    parent.timer.due[HEARTBEAT_S]()
    os.utime(file, (0, 0))
    parent.timer.due[HEARTBEAT_S]()
    assert file.stat().st_mtime > 0
    step.stop(parent)
    assert parent.timer.due == {}


def test_without_a_file_no_worker_touches_one() -> None:
    """As on machines that have no probes."""
    parent = SimpleNamespace(timer=Timer())
    assert not Alive(parent).include_if(parent)


def test_the_probe_tells_a_young_file_from_an_old_or_missing_one(tmp_path: Path) -> None:
    """The command of Compose and of the chart, here with another path."""
    services = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    file = tmp_path / "alive"
    command = services["engine"]["healthcheck"]["test"][1].replace("/tmp/alive", str(file))

    def healthy() -> bool:
        return subprocess.run(["sh", "-c", command], check=False, stderr=subprocess.DEVNULL).returncode == 0

    assert not healthy()
    file.touch()
    assert healthy()
    os.utime(file, (0, 0))
    assert not healthy()
