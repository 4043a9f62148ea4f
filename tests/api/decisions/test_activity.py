"""What runs and waits: passes, asks that wait now, victims wherever they ran."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import Pass
from tests.api import builders
from tests.api.builders import NOW, RED, blue_pod, decision, red_pod
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

PASSES, PENDING, VICTIMS = "/api/v1/clusters/prod/passes", "/api/v1/clusters/prod/pending-pods", "/api/v1/victims"


def names(client: APIClient, **query: Any) -> list[str]:
    """The victims of a page."""
    response = client.get(VICTIMS, query)
    assert response.status_code == 200, response.content
    return [row["name"] for row in response.json()["results"]]


@pytest.fixture
def passes(cluster: Cluster) -> list[Pass]:
    """Three, a minute apart, the newest now."""
    at = [NOW - timedelta(minutes=minutes) for minutes in (2, 1, 0)]
    return [Pass.objects.create(cluster=cluster, at=one, took_us=900, asks=4, decided=1) for one in at]


def test_passes_are_read_page_by_page(olga: APIClient, passes: list[Pass]) -> None:
    """Newest first; by time, too."""
    first = olga.get(PASSES, {"limit": 2})
    check(first, "/api/v1/clusters/{name}/passes", "get")
    second = olga.get(first.json()["next"]).json()
    found = [row["id"] for row in (*first.json()["results"], *second["results"])]
    assert (found, second["next"]) == ([one.pk for one in reversed(passes)], None)
    within = {"since": "2026-01-05T11:59:00Z", "until": "2026-01-05T12:00:00Z"}
    assert [row["id"] for row in olga.get(PASSES, within).json()["results"]] == [passes[1].pk]
    assert errors(olga.get(PASSES, {"since": within["until"], "until": within["since"]})) == [{"parameter": "until"}]


def test_a_pass_has_its_figures_and_what_it_was_the_first_to_decide(olga: APIClient, passes: list[Pass]) -> None:
    """No decision of another moment, nor one that preempts nothing."""
    cluster = passes[0].cluster
    taken = decision(cluster, ask=red_pod(), victims=(blue_pod(),), first_seen=NOW)
    decision(cluster, ask=red_pod("other"), victims=(blue_pod(),))
    decision(cluster, ask=red_pod("third"), first_seen=NOW)
    response = olga.get(f"{PASSES}/{passes[2].pk}")
    body = response.json()
    assert (body["pass"]["preemption_decisions"], body["pass"]["duration_seconds"], body["decision_ids"]) == (
        1,
        0.0009,
        [taken.pk],
    )
    check(response, "/api/v1/clusters/{name}/passes/{id}", "get")


def test_passes_are_no_tenants(alice: APIClient, passes: list[Pass]) -> None:
    """They count everybody's asks."""
    assert [alice.get(url).status_code for url in (PASSES, f"{PASSES}/{passes[0].pk}")] == [404, 404]


