"""What happens in a cluster is told in its order, to each as much as they may see."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from cloudevents.core.base import BaseCloudEvent
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Happening, Victim
from scheduler_admin.decisions.services import events
from scheduler_admin.ledger.repeat_victims import count_repeats
from scheduler_admin.worker.retention import KEEP_NOTED
from scheduler_admin.worker.tasks import prune
from tests.api import builders
from tests.api.builders import NOW, blue_pod, decision, red_pod
from tests.api.conftest import client_of
from tests.api.described import check_component
from tests.api.following import EVENTS, by_now
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"prod": queue("4", delay_ms=1), "test": queue("2", delay_ms=1)})


@pytest.fixture
def east(db: None) -> Cluster:
    return add_cluster(TREE)


@pytest.fixture
def watch() -> Watch:
    """Test holds all of a node over its guarantee, Prod asks for one core under its own."""
    pods = [pod(f"test-{number}", queue="test", node="n1", app="etl", namespace="red") for number in range(4)]
    return Watch(node("n1", 4), pods, ask("canary-ask", queue="prod", namespace="canary-ns"))


@pytest.fixture
def tom(db: None) -> APIClient:
    """Of the tenant whose pods go."""
    return client_of(builders.user("tom", create_tenant(name="test", namespaces=["red"], subtrees=["root.test"])))


@pytest.fixture
def told(cluster: Cluster) -> dict[str, Decision]:
    """Four decisions that became known in this order."""
    rows = {
        "theirs": decision(cluster, ask=blue_pod("canary-1"), victims=(blue_pod("canary-2"),)),
        "own ask": decision(cluster, ask=red_pod("mine"), victims=(blue_pod("canary-3"),)),
        "own victim": decision(cluster, ask=blue_pod("canary-4"), victims=(red_pod("gone"), blue_pod("canary-5"))),
        "own wait": decision(cluster, ask=red_pod("waits")),
    }
    events.decided(cluster, rows.values(), NOW)
    return rows


def test_it_takes_a_cluster(olga: APIClient, cluster: Cluster) -> None:
    """And what else can't be right is an error too."""
    for query, names in [
        ("", ["cluster"]),
        ("cluster=prod&after=-1", ["after"]),
        ("cluster=prod&after=soon&timeout_seconds=301&queue=root", ["after", "queue", "timeout_seconds"]),
    ]:
        answer = olga.get(f"{EVENTS}?{query}", headers={"Accept": "text/event-stream"})
        assert answer.status_code == 400
        assert answer["Content-Type"] == "application/problem+json"
        assert sorted(error["parameter"] for error in answer.json()["errors"]) == names


def test_a_stream_is_not_compressed(olga: APIClient, told: dict[str, Decision]) -> None:
    """Its reader would wait for an event until there are enough of them to compress."""
    assert by_now(olga, **{"Accept-Encoding": "gzip"})


@pytest.mark.parametrize("number", ["soon", "-1", "1.5", "", "9" * 5000, "\u0661"])
def test_a_last_event_that_is_none_is_an_error(olga: APIClient, cluster: Cluster, number: str) -> None:
    """Rather than a stream that begins anywhere."""
    answer = olga.get(f"{EVENTS}?cluster=prod", headers={"Last-Event-ID": number})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["header"] == "Last-Event-ID"


def test_a_cluster_that_one_does_not_see_is_not_there(charlie: APIClient, cluster: Cluster) -> None:
    """As everywhere."""
    assert charlie.get(f"{EVENTS}?cluster=prod&timeout_seconds=0").status_code == 404
    assert charlie.get(f"{EVENTS}?cluster=none&timeout_seconds=0").status_code == 404


BATCH = "application/cloudevents-batch+json"


def parsed(one: Any) -> BaseCloudEvent:
    """An event as the library of CloudEvents reads it, which knows no lists of them."""
    check_component("CloudEvent", one)
    headers = {"Content-Type": "application/cloudevents+json"}
    return from_http_event(HTTPMessage(headers=headers, body=json.dumps(one).encode()))


