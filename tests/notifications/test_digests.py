"""A digest tells a tenant of its own day before, once, from an hour of the site's choice on."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.notifications.delivery.send import send_due
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from scheduler_admin.pending.models import Wait
from scheduler_admin.worker.tasks import write_due_digests
from tests.api import builders
from tests.api.builders import RED, blue_pod, decision, red_pod

pytestmark = pytest.mark.django_db
MORNING = datetime(2026, 1, 6, 6, tzinfo=UTC)
YESTERDAY = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """Six in the morning."""
    with time_machine.travel(MORNING, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, db: None) -> Cluster:
    return builders.cluster()


@pytest.fixture
def red(db: None) -> Tenant:
    return builders.red_tenant()


def listening(tenant: Tenant, since: datetime = YESTERDAY, **values: Any) -> Channel:
    """A channel with a digest."""
    values = {"name": f"mail {Channel.objects.count()}", "digest": True, **values}
    made = add_channel(tenant=tenant, kind="email", address="who@example.com", values=values, actor=None)
    Channel.objects.filter(pk=made.pk).update(created_at=since)
    return made


def gone(cluster: Cluster, at: datetime, *names: str, **settings: Any) -> None:
    """Pods of red's etl are preempted."""
    row = decision(cluster, ask=blue_pod("canary-ask"), victims=tuple(map(red_pod, names)), **settings)
    row.victims.update(evicted_at=at, state=Victim.State.EXITED)


def waited(cluster: Cluster, until: datetime | None, seconds: int, namespace: str = "red", queue: str = RED) -> None:
    """An ask that got room then, or waits."""
    ends = until or YESTERDAY + timedelta(hours=23)
    Wait.objects.create(
        cluster=cluster, uid=f"uid-{Wait.objects.count()}", namespace=namespace, queue=queue, priority=1, shape="1",
        since=ends - timedelta(seconds=seconds), until=until, ending=Wait.Ending.BOUND if until else "",
    )  # fmt: skip


def written() -> list[list[str]]:
    """The lines of each digest, after a look whether one is due."""
    write_due_digests()
    return [row.lines for row in Notification.objects.filter(event="daily-digest").order_by("pk")]


def test_it_tells_of_yesterday(cluster: Cluster, red: Tenant) -> None:
    """Who was preempted by whomever, and how long asks waited; nothing of the day before it, of today, or of others."""
    listening(red)
    noon = YESTERDAY + timedelta(hours=12)
    gone(cluster, noon, "etl-1", "etl-2")
    gone(cluster, noon, "etl-3", source=Decision.Source.KUBE_SCHEDULER)
    gone(cluster, noon, "drained", source=Decision.Source.API_EVICTION)
    gone(cluster, YESTERDAY - timedelta(seconds=1), "before")
    gone(cluster, YESTERDAY + timedelta(days=1), "after")
    decision(cluster, ask=red_pod("mine"), victims=(blue_pod("canary-gone"),)).victims.update(evicted_at=noon)
    for seconds in (1, 2, 3, 4, 5, 6, 7, 8, 9, 600):
        waited(cluster, noon, seconds)
    waited(cluster, YESTERDAY - timedelta(hours=1), 7_200)
    waited(cluster, noon, 7_200, namespace="canary-ns", queue="root.canary")
    waited(cluster, None, 60)
    assert written() == [
        [
            "2026-01-05: 3 pods of tenant red were preempted.",
            "etl in namespace red of cluster prod: 3 pods.",
            (
                f"Queue {RED} of cluster prod: 10 pending pods were scheduled. "
                "Half waited at most 5.0 s, nine in ten at most 9.0 s."
            ),
            "1 pod was still pending at the end of the day.",
        ]
    ]
    facts = Notification.objects.get().facts
    assert (facts["day"], facts["preempted_pods"], facts["pending_pods"]) == ("2026-01-05", 3, 1)
    assert facts["waits"] == [
        {"cluster": "prod", "queue": RED, "placed_pods": 10, "median_seconds": 5.0, "p90_seconds": 9.0}
    ]


def test_of_a_single_ask_it_says_how_long_that_waited(cluster: Cluster, red: Tenant) -> None:
    listening(red)
    waited(cluster, YESTERDAY + timedelta(hours=12), 5)
    assert written() == [
        [
            "2026-01-05: no pod of tenant red was preempted.",
            f"Queue {RED} of cluster prod: 1 pending pod was scheduled, after 5.0 s.",
        ]
    ]


def test_it_is_one_mail_a_day_from_its_hour_on(
    cluster: Cluster, red: Tenant, clock: time_machine.Traveller, settings: Any
) -> None:
    """However often it is looked for; a worker that was away at that hour tells later that day."""
    settings.DIGEST_HOUR = 7
    listening(red)
    assert written() == []
    clock.shift(timedelta(hours=3))
    quiet = ["2026-01-05: no pod of tenant red was preempted."]
    assert [written(), written()] == [[quiet], [quiet]]
    assert send_due(now=timezone.now()) == 1
    (sent,) = mail.outbox
    assert (sent.subject, sent.to) == (quiet[0], ["who@example.com"])
    clock.shift(timedelta(hours=15))
    assert written() == [quiet]
    clock.shift(timedelta(hours=7))
    assert written()[1:] == [["2026-01-06: no pod of tenant red was preempted."]]


def test_each_channel_has_its_language_and_its_beginning(cluster: Cluster, red: Tenant) -> None:
    """One that was added today has no yesterday; one without a digest gets none."""
    listening(red, language="zh-hans")
    listening(red, since=YESTERDAY + timedelta(days=1))
    listening(red, digest=False)
    listening(red, enabled=False)
    write_due_digests()
    assert Notification.objects.get().channel.language == "zh-hans"


def test_many_channels_and_pods_take_as_many_queries_as_few(cluster: Cluster, red: Tenant) -> None:
    """It is looked for every few minutes, and mostly there is nothing to do."""
    asked = []
    for number in range(2):
        for _channel in range(9 * number + 1):
            listening(red)
        gone(cluster, YESTERDAY, *(f"etl-{number}-{n}" for n in range(20 * number + 1)))
        Notification.objects.all().delete()
        with CaptureQueriesContext(connection) as queries:
            write_due_digests()
        asked.append(len(queries))
    with CaptureQueriesContext(connection) as idle:
        write_due_digests()
    assert asked[0] == asked[1] < 15
    assert len(idle) <= 4
