"""Decisions: what is told of them, filters, pages."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from engine import explain
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import DeservedFigures, Outcome, Reason, ReclaimNotice, ShareFigures, Trace, encode
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors import pods
from scheduler_admin.decisions.selectors.pods import PodEvent
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.ledger.repeat_victims import note_again
from tests.api import builders
from tests.api.builders import NOW, blue_pod, decision, red_pod

URL = "/api/v1/clusters/prod/decisions"


def ids(client: APIClient, **query: Any) -> list[int]:
    """The ids of a page."""
    response = client.get(URL, query)
    assert response.status_code == 200, response.content
    return [row["id"] for row in response.json()["results"]]


def test_a_decision_is_told_in_full(olga: APIClient, cluster: Cluster) -> None:
    """Who sees everything gets ask, victims, laws, steps and the engine's own document."""
    row = decision(cluster, ask=red_pod(), victims=(blue_pod(),), ending=Decision.Ending.BOUND)
    body = olga.get(f"/api/v1/decisions/{row.pk}").json()
    assert (body["cluster"], body["revision"], body["outcome"], body["ending"]) == ("prod", 1, "preempt", "bound")
    assert body["pending_pod"]["name"] == "red-pod"
    assert body["pending_pod"]["requests"] == {"cpu": "2"}
    assert body["pending_pod"]["redacted"] is False
    assert [victim["name"] for victim in body["victims"]] == ["canary-pod"]
    assert body["safety_checks"] == [
        {"name": one["law"], "passed": one["holds"], "calculations": one["sums"]} for one in row.laws
    ]
    assert body["document"]["victims"][0]["detail"] == "canary detail"
    assert [step["pod"] for step in body["steps"]] == ["red/red-pod", "canary-ns/canary-pod"]
    assert body["decided_at"] == "2026-01-05T11:50:00Z"


def test_who_is_to_give_back_for_an_ask_is_not_told_to_its_tenant(
    olga: APIClient, alice: APIClient, cluster: Cluster
) -> None:
    """Nor what that uses and deserves: only that somebody is, and until when."""
    figures = {"requested": {}, "used": {"cpu": 9000}, "after": {}, "reserved": {}, "hard": {}, "deserved": {"cpu": 1}}
    told = EngineDecision(
        policy="deserved",
        dialect="arbitrator",
        ask=red_pod(),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=Reason.GRACE,
        detail=builders.BLUE,
        due_ms=0,
        notices=(ReclaimNotice(queue=builders.BLUE, over={"cpu": 1}, due_ms=0),),
        trace=Trace(deserved=(DeservedFigures(queue=builders.BLUE, **figures),)),
    )
    saying = {"reason": "grace", "detail": builders.BLUE, "document": encode(told).decode()}
    row = decision(cluster, ask=red_pod(), **saying)
    url = f"/api/v1/decisions/{row.pk}"
    assert (olga.get(url).json()["reason_detail"], alice.get(url).json()["reason_detail"]) == (builders.BLUE, None)
    seen = pods.seen_by(Scope(namespaces=frozenset({"red"}), subtrees=frozenset({"root.red"})), PodEvent(row, None))
    assert seen is not None
    assert builders.BLUE not in encode(seen).decode()
    assert "Other queues use more than their deserved share" in explain.reason(seen).id


def test_shares_of_others_are_not_told_to_a_tenant(cluster: Cluster) -> None:
    """Under fair sharing a decision rests on those of both sides: the own one stays."""
    shares = tuple(ShareFigures(queue=queue, text="1", after="2") for queue in (builders.RED, builders.BLUE))
    fair = EngineDecision(
        policy="fair-share",
        ask=red_pod(),
        outcome=Outcome.PREEMPT,
        reason=Reason.LOWER_PRIORITY,
        trace=Trace(shares=shares),
    )
    row = decision(cluster, ask=red_pod(), document=encode(fair).decode())
    seen = pods.seen_by(Scope(namespaces=frozenset({"red"}), subtrees=frozenset({"root.red"})), PodEvent(row, None))
    assert seen is not None
    assert [one.queue for one in seen.trace.shares] == [builders.RED]


def test_a_decision_says_whether_it_can_be_decided_again(olga: APIClient, cluster: Cluster) -> None:
    """As long as what its pass saw is kept."""
    row = decision(cluster, ask=red_pod())
    assert olga.get(f"/api/v1/decisions/{row.pk}").json()["replayable"] is False
    segment = JournalSegment.objects.create(cluster=cluster, began_at=NOW)
    row.entry = JournalEntry.objects.create(segment=segment, offset=0, at=NOW, blob=b"")
    row.save()
    assert olga.get(f"/api/v1/decisions/{row.pk}").json()["replayable"] is True


