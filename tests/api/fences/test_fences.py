"""Who may preempt whom, by REST: every border with why, and what went through."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Victim
from scheduler_admin.fences.api import fences
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests import builders as shapes
from tests.api.builders import BLUE, NOW, RED, blue_pod, decision, red_pod
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

FENCES = "/api/v1/clusters/prod/fences"
WIDE = {f"{team}.{name}": shapes.queue("1") for team in ("red", "blue") for name in ("a", "b")}


def published(queues: dict[str, Any], **terms: Any) -> None:
    """Another tree is in force."""
    publish(
        hierarchy=Hierarchy.objects.get(), tree=shapes.tree(queues), author=None, reason="other", terms=Terms(**terms)
    )


def read(client: APIClient, **query: Any) -> Any:
    """An answer."""
    response = client.get(FENCES, query)
    assert response.status_code == 200, response.content
    return response.json()


def between(client: APIClient, **query: Any) -> list[tuple[str, str]]:
    """Asker and victim of all borders, page by page."""
    found, url = [], FENCES
    while url:
        page = client.get(url, query if url is FENCES else None).json()
        found += [(row["preemptor_queue"], row["victim_queue"]) for row in page["results"]]
        url = page["next"]
    return found


def test_every_border_is_told_with_why(olga: APIClient, cluster: Cluster) -> None:
    """A fence lets nothing out, and others in."""
    response = olga.get(FENCES)
    into, out = response.json()["results"]
    assert into == {
        "preemptor_queue": BLUE,
        "victim_queue": RED,
        "allowed": True,
        "reason": "no-fence",
        "reason_queue": "root.red",
        "explanation": "the requesting queue has no fence, and the fence of red lets it in",
        "preempted_pods": 0,
        "unexpected": False,
    }
    assert (out["preemptor_queue"], out["allowed"], out["reason"], out["reason_queue"]) == (
        RED,
        False,
        "fence",
        "root.red",
    )
    assert {**response.json(), "results": []} == {
        "cluster": "prod",
        "revision": 1,
        "policy": "fence",
        "conditions": (
            "Whether queues preempt across an open border depends on the moment. The requesting queue must be below "
            "its guarantee and the victim’s queue above its own. The victim’s priority must not be higher."
        ),
        "applicable": True,
        "partial": False,
        "can_preempt_hidden_queues": False,
        "hidden_queues_can_preempt": False,
        "next": None,
        "results": [],
    }
    check(response, "/api/v1/clusters/{name}/fences", "get")


def test_a_pipeline_asks_whether_anything_reaches_a_queue(olga: APIClient, cluster: Cluster) -> None:
    """By asker, by victim, by either, and by what is open: all that are given must hold."""
    published({**WIDE, "red": shapes.queue("4", fence=True)})
    assert between(olga, preemptor_queue="root.red", victim_queue="root.blue", allowed="true") == []
    assert between(olga, preemptor_queue="root.blue.a", allowed="true") == [
        ("root.blue.a", other) for other in ("root.blue.b", "root.red.a", "root.red.b")
    ]
    inside = [("root.red.a", "root.red.b"), ("root.red.b", "root.red.a")]
    assert between(olga, preemptor_queue="root.red", allowed="true") == inside
    one = between(olga, queue="root.red.a")
    assert len(one) == 6
    assert all("root.red.a" in pair for pair in one)
    assert between(olga, queue="root.red.a", victim_queue="root.red.a") == [
        pair for pair in one if pair[1] == "root.red.a"
    ]


def test_pages_tell_each_border_once_also_when_only_so_many_are_looked_at(
    olga: APIClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page ends where it is full, or where enough was looked at."""
    published({**WIDE, "red": shapes.queue("4", fence=True)})
    all_of_them, open_ones = between(olga), between(olga, allowed="true")
    assert (len(all_of_them), len(open_ones)) == (12, 8)
    assert all_of_them == sorted(set(all_of_them))
    assert between(olga, limit=5) == all_of_them
    monkeypatch.setattr(fences, "MOST_LOOKED_AT", 2)
    assert between(olga, allowed="true") == open_ones
    assert read(olga, preemptor_queue="root.red.a", victim_queue="root.blue", allowed="true")["next"] is None


def test_a_page_goes_on_where_the_last_ended_though_queues_came_and_went(olga: APIClient, cluster: Cluster) -> None:
    """By the paths, not by a count."""
    published(WIDE)
    first = read(olga, limit=3, preemptor_queue="root.blue")
    published({path: queue for path, queue in WIDE.items() if path != "blue.a"} | {"blue.c": shapes.queue("1")})
    rest = olga.get(first["next"]).json()["results"]
    assert [(row["preemptor_queue"], row["victim_queue"]) for row in rest][:2] == [
        ("root.blue.b", "root.blue.c"),
        ("root.blue.b", "root.red.a"),
    ]


