"""What a line of the log belongs to stands in it, as text and as JSON."""

import json
import logging
import logging.config
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.contextvars import get_contextvars

from engine.cluster.watching.supervised import Supervised
from scheduler_admin.celery import app
from scheduler_admin.core.monitoring.logs import logged_only_with, logged_with, logging_settings
from tests.waiting import wait_for


def written(form: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is written in a form for one line, and for one with a traceback."""
    handler = logging.StreamHandler()
    settings = logging_settings("INFO", form)["formatters"]["line"]
    handler.setFormatter(settings.pop("()")(**settings))
    own = logging.getLogger("tests.lines")
    own.addHandler(handler)
    try:
        with logged_with(cluster="prod", decision=7):
            own.warning("Evicted %s", "pod-1")
            try:
                int("no room")
            except ValueError:
                own.exception("It failed")
    finally:
        own.removeHandler(handler)
    return capsys.readouterr().err


def test_a_line_of_json_has_its_ids(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = map(json.loads, written("json", capsys).splitlines())
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": "tests.lines",
        "event": "Evicted pod-1",
        "cluster": "prod",
        "decision": 7,
    }
    assert second["exception"].endswith("invalid literal for int() with base 10: 'no room'")


def test_a_line_of_text_has_its_ids(capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = written("text", capsys).splitlines()
    assert first.endswith("Z WARNING tests.lines Evicted pod-1 cluster=prod decision=7")
    assert "ValueError: invalid literal" in others[-1]


class Lines(logging.Handler):
    """Keeps the ids of the lines that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.ids.append(get_contextvars() | {"event": record.getMessage()})


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Everything that is logged."""
    handler, root = Lines(), logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


def test_a_thread_keeps_the_cluster_but_not_the_pass_that_started_it(lines: Lines) -> None:
    """Watches are opened by a pass and outlive it."""
    done = threading.Event()

    def turn() -> float:
        logging.getLogger("tests").warning("turned")
        done.set()
        return 60.0

    with logged_with(pass_id="1"), logged_only_with(cluster="prod"):
        thread = Supervised("tests", turn)
    thread.start()
    wait_for(done.is_set, "a turn")
    thread.stop()
    assert [ids for ids in lines.ids if ids["event"] == "turned"] == [{"cluster": "prod", "event": "turned"}]


def test_a_task_logs_with_its_id(lines: Lines) -> None:
    """And nothing of it is left for the next task of the same thread."""

    @app.task(name="tests.tasks.logs")
    def logs() -> None:
        logging.getLogger("tests").warning("ran")

    with logged_with(cluster="prod"):
        logs.apply(task_id="t-1")
    logs.apply(task_id="t-2")
    first, second = (ids for ids in lines.ids if ids["event"] == "ran")
    assert first == {"task": "logs", "task_id": "t-1", "event": "ran"}
    assert second == {"task": "logs", "task_id": "t-2", "event": "ran"}