@pytest.fixture
def two(cluster: Cluster) -> tuple[Decision, Decision]:
    """Red preempts blue on n1 and is bound; blue finds no room, half an hour earlier."""
    taken = decision(
        cluster, ask=red_pod(), victims=(blue_pod(),), state=Decision.State.CLOSED, ending=Decision.Ending.BOUND
    )
    earlier = NOW - timedelta(minutes=40)
    source = Decision.Source.KUBE_SCHEDULER
    return taken, decision(cluster, ask=blue_pod("canary-ask"), first_seen=earlier, source=source)


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ({}, [0, 1]),
        ({"since": "2026-01-05T11:30:00Z"}, [0]),
        ({"until": "2026-01-05T12:30:00+01:00"}, [1]),
        ({"queue": "root.red"}, [0]),
        ({"queue": "root"}, [0, 1]),
        ({"namespace": "red"}, [0]),
        ({"namespace": "canary-ns"}, [0, 1]),
        ({"namespace": "nobody"}, []),
        ({"application": "etl"}, [0]),
        ({"application": "canary-app"}, [0, 1]),
        ({"priority_class": "canary-ask-class"}, [1]),
        ({"node": "n1"}, [0]),
        ({"source": "kube-scheduler"}, [1]),
        ({"outcome": "preempt"}, [0]),
        ({"state": "recorded"}, [1]),
        ({"ending": "bound"}, [0]),
        ({"namespace": "canary-ns", "outcome": "preempt"}, [0]),
    ],
)
def test_filters_leave_what_they_say(
    olga: APIClient, two: tuple[Decision, Decision], query: dict[str, str], want: list[int]
) -> None:
    """Every filter leaves just the decisions it holds for, and filters add up."""
    assert ids(olga, **query) == [two[index].pk for index in want]


def test_what_others_did_against_the_laws_is_found(olga: APIClient, two: tuple[Decision, Decision]) -> None:
    """And what was not."""
    taken, others = two
    assert ids(olga, failed_safety_checks="true") == []
    Decision.objects.filter(pk=others.pk).update(against_laws=True)
    assert ids(olga, failed_safety_checks="true") == [others.pk]
    assert ids(olga, failed_safety_checks="false") == [taken.pk]
    assert ids(olga) == [taken.pk, others.pk]


def test_a_queue_filter_stops_at_the_dot(olga: APIClient, cluster: Cluster) -> None:
    """root.blue does not take in root.blues."""
    decision(cluster, ask=blue_pod(), ask_queue="root.blues")
    assert ids(olga, queue=builders.BLUE) == []


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("since=yesterday", "since"),
        ("until=2026-13-01T00:00:00Z", "until"),
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
        ("queue=root.nothing", "queue"),
        ("queue=root..x", "queue"),
        ("namespace=Not_A_Name", "namespace"),
        ("namespace=%00", "namespace"),
        ("node=a%20b", "node"),
        ("source=fate", "source"),
        ("outcome=evict", "outcome"),
        ("state=done", "state"),
        ("ending=happy", "ending"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("cursor=nonsense", "cursor"),
        ("cursor=%C3%A9", "cursor"),
        ("cursor=OTk5OTk5OTk5OTk5OTk5OTk5OTk5OS4x", "cursor"),
        ("colour=red", "colour"),
        ("node=n1&node=n2", "node"),
    ],
)
def test_wrong_parameters_are_named(olga: APIClient, cluster: Cluster, query: str, parameter: str) -> None:
    """A parameter that can't be right is an error that points at it, never ignored."""
    response = olga.get(f"{URL}?{query}")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["type"], body["title"], body["status"]) == (
        "urn:scheduler-admin:problem:invalid-parameter",
        "Bad Request",
        400,
    )
    assert {error["parameter"] for error in body["errors"]} == {parameter}
    assert body["errors"][0]["detail"]


def walk(client: APIClient, url: str) -> list[list[int]]:
    """Every page from here on."""
    pages = []
    following: str | None = url
    while following:
        body = client.get(following).json()
        pages.append([row["id"] for row in body["results"]])
        following = body["next"]
    return pages


def test_pages_go_from_new_to_old(olga: APIClient, cluster: Cluster) -> None:
    """Following next gives every decision once, the newest first, those of the same moment too."""
    rows = [decision(cluster, ask=red_pod(f"p{number}")).pk for number in range(5)]
    assert walk(olga, f"{URL}?limit=2") == [[rows[4], rows[3]], [rows[2], rows[1]], [rows[0]]]