def test_pods_that_went_are_counted_and_odd_where_the_border_is_shut(olga: APIClient, cluster: Cluster) -> None:
    """Whoever decided it; of the last seven days, or since a time."""
    decision(cluster, ask=red_pod(), victims=(blue_pod(), blue_pod("other")))
    decision(cluster, ask=blue_pod(), victims=(red_pod(),), first_seen=NOW - timedelta(days=8))
    Victim.objects.update(state=Victim.State.EVICTED)
    assert [(row["preempted_pods"], row["unexpected"]) for row in read(olga)["results"]] == [(0, False), (2, True)]
    told = read(olga, since="2025-12-01T00:00:00Z")["results"]
    assert [(row["preempted_pods"], row["unexpected"]) for row in told] == [(1, False), (2, True)]


def test_a_tenant_is_told_of_its_own_queues_and_that_there_are_others(alice: APIClient, cluster: Cluster) -> None:
    """Nothing of theirs is named."""
    found = alice.get(FENCES)
    assert found.json()["results"] == []
    assert [found.json()[name] for name in ("partial", "can_preempt_hidden_queues", "hidden_queues_can_preempt")] == [
        True,
        False,
        True,
    ]
    published({**WIDE, "red": shapes.queue("4", fence=True), "canary": shapes.queue()})
    found = alice.get(FENCES, {"queue": "root.red.a"})
    assert [row["preemptor_queue"] for row in found.json()["results"]] == ["root.red.a", "root.red.b"]
    assert [found.json()[name] for name in ("partial", "can_preempt_hidden_queues", "hidden_queues_can_preempt")] == [
        True,
        False,
        True,
    ]
    assert b"canary" not in found.content
    check(found, "/api/v1/clusters/{name}/fences", "get")


def test_of_very_many_borders_to_others_none_is_looked_at(alice: APIClient, cluster: Cluster) -> None:
    """Unknown, rather than a wrong word; of one queue it is known."""
    published({f"{team}.q{n}": shapes.queue("1") for team in ("red", "blue") for n in range(50)})
    found = alice.get(FENCES)
    assert [found.json()[name] for name in ("partial", "can_preempt_hidden_queues", "hidden_queues_can_preempt")] == [
        True,
        None,
        None,
    ]
    check(found, "/api/v1/clusters/{name}/fences", "get")
    assert read(alice, queue="root.red.q1")["can_preempt_hidden_queues"] is True


def test_another_schedulers_rules_do_not_keep_to_them(olga: APIClient, cluster: Cluster) -> None:
    """They are told all the same, as on the page."""
    published(WIDE, policy="fence", dialect="yunikorn")
    found = read(olga)
    assert (found["applicable"], len(found["results"])) == (False, 12)


def test_borders_are_those_of_the_policy_in_force(olga: APIClient, cluster: Cluster) -> None:
    """By priority all are open, also to oneself; by quota a fence is shut either way; by shares it lets others in."""
    fenced = {"red.a": shapes.queue("1"), "red.b": shapes.queue("1"), "red": shapes.queue("2", fence=True)}
    fenced["blue"] = shapes.queue("1")

    def reasons(policy: str, dialect: str, **parameters: Any) -> dict[str, str]:
        published(fenced, policy=policy, dialect=dialect, parameters=parameters)
        response = olga.get(FENCES)
        check(response, "/api/v1/clusters/{name}/fences", "get")
        assert response.json()["policy"] == policy
        return {
            f"{row['preemptor_queue']} {row['victim_queue']}".replace("root.", ""): row["reason"]
            for row in read(olga)["results"]
        }

    assert set(reasons("priority", "kube-scheduler").values()) == {"lower-priority"}
    assert len(read(olga)["results"]) == 9
    by_quota = reasons("cohort", "kueue", within_queue="Never")
    assert by_quota == {
        "blue red.a": "cohort-border",
        "blue red.b": "cohort-border",
        "red.a blue": "cohort-border",
        "red.a red.b": "same-cohort",
        "red.b blue": "cohort-border",
        "red.b red.a": "same-cohort",
    }
    by_shares = reasons("deserved", "arbitrator")
    assert (by_shares["blue red.a"], by_shares["red.a blue"], by_shares["red.a red.b"]) == (
        "overused",
        "fence",
        "related",
    )


def test_a_queue_that_there_is_not_or_that_is_others_is_an_error(alice: APIClient, cluster: Cluster) -> None:
    """At the parameter, both alike."""
    asked = {"queue": BLUE, "preemptor_queue": "root.none", "victim_queue": RED}
    assert errors(alice.get(FENCES, asked)) == [{"parameter": "queue"}, {"parameter": "preemptor_queue"}]
    assert errors(alice.get(FENCES, {"cursor": "bm9uZQ=="})) == [{"parameter": "cursor"}]


def test_a_cluster_without_a_tree_has_no_borders(olga: APIClient, db: None) -> None:
    """Nor does a stranger's: it is not there."""
    Cluster.objects.create(name="prod")
    assert (read(olga)["revision"], read(olga)["results"]) == (None, [])


def test_strangers_find_nothing(charlie: APIClient, cluster: Cluster) -> None:
    """As of every route of a cluster."""
    assert charlie.get(FENCES).status_code == 404
