"""Channels of the site are told what happens to the site itself, each of the events that it asked for, once."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from scheduler_admin.clusters.models import Cluster, Credentials
from scheduler_admin.clusters.safeguards.pauses import pause, resume
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.clusters.status.store import store_error
from scheduler_admin.notifications.models import SITE_EVENTS, Channel, Notification
from scheduler_admin.notifications.tasks import check_credentials, send_notifications
from scheduler_admin.queues.services.hierarchies import publish
from tests import builders as trees
from tests.api import builders
from tests.ledger.loops import member, turning
from tests.notifications.conftest import NOON
from tests.notifications.receiver import Receiver
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
EVERYTHING = [event.value for event in SITE_EVENTS]


@pytest.fixture
def here(clock: time_machine.Traveller, db: None) -> Cluster:
    """A cluster with a tree, which was there before anybody listened."""
    return builders.cluster()


@pytest.fixture
def site(here: Cluster, add: Callable[..., Channel], receiver: Receiver) -> Channel:
    """A channel that reports all of it."""
    return add(receiver.url, tenant=None, site_events=EVERYTHING)


def told() -> list[tuple[str, str]]:
    """Each event, and its sentences."""
    rows = Notification.objects.order_by("pk")
    return [(row.event, " ".join(row.lines)) for row in rows]


def facts() -> Any:
    """What programs are told of the only event."""
    return Notification.objects.get().facts


def ada() -> Any:
    return builders.user("ada", role="admin")


def test_a_published_revision_is_reported_with_who_and_why(here: Cluster, site: Channel, receiver: Receiver) -> None:
    """And it arrives, signed."""
    assert here.hierarchy is not None
    tree = trees.tree({"red": trees.queue("3"), "blue": trees.queue("2")})
    made = publish(hierarchy=here.hierarchy, tree=tree, author=ada(), reason="Red needs less.", allow_orphans=True)
    assert told() == [
        ("revision-published", "ada published revision 2 of hierarchy prod-tree. Reason: Red needs less.")
    ]
    send_notifications()
    (body,) = map(json.loads, receiver.verified())
    assert (body["type"], body["data"]["tenant"]) == ("revision-published", None)
    assert body["data"]["url"] == "http://127.0.0.1:8000/clusters/prod/revisions/2/"
    reported = {name: body["data"][name] for name in ("hierarchy", "revision", "policy", "digest", "actor", "reason")}
    assert reported == {
        "hierarchy": "prod-tree",
        "revision": 2,
        "policy": made.policy,
        "digest": made.digest,
        "actor": "ada",
        "reason": "Red needs less.",
    }


def test_a_changed_mode_is_reported(here: Cluster, site: Channel) -> None:
    """In the channel's language."""
    site.language = "zh-hans"
    site.save()
    set_mode(cluster=here, mode="advise", actor=ada(), reason="first week")
    assert told() == [("mode-changed", "ada 将集群 prod 的模式从“观察”改为“建议”。 原因：first week")]
    assert facts() == {"cluster": "prod", "before": "observe", "mode": "advise", "actor": "ada", "reason": "first week"}


def test_pauses_are_reported_as_they_begin_and_are_ended(here: Cluster, site: Channel) -> None:
    """Of a queue, of a cluster, and of all."""
    pause(cluster=here, actor=ada(), reason="upgrade", queue="root.blue", until=NOON + timedelta(hours=2))
    resume(cluster=here, actor=None, reason="", queue="root.blue")
    pause(cluster=here, actor=None, reason="upgrade")
    resume(cluster=here, actor=None, reason="")
    pause(cluster=None, actor=None, reason="upgrade")
    resume(cluster=None, actor=None, reason="")
    assert told() == [
        (
            "evictions-paused",
            (
                "ada paused evictions in queue root.blue of cluster prod. The pause ends at 2026-01-05 14:00:00 UTC. "
                "Reason: upgrade"
            ),
        ),
        ("evictions-resumed", "command line resumed evictions in queue root.blue of cluster prod."),
        ("evictions-paused", "command line paused evictions in cluster prod. Reason: upgrade"),
        ("evictions-resumed", "command line resumed evictions in cluster prod."),
        ("evictions-paused", "command line paused evictions in all clusters. Reason: upgrade"),
        ("evictions-resumed", "command line resumed evictions in all clusters."),
    ]
    places = [(row.facts["cluster"], row.facts["queue"]) for row in Notification.objects.order_by("pk")]
    assert places == [("prod", "root.blue")] * 2 + [("prod", None)] * 2 + [(None, None)] * 2


