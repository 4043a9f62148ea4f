"""Tenants are told of refused evictions, and of who is preempted again and again: once a day, of their own alone."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.ledger.repeat_victims import count_repeats
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from tests.api import builders
from tests.builders import ask, node, pod
from tests.notifications.conftest import NOON
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
REFUSED = EvictionResult(outcome=EvictionOutcome.REFUSED, sentence="canary-webhook: not on Mondays")


@pytest.fixture
def clock() -> Any:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, cluster: Cluster) -> Cluster:
    return cluster


@pytest.fixture
def watch() -> Watch:
    """Test fills the node, Prod asks for a core of it."""
    pods = [pod(f"test-{n}", queue="test", node="n1", app="etl", namespace="test-ns") for n in range(4)]
    return Watch(node("n1", 4), pods, ask("prod-0", queue="prod", namespace="prod-ns"))


def tenant(name: str) -> Tenant:
    """With one namespace and one queue."""
    return create_tenant(name=name, namespaces=[f"{name}-ns"], subtrees=[f"root.{name}"])


def listening(tenant: Tenant, **values: Any) -> Channel:
    """A channel that tells of both."""
    values = {"name": "mail", "refused": True, "repeated": True, **values}
    return add_channel(tenant=tenant, kind="email", address="who@example.com", values=values, actor=None)


def told(event: str) -> list[tuple[str, list[str]]]:
    """Who was told, and what."""
    rows = Notification.objects.filter(event=event).order_by("pk")
    return [(row.channel.tenant.name, row.lines) for row in rows]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_refused_eviction_is_told_to_both_sides(
    cluster: Cluster, watch: Watch, clock: time_machine.Traveller, *, dry_run: bool
) -> None:
    """Each of its own pod, and neither of the webhook's words; the next decision, refused too, is no news."""
    for name in ("test", "prod", "other"):
        listening(tenant(name))
    answers = watch.actuator.judging if dry_run else watch.actuator.evicting
    answers.update({f"test-{number}": REFUSED for number in range(4)})
    for _minute in range(3):
        run(cluster, watch, times=2)
        clock.shift(timedelta(minutes=10))
    victim = Victim.objects.first()
    assert victim is not None
    assert Decision.objects.filter(ending="blocked").count() > 1
    no_room = (
        "Pod prod-0 in namespace prod-ns is still pending. "
        "The cluster rejected an eviction that would have helped make room for it."
    )
    stays = (
        f"Pod {victim.name} in namespace test-ns was to be preempted, but the cluster rejected the eviction. "
        "The pod keeps running."
    )
    assert sorted(told("eviction-refused")) == [("prod", [no_room]), ("test", [stays])]
    assert not any("canary" in str((row.lines, row.facts)) for row in Notification.objects.all())


def test_who_does_not_ask_for_it_is_not_told(cluster: Cluster, watch: Watch) -> None:
    """As channels were before there was such a message."""
    listening(tenant("test"), refused=False)
    watch.actuator.evicting.update({f"test-{number}": REFUSED for number in range(4)})
    run(cluster, watch)
    assert told("eviction-refused") == []


def hit(cluster: Cluster, number: int) -> None:
    """Red's etl is preempted once more, now."""
    row = builders.decision(cluster, ask=builders.blue_pod(), victims=(builders.red_pod(f"etl-{number}"),))
    row.victims.update(evicted_at=NOON + timedelta(minutes=number), state=Victim.State.EXITED)
    count_repeats(cluster=cluster)


def test_the_third_time_in_a_day_is_told_once(cluster: Cluster, clock: time_machine.Traveller) -> None:
    """Not the fourth; a day later again."""
    listening(builders.red_tenant())
    listening(tenant("other"))
    for number in range(2):
        hit(cluster, number)
    assert told("preempted-repeatedly") == []
    for number in range(2, 5):
        hit(cluster, number)
    first = ("red", ["etl in namespace red was preempted 3 times in the last 24 hours."])
    assert told("preempted-repeatedly") == [first]
    clock.shift(timedelta(hours=24, seconds=1))
    hit(cluster, 60)
    assert told("preempted-repeatedly") == [
        first,
        ("red", ["etl in namespace red was preempted 6 times in the last 24 hours."]),
    ]
