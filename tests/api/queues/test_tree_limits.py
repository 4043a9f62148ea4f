"""What a sender rules out by fail_on."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.api.fail_on import Limit, broken
from tests.api.builders import RED
from tests.api.conftest import client_of
from tests.api.queues.test_tree_plans import taking
from tests.api.sending import MAIN, PROD, own_form, plan, put, queue_of, revisions


def said(response: Any) -> list[str]:
    """What of it is ruled out, in words."""
    return [error["detail"] for error in response.json()["errors"]]


def test_a_tree_that_preempts_is_no_success_and_is_not_published(ada: APIClient, busy: Cluster) -> None:
    """The answer has all that a plan has; without the word it is one."""
    sent = taking(ada)
    told = plan(ada, sent, MAIN).json()
    for response in (
        plan(ada, sent, MAIN, fail_on="preemptions"),
        put(ada, sent, MAIN, match="*", fail_on=["loops", "preemptions"]),
    ):
        assert response.status_code == 409
        assert response["Content-Type"] == "application/problem+json"
        assert response.json()["errors"] == [{"detail": "The change would preempt 1 pod in east.", "cluster": "east"}]
        assert response.json()["result"] == told
        assert response["ETag"] == ada.get(MAIN)["ETag"]
    assert put(ada, sent, MAIN, match="*", fail_on=["loops", "unreachable", "unknown"]).status_code == 200


def test_pods_that_go_anyway_are_not_the_changes(ada: APIClient, busy: Cluster) -> None:
    """The same preemption under both trees."""
    put(ada, taking(ada), MAIN, match="*")
    form = own_form(ada, MAIN)
    queue_of(form, "root.test")["delay"] = "7s"
    response = plan(ada, form, MAIN, fail_on="preemptions")
    assert (response.status_code, response.json()["forecasts"][0]["forecast"]["total"]["pods"]) == (200, 1)


def test_where_nobody_knows_is_a_word_of_its_own(ada: APIClient, slower: Any) -> None:
    """Nothing was read of the cluster."""
    assert plan(ada, slower, fail_on=["preemptions", "loops", "unreachable"]).status_code == 200
    (sentence,) = said(plan(ada, slower, fail_on="unknown"))
    assert sentence == "The preemptions in prod can't be forecast. This cluster has not been read yet."


def test_a_hierarchy_that_no_cluster_uses_is_unknown_too(ada: APIClient, slower: Any) -> None:
    """A misspelled name would otherwise pass every check."""
    nowhere = PROD.replace("prod-tree", "prod-treee")
    response = plan(ada, slower, nowhere, fail_on="unknown")
    assert response.status_code == 409
    assert response.json()["errors"] == [
        {"detail": "No cluster uses this hierarchy, so preemptions can't be forecast."}
    ]
    assert plan(ada, slower, nowhere, fail_on=["preemptions", "loops"]).status_code == 200


def test_findings_are_ruled_out_by_how_grave_they_are(ada: APIClient, slower: Any) -> None:
    """A warning at its place; errors are refused in any case."""
    assert plan(ada, slower, fail_on="lint:error").status_code == 200
    response = plan(ada, slower, fail_on="lint:warning")
    odd = next(error for error in response.json()["errors"] if error["queue"] == RED)
    assert (response.status_code, odd["pointer"]) == (409, "/queues/3/preemption_policy")
    assert len(said(plan(ada, slower, fail_on="lint:info"))) >= len(said(response))
    queue_of(slower, RED)["max"] = {"cpu": "1Gb"}
    assert plan(ada, slower, fail_on="lint:error").status_code == 422


def test_an_unreachable_guarantee_may_be_ruled_out(ada: APIClient, busy: Cluster) -> None:
    """Prod is promised what Test fills, and may not take, as it is promised to Test."""
    promised, form = own_form(ada, MAIN), own_form(ada, MAIN)
    del queue_of(form, "root.prod")["guaranteed"]
    put(ada, form, MAIN, match="*")
    response = plan(ada, promised, MAIN, fail_on="unreachable")
    assert said(response) == ["root.prod would stay below its guarantee in east."]


def test_a_loop_may_be_ruled_out() -> None:
    """What never comes to rest is told as such."""
    told = {"caused_evictions": {"pods": 0}, "stability": "loop", "unreachable_guarantees": []}
    outcome = {"findings": [], "forecasts": [{"cluster": "east", "forecast": told, "reason": None, "orphans": None}]}
    (error,) = broken(outcome, frozenset({Limit.LOOPS}))
    assert error == {"detail": "The change would cause an endless preemption loop in east.", "cluster": "east"}
    assert broken(outcome, frozenset({Limit.PREEMPTIONS, Limit.UNKNOWN})) == []


@pytest.mark.parametrize("words", ["preemption", "lint", ["preemptions", "everything"], "preemptions,loops"])
def test_a_word_that_there_is_not_is_an_error(ada: APIClient, slower: Any, words: str | list[str]) -> None:
    """It would rule out nothing."""
    response = plan(ada, slower, fail_on=words)
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "fail_on")
    assert "lint:warning" in said(response)[0]


def test_a_token_for_a_subtree_is_held_to_its_own_pods(ada: APIClient, busy: Cluster) -> None:
    """Those of others it is not told of."""
    form = own_form(ada, MAIN)
    queue_of(form, "root.prod")["guaranteed"] = {"cpu": "3"}
    of_prod = client_of(User.objects.get(username="ada"), scopes=["tree:plan"], subtree="root.prod")
    assert plan(of_prod, form, MAIN, fail_on="preemptions").status_code == 200


def test_the_same_tree_again_is_judged_too(ada: APIClient, cluster: Cluster, slower: Any) -> None:
    """Whoever rules something out does not want it to be in force either."""
    assert put(ada, own_form(ada), PROD, fail_on="lint:warning").status_code == 409
    assert revisions() == [1]