def test_a_cluster_that_is_not_read_is_reported_once_and_again_when_it_is(
    cluster: Cluster, watch: Watch, add: Callable[..., Channel], receiver: Receiver, clock: time_machine.Traveller
) -> None:
    """However often it is tried meanwhile."""
    add(receiver.url, tenant=None, site_events=EVERYTHING)
    for error in ("The API server responded with 503", "The API server can’t be reached"):
        store_error(cluster=cluster, sentence=error, now=NOON)
    run(cluster, watch)
    assert told() == [
        (
            "cluster-unreadable",
            (
                "Cluster east can’t be read. No pods are evicted there until it is read again. "
                "Error: The API server responded with 503."
            ),
        ),
        ("cluster-readable", "Cluster east is read again."),
    ]


def test_credentials_are_reported_before_they_expire_and_once_they_have(
    here: Cluster, site: Channel, clock: time_machine.Traveller
) -> None:
    """Each once; new ones are reported when their own time comes."""
    ends = NOON + timedelta(days=30)
    row = Credentials.objects.create(cluster=here, sealed="x", kind="token", expires_at=ends, set_at=NOON, set_by="ada")
    for _half in range(80):
        check_credentials()
        clock.shift(timedelta(hours=12))
    assert told() == [
        (
            "credentials-expiring",
            "The credentials of cluster prod (a token) expire at 2026-02-04 12:00:00 UTC. Replace them before.",
        ),
        (
            "credentials-expiring",
            "The credentials of cluster prod (a token) expired at 2026-02-04 12:00:00 UTC. Replace them.",
        ),
    ]
    row.expires_at = NOON + timedelta(days=42)
    row.save()
    check_credentials()
    assert [each.facts["expired"] for each in Notification.objects.order_by("pk")] == [False, True, False]


def test_a_loop_is_reported_whole(here: Cluster, site: Channel) -> None:
    """With whoever is in it."""
    turning(here, member("a"), member("b"))
    ((event, sentences),) = told()
    assert event == "preemption-loop"
    assert sentences.startswith("In cluster prod, queues preempt each other in a loop: root.a → root.b → root.a.")
    assert [one["application"] for one in facts()["members"]] == ["app", "app"]


def test_only_the_events_that_were_asked_for_are_reported(here: Cluster, site: Channel) -> None:
    """To channels of the site that are enabled, and to no tenant's."""
    site.site_events = ["mode-changed"]
    site.save()
    pause(cluster=here, actor=None, reason="upgrade")
    assert told() == []
    set_mode(cluster=here, mode="advise", actor=None, reason="first week")
    assert [event for event, _sentences in told()] == ["mode-changed"]
    site.enabled = False
    site.save()
    set_mode(cluster=here, mode="observe", actor=None, reason="second week")
    assert len(told()) == 1


def test_what_cannot_be_reported_stops_nobody(
    here: Cluster, site: Channel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The change is made, and the log has why nobody was told."""
    monkeypatch.setattr("scheduler_admin.notifications.events.site.text", lambda _message: 1 / 0)
    set_mode(cluster=here, mode="advise", actor=None, reason="first week")
    here.refresh_from_db()
    assert (here.mode, told()) == ("advise", [])
    assert "Creating a notification failed" in caplog.text
