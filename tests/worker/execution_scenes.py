"""Carrying out as tests drive it: passes over the one cluster, and the decision that they carry out."""

from itertools import count
from typing import Any

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import passes
from tests.worker.watch import ACCEPTED, Watch


def run(watch: Watch, times: int = 1) -> Decision:
    """Run passes; the newest decision that preempts."""
    for _ in range(times):
        current = Cluster.objects.select_related("hierarchy__current").get()
        passes.run_pass(cluster=current, watch=watch)
    return Decision.objects.filter(outcome="preempt").latest("pk")


def first(watch: Watch) -> Decision:
    """The first decision, after one pass."""
    run(watch)
    return Decision.objects.filter(outcome="preempt").earliest("pk")


def victims_of(row: Decision) -> list[str]:
    """The names of its victims."""
    return [victim.name for victim in row.victims.all()]


class Death(BaseException):
    """The worker dies here."""


def dying(watch: Watch, monkeypatch: pytest.MonkeyPatch, *, call: int, after: bool) -> list[str]:
    """Let the worker die before or after one of its calls that reserve or evict; the pods that were told to go."""
    accepted: list[str] = []
    counter = count()

    def wrap(name: str) -> None:
        real = getattr(watch.actuator, name)

        def method(*arguments: Any, **settings: object) -> object:
            dies = next(counter) == call
            if dies and not after:
                raise Death
            result = real(*arguments, **settings)
            if name == "evict" and result is ACCEPTED and not settings.get("dry_run"):
                accepted.append(arguments[0].name)
            if dies:
                raise Death
            return result

        monkeypatch.setattr(watch.actuator, name, method)

    wrap("reserve")
    wrap("evict")
    return accepted
