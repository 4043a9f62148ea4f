"""What a tree that is sent would do: what changes, what is odd, and what it would preempt."""

from itertools import count
from typing import Any

import pytest
from rest_framework.test import APIClient

from engine.planning.journal import FORM
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import JournalEntry
from scheduler_admin.journal.selectors import forecasts
from tests.api import builders
from tests.api.builders import RED
from tests.api.conftest import client_of
from tests.api.sending import MAIN, NEW, YAML, own_form, plan, put, queue_of


def sentences(rows: Any) -> list[str]:
    """What rows say in words."""
    return [row["sentence"] for row in rows]


def test_every_change_is_told_with_its_values(ada: APIClient, slower: Any) -> None:
    """One row a setting, in the units that people type, and in words."""
    queue_of(slower, RED)["max"] = {"memory": "16Gi"}
    diff = plan(ada, slower).json()["changes"]
    row = {"queue": RED, "kind": "changed", "field": "max", "resource": "memory", "before": "", "after": "16Gi"}
    assert row | {"sentence": f"{RED}: max memory set to 16Gi"} in diff
    assert sorted(sentences(diff)) == [
        f"{RED}: delay 5s → 6s",
        f"{RED}: max cpu 10 removed",
        f"{RED}: max memory set to 16Gi",
    ]


def test_queues_that_come_and_go_are_told(ada: APIClient, slower: Any) -> None:
    """Renaming is one of each: a document does not say which queue was which."""
    queue_of(slower, RED)["path"] = "root.red.jobs"
    diff = plan(ada, slower).json()["changes"]
    assert [(row["queue"], row["kind"], row["field"]) for row in diff] == [
        ("root.red.jobs", "added", ""),
        (RED, "removed", ""),
    ]
    assert "guaranteed cpu 4" in diff[0]["sentence"]


def test_a_change_of_the_policy_is_told(ada: APIClient, slower: Any) -> None:
    """It is about no queue."""
    row = plan(ada, slower | {"parameters": {"last_resort": "never"}}).json()["changes"][0]
    assert (row["queue"], row["field"], row["resource"], row["after"]) == ("", "parameters", "last_resort", "never")
    assert row["sentence"] == "parameters last resort set to never"


def test_a_first_tree_is_all_new(ada: APIClient, db: None) -> None:
    """Held against nothing but its root, and no cluster uses it yet."""
    body = plan(ada, YAML, NEW).json()
    assert [(row["queue"], row["kind"]) for row in body["changes"]] == [("root.a", "added")]
    assert body["forecasts"] == []


def test_what_is_odd_is_told_where_it_stands(ada: APIClient, slower: Any) -> None:
    """By pointer in our own form, by line in a queues.yaml; what the import kept aside as well."""
    odd = next(row for row in plan(ada, slower).json()["findings"] if row["queue"] == RED)
    assert (odd["severity"], odd["pointer"]) == ("warning", "/queues/3/preemption_policy")
    found = {row["line"]: row["sentence"] for row in plan(ada, YAML).json()["findings"] if "line" in row}
    assert "submitacl" in found[8]


def test_what_is_guaranteed_is_held_against_each_cluster(ada: APIClient, slower: Any) -> None:
    """Publishing more than a cluster has is possible, and said."""
    queue_of(slower, "root.blue")["guaranteed"] = {"cpu": "20"}
    rows = [row for row in plan(ada, slower).json()["findings"] if row["cluster"]]
    assert {(row["cluster"], row["queue"], row["severity"]) for row in rows} == {
        ("prod", "root", "warning"),
        ("prod", "root.blue", "warning"),
    }
    assert sentences(rows) == [
        "The guarantees exceed the capacity: 28 of 12 cpu.",
        "The guarantee of 20 cpu exceeds the capacity of all nodes, 12.",
    ]
    assert rows[0]["remedy"] == "Lower guarantees until they fit, or add nodes."


