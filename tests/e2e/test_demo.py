"""`make demo` for machines, and what it says when something is in its way."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_admin.demo import processes
from scheduler_admin.demo.environment import _JOINED, BASE, Place, join, keep
from scheduler_admin.demo.supervisor import DemoError, StoppedError, Supervisor
from tests.ports import free_port
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.e2e


def demo(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start the demo as a user does."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"SECRET_KEY", "DJANGO_SETTINGS_MODULE"}
    }
    command = [sys.executable, "manage.py", "demo", "--folder", str(folder), *arguments]
    return subprocess.Popen(
        command, cwd=BASE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that one demo after the other has for its own: only the first has to prepare its database."""
    return tmp_path_factory.mktemp("demo")


def test_the_check_waits_for_a_preemption_and_prints_its_figures(lived_in: Path) -> None:
    """Decided, carried out, confirmed and readable: one JSON line, exit code 0, and nothing is left running."""
    running = demo(lived_in, "--check", "--port", str(free_port()), "--simulator-port", str(free_port()))
    out, told = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, told
    figures = json.loads(out)
    assert set(figures) == {"first_page_s", "first_preemption_s", "decisions", "evictions", "pass_ms"}
    assert figures["evictions"] >= 1
    left = subprocess.run(["pgrep", "-f", str(lived_in)], capture_output=True, text=True, check=False).stdout
    assert left == ""


def test_a_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    """No traceback, and what to do instead."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        running = demo(tmp_path, "--port", str(port))
        _, told = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1
    assert f"Port {port} is in use." in told
    assert "Traceback" not in told


def test_a_port_that_is_none_is_one_sentence() -> None:
    """No traceback either."""
    with pytest.raises(DemoError, match="70000 is not a valid port"):
        processes.check_port(70_000)


def test_a_folder_that_can_not_be_is_one_sentence(tmp_path: Path) -> None:
    """Named, with what to do."""
    (tmp_path / "file").touch()
    running = demo(tmp_path / "file" / "folder")
    _, errors = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1
    assert "Choose another folder with --folder." in errors
    assert "Traceback" not in errors


def test_a_second_demo_leaves_the_first_ones_folder_alone(tmp_path: Path) -> None:
    """It ends before it touches anything, and the folder is free again when the first has ended."""
    with processes.alone(Place(tmp_path)):
        running = demo(tmp_path, "--port", str(free_port()), "--simulator-port", str(free_port()))
        _, told = running.communicate(timeout=PATIENCE_S)
        assert running.returncode == 1
        assert f"A demo is already running in {tmp_path}." in told
        assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    with processes.alone(Place(tmp_path)):
        pass


def test_commands_join_the_demo_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its database, its key and its Redis; only while it lives, and readable by its owner alone."""
    place = Place(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ | {"SECRET_KEY": "of the demo", "SITE_URL": "http://demo"})
    for name in _JOINED:
        os.environ.setdefault(name, "x")
    assert not join(place)
    with processes.alone(place):
        keep(place)
        assert place.environment.stat().st_mode & 0o777 == 0o600
        os.environ["SECRET_KEY"] = "another"
        assert join(place)
        assert os.environ["SECRET_KEY"] == "of the demo"
    assert not join(place)


@pytest.mark.suite("preemptions")
def test_an_interrupt_ends_all_of_it_cleanly(lived_in: Path) -> None:
    """Ctrl-C: exit code 0, every process gone."""
    running = demo(lived_in, "--port", str(free_port()), "--simulator-port", str(free_port()))
    assert running.stderr is not None
    told = ""
    while "Ctrl-C" not in told:
        line = running.stderr.readline()
        assert line, told
        told += line
    running.send_signal(signal.SIGINT)
    _, rest = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, rest
    assert "The demo has stopped." in rest
    assert subprocess.run(["pgrep", "-f", str(lived_in)], capture_output=True, check=False).stdout == b""


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_while_it_prepares_its_database(tmp_path: Path, asked: signal.Signals) -> None:
    """Not when that is done, ten seconds later: no process is started any more."""
    running = demo(tmp_path, "--port", str(free_port()), "--simulator-port", str(free_port()))
    assert running.stderr is not None
    assert "Loading Scheduler Admin" in running.stderr.readline()
    assert "Preparing the database" in running.stderr.readline()
    running.send_signal(asked)
    _, rest = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, rest) == (0, "The demo has stopped.\n")
    assert not list(tmp_path.glob("**/redis.log"))


def test_a_dead_child_is_told_with_its_last_words(tmp_path: Path) -> None:
    """Which process, which code, what it said, and where its log is."""
    script = "import sys; print('no disk left'); sys.exit(3)"
    with Supervisor(tmp_path, os.environ) as children:
        children.start("worker", [sys.executable, "-c", script])

        def dead() -> DemoError | None:
            try:
                children.check()
            except DemoError as error:
                return error
            return None

        told = str(wait_for(dead, "The child's end"))
    assert "The worker process exited with code 3." in told
    assert "no disk left" in told


def test_a_killed_child_is_told_by_its_signal(tmp_path: Path) -> None:
    """Not by a negative number."""
    with Supervisor(tmp_path, os.environ) as children:
        children.start("worker", [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
        with pytest.raises(DemoError, match="The worker process was killed by SIGKILL"):
            children.wait_for(lambda: False, "The end", 10)


def test_an_end_that_is_asked_for_at_any_time_is_heard(tmp_path: Path) -> None:
    """Also before the first child is up: the next look at the children sees it."""
    with Supervisor(tmp_path, os.environ) as children:
        children.stopping.set()
        for look in (children.check, children.watch, lambda: children.wait_for(lambda: False, "Nothing", 60)):
            with pytest.raises(StoppedError):
                look()


def test_a_program_that_is_missing_is_told(tmp_path: Path) -> None:
    """Its name, not a traceback."""
    with Supervisor(tmp_path, os.environ) as children, pytest.raises(DemoError, match="no-such-program cannot be run"):
        children.start("redis", ["no-such-program"])


def test_children_that_dont_listen_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending takes no longer than the patience we have."""
    monkeypatch.setattr("scheduler_admin.demo.supervisor._PATIENCE_S", 0.3)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
    children = Supervisor(tmp_path, os.environ)
    children.start("deaf", [sys.executable, "-c", deaf])
    wait_for(lambda: "up" in (tmp_path / "deaf.log").read_text(), "The child")
    pid = children.pids["deaf"]
    children.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