def test_asks_that_wait_are_told_with_why(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """The longest waiting first; what the last pass did not consider waits no longer. A tenant finds their own."""
    long = {"ask_since": NOW - timedelta(hours=1), "last_seen": NOW}
    row = decision(cluster, ask=red_pod("patient"), **long)
    decision(cluster, ask=red_pod("new"), ask_since=NOW, last_seen=NOW)
    decision(cluster, ask=blue_pod("canary-ask"), ask_since=NOW, last_seen=NOW)
    decision(cluster, ask=red_pod("gone"), last_seen=NOW - timedelta(hours=1))
    response = alice.get(PENDING)
    found = response.json()["results"]
    assert [one["pending_pod"]["name"] for one in found] == ["patient", "new"]
    assert (found[0]["decision_id"], found[0]["reason"]) == (row.pk, "no-room")
    assert "to free cpu 2 on one node" in found[0]["sentence"]
    assert found[0]["url"] == f"{settings.SITE_URL}/pods/prod/red/patient/"
    assert {one["pending_pod"]["name"] for one in olga.get(PENDING).json()["results"]} == {
        "patient",
        "new",
        "canary-ask",
    }
    assert len(olga.get(PENDING, {"queue": "root.red"}).json()["results"]) == 2
    assert [one["pending_pod"]["name"] for one in olga.get(PENDING, {"limit": 1}).json()["results"]] == ["patient"]
    check(response, "/api/v1/clusters/{name}/pending-pods", "get")


def waits(cluster: Cluster, name: str, minutes: int, **settings: Any) -> Decision:
    """An ask that has waited so long."""
    since = NOW - timedelta(minutes=minutes)
    return decision(cluster, ask=red_pod(name), **{"ask_since": since, "last_seen": NOW, **settings})


def test_asks_are_read_page_by_page_while_others_come_and_go(olga: APIClient, cluster: Cluster) -> None:
    """One that was told is not told again, also where it is considered anew; none that stays is missed."""
    for name, minutes in (("a", 9), ("b", 9), ("c", 5), ("d", 4), ("e", 3)):
        waits(cluster, name, minutes)
    first = olga.get(PENDING, {"limit": 2, "queue": "root.red"}).json()
    Decision.objects.filter(ask_name="a").delete()
    Decision.objects.filter(ask_name="c").update(state=Decision.State.CLOSED)
    waits(cluster, "b", 9, outcome="no-candidate", reason="fence")
    waits(cluster, "older", 60)
    waits(cluster, "newer", 1)
    told, url = [one["pending_pod"]["name"] for one in first["results"]], first["next"]
    while url:
        page = olga.get(url).json()
        told, url = [*told, *(one["pending_pod"]["name"] for one in page["results"])], page["next"]
    assert told == ["a", "b", "d", "e", "newer"]


def test_the_longest_waiting_come_first_however_many_wait(olga: APIClient, cluster: Cluster) -> None:
    """Not the longest of those that were considered last."""
    for number in range(6):
        waits(cluster, f"pod-{number}", number, last_seen=NOW - timedelta(milliseconds=number))
    assert [one["pending_pod"]["name"] for one in olga.get(PENDING, {"limit": 1}).json()["results"]] == ["pod-5"]


@pytest.mark.parametrize("cursor", ["none", "bm9uZQ==", "bm93CnVpZA==", "MjAyNi0wMS0wNQp1aWQ=", "MjAyNi0wMS0wNQoA"])
def test_a_cursor_that_was_not_given_out_is_an_error(olga: APIClient, cluster: Cluster, cursor: str) -> None:
    """No base64, one text, no time, no zone, a NUL."""
    assert errors(olga.get(PENDING, {"cursor": cursor})) == [{"parameter": "cursor"}]


def test_an_ask_is_told_by_what_considered_it_last(olga: APIClient, cluster: Cluster) -> None:
    """Once; not at all where that is closed."""
    waits(cluster, "twice", 9, last_seen=NOW - timedelta(seconds=1))
    last = waits(cluster, "twice", 9)
    waits(cluster, "done", 9, last_seen=NOW - timedelta(seconds=1))
    waits(cluster, "done", 9, state=Decision.State.CLOSED)
    assert [one["decision_id"] for one in olga.get(PENDING).json()["results"]] == [last.pk]


def test_before_the_first_pass_no_ask_is_known(olga: APIClient, cluster: Cluster) -> None:
    """An empty list, and no time."""
    cluster.status.delete()
    assert (olga.get(PENDING).json()["pass_started_at"], olga.get(PENDING).json()["results"]) == (None, [])


def test_victims_are_found_wherever_they_ran(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """By any of what tells them; a tenant finds their own, and learns of the ask what the site tells."""
    second = builders.cluster("test")
    decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod("etl-1"), blue_pod("canary-1")))
    decision(second, ask=red_pod("red-ask"), victims=(red_pod("etl-2"),), first_seen=NOW)
    assert names(olga) == ["etl-2", "canary-1", "etl-1"]
    assert names(alice) == ["etl-2", "etl-1"]
    assert names(alice, cluster="prod") == names(alice, pod="etl-1") == names(alice, until="2026-01-05T12:00:00Z")
    assert names(alice, since="2026-01-05T12:00:00Z") == ["etl-2"]
    assert names(olga, namespace="red") == names(olga, application="etl") == names(olga, queue="root.red")
    assert names(alice, application="canary-app") == names(alice, queue="root.blue") == []
    assert errors(alice.get(VICTIMS, {"cluster": "nowhere"})) == [{"parameter": "cluster"}]
    Site.objects.create(preemptor=Site.Preemptor.QUEUE)
    response = alice.get(VICTIMS, {"pod": "etl-1"})
    (row,) = response.json()["results"]
    assert (row["cluster"], row["queue"], row["source"]) == ("prod", RED, "engine")
    assert row["url"] == f"{settings.SITE_URL}/pods/prod/red/etl-1/"
    assert (row["decision_id"], row["preemptor"]["redacted"]) == (Decision.objects.get(cluster=cluster).pk, True)
    assert (row["preemptor"]["queue"], row["preemptor"]["name"]) == ("root.blue", None)
    check(response, VICTIMS, "get")


def test_pages_of_victims_stay_put_while_new_ones_come_in(olga: APIClient, cluster: Cluster) -> None:
    """None twice, none missed."""
    decision(cluster, ask=red_pod(), victims=tuple(blue_pod(f"v-{number}") for number in range(3)))
    first = olga.get(VICTIMS, {"limit": 2}).json()
    decision(cluster, ask=red_pod("later"), victims=(blue_pod("v-new"),))
    second = olga.get(first["next"]).json()
    assert [row["name"] for row in (*first["results"], *second["results"])] == ["v-2", "v-1", "v-0"]
    assert second["next"] is None