def test_the_events_that_there_are_can_be_had_as_cloudevents(
    olga: APIClient, cluster: Cluster, told: dict[str, Decision], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the library of CloudEvents reads them; ``Link`` leads to the next ones, until there are none."""
    monkeypatch.setattr("scheduler_admin.decisions.api.events._AT_ONCE", 3)
    address, found = f"{EVENTS}?cluster=prod&after=0", []
    for expected in (3, 1, 0):
        answer = olga.get(address, headers={"Accept": BATCH})
        assert (answer.status_code, answer["Content-Type"], len(answer.json())) == (200, BATCH, expected)
        found += [parsed(one) for one in answer.json()]
        (address,) = re.findall(r'^<(.*)>; rel="next"$', answer["Link"])
    assert [event.get_id() for event in found] == ["1", "2", "3", "4"]
    first = found[0]
    assert (first.get_type(), first.get_time()) == ("io.scheduler-admin.decision", NOW)
    assert first.get_source() == "http://127.0.0.1:8000/clusters/prod"
    assert first.get_data() == by_now(olga)[0].body


def test_a_tenant_gets_its_own_as_cloudevents_and_goes_on_behind_those_of_others(
    alice: APIClient, cluster: Cluster, told: dict[str, Decision]
) -> None:
    """What is of others is not in the list, but counts in the number."""
    answer = alice.get(f"{EVENTS}?cluster=prod&after=0", headers={"Accept": BATCH})
    assert [one["id"] for one in answer.json()] == ["2", "3", "4"]
    assert "canary-1" not in answer.content.decode()
    assert "after=4>" in answer["Link"]
    Happening.objects.filter(number__lt=4).delete()
    first, last = alice.get(f"{EVENTS}?cluster=prod&after=0", headers={"Accept": BATCH}).json()
    assert (first["type"], first["id"], "time" in first, last["id"]) == ("io.scheduler-admin.missed", "3", False, "4")
    assert parsed(first).get_data()["until"] == 3


def test_without_a_number_only_what_is_new_is_told(
    olga: APIClient, cluster: Cluster, told: dict[str, Decision]
) -> None:
    """The stream begins with the number of the newest, so that who is cut off at once goes on there."""
    answer = olga.get(f"{EVENTS}?cluster=prod&timeout_seconds=0")
    assert answer.getvalue().decode() == "retry: 3000\nid: 4\n\n"


def test_decisions_are_told_as_the_api_tells_them(olga: APIClient, cluster: Cluster, told: dict[str, Decision]) -> None:
    """In their order, from the number on that one has."""
    found = by_now(olga)
    assert [one.number for one in found] == [1, 2, 3, 4]
    assert {one.kind for one in found} == {"decision"}
    by_id = {row["id"]: row for row in olga.get("/api/v1/clusters/prod/decisions").json()["results"]}
    assert [one.body["decision"] for one in found] == [by_id[row.pk] for row in told.values()]
    assert [one.number for one in by_now(olga, after=2)] == [3, 4]


def test_the_header_goes_before_the_address(olga: APIClient, told: dict[str, Decision]) -> None:
    """A browser connects anew to the same address, and says in the header what it has."""
    assert [one.number for one in by_now(olga, after=1, **{"Last-Event-ID": "3"})] == [4]


def test_tenants_are_told_of_their_own_alone(alice: APIClient, told: dict[str, Decision]) -> None:
    """Redacted as the decisions themselves; what happened between costs them a number and tells nothing."""
    found = by_now(alice)
    assert [one.body["decision"]["id"] for one in found] == [
        told[name].pk for name in ("own ask", "own victim", "own wait")
    ]
    by_id = {row["id"]: row for row in alice.get("/api/v1/clusters/prod/decisions").json()["results"]}
    assert [one.body["decision"] for one in found] == [by_id[one.body["decision"]["id"]] for one in found]
    assert "canary" not in str([one.body for one in found])


def test_a_pass_tells_what_it_decides_and_how_that_ends(
    olga: APIClient, tom: APIClient, east: Cluster, watch: Watch
) -> None:
    """Each once, however often it is considered."""
    run(east, watch, times=3)
    watch.gone(preemption().victims.get().name)
    watch.bound("canary-ask", "n1")
    run(east, watch, times=2)
    for who in (olga, tom):
        found = [(one.kind, one.body["decision"]["ending"]) for one in by_now(who, "east")]
        assert found == [("decision", "bound"), ("decision-ended", "bound")]
    assert "canary" not in str(by_now(tom, "east"))


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_refused_eviction_is_told(
    olga: APIClient, tom: APIClient, east: Cluster, watch: Watch, *, dry_run: bool
) -> None:
    """To the tenant of its pod without the webhook's own words, which may be about anybody."""
    no = EvictionResult(outcome=EvictionOutcome.REFUSED, sentence="admission webhook canary: not on Mondays")
    answers = watch.actuator.judging if dry_run else watch.actuator.evicting
    answers.update({f"test-{number}": no for number in range(4)})
    run(east, watch)
    (told,) = [one.body for one in by_now(olga, "east") if one.kind == "eviction-refused"]
    (own,) = [one.body for one in by_now(tom, "east") if one.kind == "eviction-refused"]
    assert told["message"] == no.sentence
    assert own == {**told, "message": None}
    assert (own["namespace"], own["pod"], own["queue"]) == ("red", Victim.objects.get().name, "root.test")


def test_who_is_preempted_again_and_again_is_told(
    olga: APIClient, alice: APIClient, bob: APIClient, cluster: Cluster
) -> None:
    """From the third time in a day on, with how often it was."""
    for number in range(4):
        row = decision(cluster, ask=blue_pod(f"canary-{number}"), victims=(red_pod(f"gone-{number}"),))
        row.victims.update(evicted_at=NOW - timedelta(minutes=9 - number), state=Victim.State.EXITED)
        count_repeats(cluster=cluster)
    for who in (olga, alice):
        found = [one.body for one in by_now(who) if one.kind == "preempted-repeatedly"]
        assert [(one["application"], one["preemptions_24h"]) for one in found] == [("etl", 3), ("etl", 4)]


def test_a_queue_below_its_guarantee_is_told_at_each_mark(olga: APIClient, alice: APIClient, cluster: Cluster) -> None:
    """By whom its tenant is; others' queues are not told of."""
    for path in ("root.red.batch", "root.blue"):
        amounts = {"used": {"cpu": "1"}, "guaranteed": {"cpu": "4"}}
        facts = {"queue": path, "minutes": 5, "pending_pods": 2, "since": NOW.isoformat(), **amounts}
        events.below(cluster, {path: facts}, NOW)
    assert [one.body["queue"] for one in by_now(olga)] == ["root.red.batch", "root.blue"]
    assert [one.body["queue"] for one in by_now(alice)] == ["root.red.batch"]


def test_what_is_no_longer_kept_is_said_to_be_missed(
    olga: APIClient, cluster: Cluster, told: dict[str, Decision]
) -> None:
    """A reader that was away for a week learns that it has a gap, and goes on after it; numbers never come again."""
    Happening.objects.filter(number__lte=2).update(at=NOW - KEEP_NOTED - timedelta(seconds=1))
    prune()
    assert [(one.kind, one.number) for one in by_now(olga, after=1)] == [
        ("missed", 2),
        ("decision", 3),
        ("decision", 4),
    ]
    assert [one.kind for one in by_now(olga, after=2)] == ["decision", "decision"]
    Happening.objects.all().delete()
    assert [(one.kind, one.number) for one in by_now(olga, after=1)] == [("missed", 4)]
    events.ended(cluster, [told["own ask"]], NOW)
    assert [one.number for one in by_now(olga, after=4)] == [5]


def test_a_number_that_never_was_begins_with_the_newest(olga: APIClient, told: dict[str, Decision]) -> None:
    """As after a restored backup."""
    assert (
        olga.get(f"{EVENTS}?cluster=prod&after=900&timeout_seconds=0").getvalue().decode() == "retry: 3000\nid: 4\n\n"
    )


def test_many_at_once_are_told_in_order(olga: APIClient, alice: APIClient, cluster: Cluster, monkeypatch: Any) -> None:
    """Piece by piece, for who sees all and who sees some."""
    monkeypatch.setattr("scheduler_admin.decisions.api.events._AT_ONCE", 3)
    mine, theirs = decision(cluster, ask=red_pod("mine")), decision(cluster, ask=blue_pod("canary-1"))
    for _time in range(5):
        events.decided(cluster, [theirs, theirs, mine], NOW)
    assert [one.number for one in by_now(olga)] == list(range(1, 16))
    assert [one.number for one in by_now(alice)] == [3, 6, 9, 12, 15]


def test_many_take_as_many_queries_as_few(
    olga: APIClient, alice: APIClient, cluster: Cluster, told: dict[str, Decision]
) -> None:
    """And a look that finds nothing new takes one, by the cluster's key."""
    for client in (olga, alice):
        by_now(client)  # that a token is used is noted once a minute
        few = queries(client, after=events.newest(cluster.pk) - 4)
        events.decided(cluster, [*told.values()] * 10, NOW)
        many = queries(client, after=events.newest(cluster.pk) - 40)
        assert many == few
        assert queries(client, after=events.newest(cluster.pk)) <= few - 4


def queries(client: APIClient, after: int) -> int:
    """How many a stream takes that tells what there is."""
    with CaptureQueriesContext(connection) as asked:
        by_now(client, after=after)
    return len(asked)
