"""The worker of comparisons tells that it is there, whether it has one to run or not."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine

from scheduler_admin.celery import HEARTBEAT_S, Heartbeats, app
from scheduler_admin.clusters.models import Heartbeat
from tests.comparisons.conftest import NOON


class Timer:
    """A worker's, whose time comes when the test says so."""

    def __init__(self) -> None:
        self.due: dict[float, Callable[[], None]] = {}

    def call_repeatedly(self, seconds: float, function: Callable[[], None]) -> Any:
        self.due[seconds] = function
        return SimpleNamespace(cancel=self.due.clear)


def worker(*queues: str) -> Any:
    """One that consumes these queues."""
    consumed = SimpleNamespace(queues=SimpleNamespace(consume_from=dict.fromkeys(queues)))
    return SimpleNamespace(app=SimpleNamespace(amqp=consumed, steps=app.steps), timer=Timer())


@pytest.mark.django_db(transaction=True)
def test_it_tells_at_once_and_again_until_it_ends(clock: time_machine.Traveller) -> None:
    """Metrics show when it was last heard of, as of the others."""
    parent = worker("comparisons")
    step = Heartbeats(parent)
    step.start(parent)
    assert Heartbeat.objects.get(worker="comparisons").at == NOON
    clock.shift(10)
    parent.timer.due[HEARTBEAT_S]()
    assert (Heartbeat.objects.get().at - NOON).total_seconds() == 10
    step.stop(parent)
    assert parent.timer.due == {}


def test_other_workers_do_not_tell_it() -> None:
    """They have heartbeats of their own."""
    assert [Heartbeats(worker(name)).include_if(worker(name)) for name in ("engine", "comparisons")] == [False, True]
