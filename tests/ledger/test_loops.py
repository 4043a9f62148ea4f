"""Loops of preemptions are found as they happen, and told once a day while they go on: to tenants, and to programs."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from scheduler_admin.accounts.models import Site, Tenant, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring import meters
from scheduler_admin.decisions.models import Decision, Happening
from scheduler_admin.ledger import loops
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from scheduler_admin.worker.tasks import write_due_digests
from tests.api import builders
from tests.ledger.loops import member, took, turning

pytestmark = pytest.mark.django_db
A, B, C = map(member, "abc")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(builders.NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def here(clock: time_machine.Traveller, db: None) -> Cluster:
    return builders.cluster()


def found() -> list[list[tuple[str, int | None]]]:
    """The queues of each loop that was told, with how often each gave way."""
    rows = Happening.objects.filter(kind="preemption-loop").order_by("number")
    return [[(turn.queue, turn.times) for turn in row.turns] for row in rows]


def test_two_that_take_from_each_other_are_told_at_the_second_time(here: Cluster) -> None:
    """Once one has given way twice, and the other too."""
    turning(here, A, B, times=1)
    took(here, (A, B), times=1)
    assert found() == []
    took(here, (B, A), times=1)
    assert found() == [[("root.a", 2), ("root.b", 2)]]


def test_the_page_of_all_clusters_counts_them_for_a_day(
    here: Cluster, clock: time_machine.Traveller, client: Client
) -> None:
    """With the way to where they are told."""
    turning(here, A, B)
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    (overview,) = client.get("/clusters/").context["overviews"]
    assert overview.loops == 1
    assert f"/clusters/{here.name}/history/repeats/" in client.get("/clusters/").content.decode()
    clock.shift(timedelta(hours=25))
    client.force_login(User.objects.get(username="ada"))
    (overview,) = client.get("/clusters/").context["overviews"]
    assert overview.loops == 0


def test_a_loop_that_goes_on_is_told_once_a_day(here: Cluster, clock: time_machine.Traveller) -> None:
    """What is told says how often by now; a day later it is told anew, if it went on."""
    turning(here, A, B, C)
    clock.shift(timedelta(hours=8))
    turning(here, A, B, C, times=3)
    assert found() == [[("root.a", 5), ("root.b", 5), ("root.c", 5)]]
    clock.shift(timedelta(hours=17))
    turning(here, A, B, C, times=1)
    assert found()[1:] == [[("root.a", 4), ("root.b", 4), ("root.c", 4)]]


def test_what_is_a_day_old_is_in_no_loop(here: Cluster) -> None:
    """As with what is preempted again and again."""
    took(here, (A, B), hours_ago=24)
    took(here, (B, A))
    assert found() == []


@pytest.mark.parametrize("source", [Decision.Source.KUBELET, Decision.Source.API_EVICTION])
def test_what_makes_room_for_nobody_is_in_no_loop(here: Cluster, source: str) -> None:
    """Drains come again and again, too."""
    took(here, (A, B), (B, A), source=source)
    assert found() == []


def test_other_schedulers_loop_too(here: Cluster) -> None:
    """Whoever preempts."""
    took(here, (A, B), (B, A), source=Decision.Source.KUEUE)
    assert len(found()) == 1


@pytest.mark.parametrize("unknown", ["queue", "application"])
def test_who_is_not_known_is_in_no_loop(here: Cluster, unknown: str) -> None:
    """Pods of no queue are not to be named by one, and not every ask that another scheduler served was seen."""
    turning(here, A, msgspec.structs.replace(B, **{unknown: ""}))
    assert found() == []


def test_a_decision_is_one_time_however_many_pods_it_takes(here: Cluster) -> None:
    """A single exchange of gangs is no loop."""
    for loser, taker in ((A, B), (B, A)):
        pods = tuple(msgspec.structs.replace(loser, uid=f"{loser.uid}-{n}", name=f"{loser.name}-{n}") for n in range(3))
        row = builders.decision(here, ask=taker, victims=pods)
        row.victims.update(evicted_at=timezone.now())
        loops.follow_loops(cluster=here, now=timezone.now())
    assert found() == []


def test_clusters_loop_each_by_itself(here: Cluster) -> None:
    """Namesakes of another are others."""
    took(here, (A, B))
    took(builders.cluster("other"), (B, A))
    assert found() == []


def test_it_is_counted_for_prometheus(
    here: Cluster, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """Each loop once; the series begins at nought with the first preemption, so that its rise shows."""
    meters.LOOPS.clear()
    seen = []
    for _time in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            turning(here, A, B, times=1)
        seen.append([sample.value for family in meters.LOOPS.collect() for sample in family.samples][:1])
    assert seen == [[0], [1], [1]]


def test_many_pairs_take_as_many_queries_as_few(here: Cluster) -> None:
    """A pass waits for it."""
    asked = []
    for pairs in (1, 20):
        found = [(member(f"x{number}"), member(f"y{number}")) for number in range(pairs)]
        for pair in found:
            turning(here, *pair)
        for loser, taker in found:
            row = builders.decision(here, ask=taker, victims=(loser,))
            row.victims.update(evicted_at=timezone.now())
        with CaptureQueriesContext(connection) as queries:
            loops.follow_loops(cluster=here, now=timezone.now())
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 5


def listening(tenant: Tenant, **values: Any) -> Channel:
    """A channel that tells of loops."""
    values = {"name": "mail", "going": False, "preempted": False, "loop": True, **values}
    return add_channel(tenant=tenant, kind="email", address="who@example.com", values=values, actor=None)


def tenant(name: str) -> Tenant:
    """Whose the member of that name is."""
    return create_tenant(name=name, namespaces=[f"{name}-ns"], subtrees=[f"root.{name}"])


def told() -> dict[str, list[str]]:
    """What each tenant was told."""
    return {row.channel.tenant.name: row.lines for row in Notification.objects.filter(event="preemption-loop")}


def test_tenants_of_members_are_told_once(here: Cluster, clock: time_machine.Traveller) -> None:
    """With how often they gave way themselves; others not at all, nor who does not ask for it."""
    for name in ("a", "other"):
        listening(tenant(name))
    listening(tenant("b"), loop=False)
    turning(here, A, B)
    clock.shift(timedelta(hours=1))
    turning(here, A, B)
    assert told() == {
        "a": [
            "In cluster prod, queues preempt each other in a loop: root.a → root.b → root.a.",
            "In that loop, app in namespace a-ns was preempted 2 times in the last 24 hours.",
        ]
    }
    facts = Notification.objects.get().facts
    assert facts["cycle"] == "root.a → root.b → root.a"
    assert [one["namespace"] for one in facts["members"]] == ["a-ns", None]


def test_a_message_names_no_queue_that_the_site_does_not_tell(here: Cluster) -> None:
    """Neither in its sentence nor for programs."""
    Site.objects.create(preemptor=Site.Preemptor.NONE)
    listening(tenant("a"))
    turning(here, A, B)
    row = Notification.objects.get()
    assert "root.a → … → root.a" in row.lines[0]
    assert "root.b" not in str((row.lines, row.facts))


def test_the_digest_names_yesterdays_loops(here: Cluster, clock: time_machine.Traveller) -> None:
    """To whom a member of one is."""
    for name in ("a", "other"):
        listening(tenant(name), loop=False, digest=True)
    turning(here, A, B)
    clock.move_to(builders.NOW + timedelta(days=1))
    write_due_digests()
    rows = {row.channel.tenant.name: row for row in Notification.objects.filter(event="daily-digest")}
    line = "In cluster prod, queues preempt each other in a loop: root.a → root.b → root.a."
    assert line in rows["a"].lines
    assert [one["cycle"] for one in rows["a"].facts["loops"]] == ["root.a → root.b → root.a"]
    assert rows["other"].facts["loops"] == []
    assert not any("root.a" in one for one in rows["other"].lines)