def test_pages_go_back_from_the_end_of_a_time(olga: APIClient, cluster: Cluster) -> None:
    """As far as its beginning."""
    rows = [decision(cluster, ask=red_pod(f"p{n}"), first_seen=NOW - timedelta(minutes=n)).pk for n in range(6)]
    since, until = NOW - timedelta(minutes=4), NOW
    url = f"{URL}?limit=2&since={since:%Y-%m-%dT%H:%M:%SZ}&until={until:%Y-%m-%dT%H:%M:%SZ}"
    assert walk(olga, url) == [rows[1:3], rows[3:5]]


def test_pages_stay_put_while_decisions_come_in(olga: APIClient, cluster: Cluster) -> None:
    """A decision stored while one turns pages moves none to another page."""
    rows = [decision(cluster, ask=red_pod(f"p{number}")).pk for number in range(4)]
    first = olga.get(f"{URL}?limit=2&outcome=no-candidate").json()
    decision(cluster, ask=red_pod("late"), first_seen=NOW)
    assert "outcome=no-candidate" in first["next"]
    assert walk(olga, first["next"]) == [[rows[1], rows[0]]]


@pytest.mark.parametrize("number", ["0", "9223372036854775808", "99999999999999999999999999"])
def test_no_such_decision(olga: APIClient, db: None, number: str) -> None:
    """An id that nothing has is 404, however large."""
    assert olga.get(f"/api/v1/decisions/{number}").status_code == 404


def test_the_work_that_a_victim_lost_is_told_exactly(olga: APIClient, cluster: Cluster) -> None:
    """In core, byte and device seconds, as texts; null while it is not known."""
    row = decision(cluster, ask=red_pod(), victims=(blue_pod(),))
    victim = row.victims.get()
    (told,) = olga.get(f"/api/v1/decisions/{row.pk}").json()["victims"]
    assert (told["lost_work"], told["checkpoint_at"]) == (None, None)
    victim.started_at, victim.evicted_at = NOW - timedelta(hours=1), NOW
    victim.checkpoint_at, victim.requests = NOW - timedelta(seconds=3), builders.amounts(cpu="500m", memory="1Ki")
    victim.save()
    (told,) = olga.get(f"/api/v1/decisions/{row.pk}").json()["victims"]
    assert told["lost_work"] == {"cpu": "1.5", "memory": "3072"}
    assert (told["checkpoint_at"], told["invalid_checkpoint"]) == ("2026-01-05T11:59:57Z", "")
    row.victims.update(odd_checkpoint="noon")
    assert olga.get(f"/api/v1/decisions/{row.pk}").json()["victims"][0]["invalid_checkpoint"] == "noon"


def test_decisions_that_hit_somebody_again_are_found(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """By one's own victims: of others' nobody learns how often they were hit."""
    own, others, once = (
        decision(cluster, ask=red_pod("red-ask"), victims=(pod,)) for pod in (red_pod(), blue_pod(), red_pod("red-two"))
    )
    Victim.objects.filter(decision__in=[own, others]).update(preempted_in_day=3)
    Victim.objects.filter(decision=once).update(preempted_in_day=1)
    note_again(cluster, [own.pk, others.pk, once.pk])
    assert ids(olga, repeat_victims="true") == [others.pk, own.pk]
    assert ids(olga, repeat_victims="false") == [once.pk]
    assert ids(alice, repeat_victims="true") == [own.pk]
    assert ids(alice, repeat_victims="false") == [once.pk, others.pk]
    (told,) = alice.get(f"/api/v1/decisions/{own.pk}").json()["victims"]
    assert told["application_preemptions_24h"] == 3


def test_repeat_victims_are_listed(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """Each with its last preemption; tenants find their own."""
    for minutes in (30, 20, 10):
        at = NOW - timedelta(minutes=minutes)
        last = decision(cluster, ask=red_pod("red-ask"), victims=(red_pod(), blue_pod()), first_seen=at)
        last.victims.update(evicted_at=at, started_at=at - timedelta(seconds=10), state="exited")
    url = "/api/v1/clusters/prod/repeat-victims"
    (told,) = alice.get(url).json()["results"]
    assert told == {
        "namespace": "red",
        "application": "etl",
        "preemptions": 3,
        "evicted_pods": 3,
        "queues": ["root.red.batch"],
        "last_evicted_at": "2026-01-05T11:50:00Z",
        "last_decision_id": last.pk,
        "lost_work": {"cpu": "60"},
    }
    assert len(olga.get(url).json()["results"]) == 2