def test_what_takes_too_long_to_foretell_has_a_reason(
    ada: APIClient, busy: Cluster, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no half of a forecast; what may not be unknown is refused."""
    settings.FORECAST_WORK_S = 1
    times = count(step=2)
    monkeypatch.setattr(forecasts, "thread_time", lambda: next(times))
    (row,) = plan(ada, taking(ada), MAIN).json()["forecasts"]
    assert row["forecast"] is None
    assert row["reason"].startswith("The forecast needs more than 1 s of CPU time")
    assert plan(ada, taking(ada), MAIN, fail_on="unknown").status_code == 409


def test_without_a_picture_there_is_no_forecast_and_a_reason(ada: APIClient, slower: Any) -> None:
    """Null, not an empty one."""
    (row,) = plan(ada, slower).json()["forecasts"]
    reason = "This cluster has not been read yet."
    assert row == {"cluster": "prod", "forecast": None, "reason": reason, "orphans": None}


def taking(client: APIClient) -> Any:
    """A tree that promises Test less, so that Prod may take of it."""
    form = own_form(client, MAIN)
    queue_of(form, "root.test")["guaranteed"] = {"cpu": "2"}
    return form


def test_a_torn_journal_keeps_no_tree_from_being_published(ada: APIClient, busy: Cluster) -> None:
    """There is no forecast then, and the reason says why."""
    JournalEntry.objects.update(blob=bytes([FORM]) + b"torn")
    response = put(ada, own_form(ada, MAIN) | {"parameters": {"last_resort": "never"}}, MAIN, match="*")
    assert (response.status_code, response.json()["forecasts"][0]["forecast"]) == (200, None)
    assert "journal" in response.json()["forecasts"][0]["reason"]


def test_what_a_change_would_preempt_is_told_by_cluster(ada: APIClient, busy: Cluster) -> None:
    """How many pods of how many applications, for whom, of whom; what would happen anyway is told apart."""
    (row,) = plan(ada, taking(ada), MAIN).json()["forecasts"]
    found = row["forecast"]
    assert (row["cluster"], row["reason"], found["snapshot_at"]) == ("east", None, "2026-01-05T12:00:00Z")
    assert (found["stability"], found["pending_pods"]) == ("stable", 1)
    assert found["next_pass"] == found["total"] == {"pods": 1, "applications": 1}
    group = {
        "preemptor_queue": "root.prod",
        "victim_queue": "root.test",
        "namespace": "canary-ns",
        "application": "etl",
    }
    assert found["caused_evictions"] == {
        "pods": 1,
        "applications": 1,
        "groups": [group | {"node": "n1", "pass_number": 1, "next_pass_pods": 1, "later_pass_pods": 0}],
    }
    assert [one["pending_pod"]["queue"] for one in found["newly_scheduled_pods"]] == ["root.prod"]
    assert (found["no_longer_scheduled_pods"], found["unreachable_guarantees"]) == ([], [])
    assert found["avoided_evictions"] == {"pods": 0, "applications": 0, "groups": []}


def test_what_a_change_would_spare_is_told(ada: APIClient, busy: Cluster) -> None:
    """The other way around, once it is in force: and the forecast is the one from before that."""
    before = own_form(ada, MAIN)
    published = put(ada, taking(ada), MAIN, match="*").json()
    assert published["forecasts"][0]["forecast"]["caused_evictions"]["pods"] == 1
    spared = plan(ada, before, MAIN).json()["forecasts"][0]["forecast"]
    assert (spared["avoided_evictions"]["pods"], spared["caused_evictions"]["pods"], spared["total"]["pods"]) == (
        1,
        0,
        0,
    )


def test_a_forecast_decides_nothing(ada: APIClient, busy: Cluster) -> None:
    """No decision is stored for it."""
    before = Decision.objects.count()
    plan(ada, taking(ada), MAIN)
    assert Decision.objects.count() == before


def test_a_token_for_a_subtree_is_told_of_its_own_pods(ada: APIClient, busy: Cluster) -> None:
    """What happens to others is not counted either."""
    form = own_form(ada, MAIN)
    queue_of(form, "root.prod")["guaranteed"] = {"cpu": "3"}
    user = User.objects.get(username="ada")
    of_prod = client_of(user, scopes=["tree:plan"], subtree="root.prod")
    response = plan(of_prod, form, MAIN)
    found = response.json()["forecasts"][0]["forecast"]
    assert (found["total"], found["pending_pods"]) == ({"pods": 0, "applications": 0}, 1)
    assert "canary" not in response.content.decode()
    less = taking(ada)
    of_test = client_of(user, scopes=["tree:plan"], subtree="root.test")
    assert plan(of_test, less, MAIN).json()["forecasts"][0]["forecast"]["total"]["pods"] == 1


def test_an_operator_is_refused_a_plan_and_an_admin_without_tokens_is_not(ada: APIClient, slower: Any) -> None:
    """Signed in to the pages, one is limited by role alone."""
    browser = APIClient()
    browser.force_login(User.objects.get(username="ada"))
    assert plan(browser, slower).status_code == 200
    browser.force_login(builders.user("someone", role=User.Role.OPERATOR))
    assert plan(browser, slower).status_code == 403
