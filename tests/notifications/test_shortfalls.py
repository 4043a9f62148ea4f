"""A queue that is below its guarantee while asks wait for what it lacks: since when, told once until it recovers."""

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
import time_machine
from django.core.exceptions import ValidationError

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Happening
from scheduler_admin.notifications.models import Channel, Notification, Shortfall
from scheduler_admin.notifications.services import add_channel
from tests.builders import ask, node, pod, queue, tree
from tests.notifications.conftest import NOON
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"red": queue("8", fence=True), "red.batch": queue("4"), "red.idle": queue("4"), "blue": queue("2")})


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, db: None) -> Cluster:
    """Only observed: nothing is done about it."""
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def watch() -> Watch:
    """Batch holds one of its four cores, and waits for one more; blue holds all the others."""
    held = [pod(f"canary-{number}", queue="blue", node="n1") for number in range(3)]
    return Watch(node("n1", 4), held, pod("batch-0", queue="red.batch", node="n1"), ask("batch-1", queue="red.batch"))


@pytest.fixture
def red(db: None) -> Tenant:
    return create_tenant(name="red", namespaces=["ns"], subtrees=["root.red"])


def listening(tenant: Tenant, minutes: int | None = 10) -> Channel:
    """A channel that tells of queues after so many minutes."""
    values = {"name": f"after {minutes}", "below_min": minutes}
    return add_channel(tenant=tenant, kind="email", address="who@example.com", values=values, actor=None)


def passes(cluster: Cluster, watch: Watch, clock: time_machine.Traveller, seconds: int) -> None:
    """A pass every ten seconds."""
    for _ten_seconds in range(seconds // 10):
        clock.shift(10)
        run(cluster, watch)


def told() -> list[str]:
    return [row.lines[0] for row in Notification.objects.order_by("pk")]


SAID = (
    "Queue root.red.batch has been below its guarantee since 2026-01-05 12:00:00 UTC. "
    "1 pod is waiting for the missing resources."
)


def test_it_is_told_after_so_many_minutes_and_once(
    cluster: Cluster, watch: Watch, red: Tenant, clock: time_machine.Traveller
) -> None:
    """Of the queue that is nearest to the asks; its parent is short as well, and says no more."""
    listening(red)
    run(cluster, watch)
    passes(cluster, watch, clock, 590)
    assert told() == []
    passes(cluster, watch, clock, 10)
    assert told() == [SAID]
    passes(cluster, watch, clock, 1200)
    row = Notification.objects.get()
    assert row.lines[1] == "It uses cpu 1 of its guarantee of cpu 4."
    assert row.link == "http://127.0.0.1:8000/clusters/east/queues/root.red.batch/"
    assert (row.facts["used"], row.facts["guaranteed"], row.facts["pending_pods"]) == ({"cpu": "1"}, {"cpu": "4"}, 1)


def test_programs_are_told_at_each_mark(cluster: Cluster, watch: Watch, clock: time_machine.Traveller) -> None:
    """Whether or not anybody wants to be: once each, of the queue and of the one above that is short with it."""
    passes(cluster, watch, clock, 360)
    rows = Happening.objects.filter(kind="below-guarantee")
    found = [(row.queue, row.facts["minutes"], row.facts["pending_pods"]) for row in rows]
    assert len(set(found)) == len(found)
    assert [minutes for queue, minutes, asks in found if (queue, asks) == ("root.red.batch", 1)] == [1, 5]


def test_what_was_told_costs_no_more_queries(
    cluster: Cluster, watch: Watch, clock: time_machine.Traveller, red: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shortfall may last for days, and every sample comes across it."""
    listening(red, 1)
    passes(cluster, watch, clock, 90)
    assert len(told()) == 1
    tell = Mock()
    monkeypatch.setattr("scheduler_admin.notifications.events.shortfalls.tell", tell)
    passes(cluster, watch, clock, 60)
    assert not any(call.args[0] for call in tell.mock_calls)
    listening(red, 2)
    passes(cluster, watch, clock, 10)
    assert [len(call.args[0]) for call in tell.mock_calls][-1:] == [1]


def test_once_it_has_recovered_it_is_told_anew(
    cluster: Cluster, watch: Watch, red: Tenant, clock: time_machine.Traveller
) -> None:
    """It recovers when nobody asks any more, too."""
    listening(red, 1)
    run(cluster, watch)
    passes(cluster, watch, clock, 60)
    watch.gone("batch-1")
    passes(cluster, watch, clock, 10)
    assert not Shortfall.objects.exists()
    watch.put(ask("batch-2", queue="red.batch"))
    passes(cluster, watch, clock, 60)
    assert len(told()) == 1
    passes(cluster, watch, clock, 10)
    assert [line.partition("since ")[2][:19] for line in told()] == ["2026-01-05 12:00:00", "2026-01-05 12:01:20"]


def test_what_nobody_saw_is_not_told(
    cluster: Cluster, watch: Watch, red: Tenant, clock: time_machine.Traveller
) -> None:
    """Where no pass was for a while, the time begins again."""
    listening(red)
    run(cluster, watch)
    clock.shift(3600)
    run(cluster, watch)
    passes(cluster, watch, clock, 590)
    assert told() == []
    passes(cluster, watch, clock, 10)
    assert len(told()) == 1


def test_each_channel_has_its_time_and_its_own_queues(
    cluster: Cluster, watch: Watch, red: Tenant, clock: time_machine.Traveller
) -> None:
    """Another tenant is told nothing."""
    soon, late, never = listening(red, 1), listening(red, 2), listening(red, None)
    other = listening(create_tenant(name="blue", subtrees=["root.blue"]), 1)
    run(cluster, watch)
    passes(cluster, watch, clock, 60)
    assert list(soon.notifications.all()) == list(Notification.objects.all())
    passes(cluster, watch, clock, 60)
    assert [each.notifications.count() for each in (soon, late, never, other)] == [1, 1, 0, 0]
    assert "canary" not in str([(row.lines, row.facts, row.link) for row in Notification.objects.all()])


@pytest.mark.parametrize("minutes", [0, -1, 1441])
def test_a_time_that_is_none_is_refused(red: Tenant, minutes: int) -> None:
    """From a minute to a day."""
    with pytest.raises(ValidationError) as raised:
        listening(red, minutes)
    assert list(raised.value.message_dict) == ["below_min"]
