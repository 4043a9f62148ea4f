"""A tree that leaves pods in no queue is told with their number, and put in force only where that is allowed."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from tests.api.sending import MAIN, own_form, plan, put, queue_of

LOST = [{"detail": "root.test: 4 running pods would belong to no queue.", "queue": "root.test", "cluster": "east"}]


@pytest.fixture
def renamed(ada: APIClient, busy: Cluster) -> Any:
    """The tree in force, with Test under another name."""
    form = own_form(ada, MAIN)
    queue_of(form, "root.test")["path"] = "root.trial"
    return form


def known(form: Any) -> Any:
    """The same with the name that its pods name."""
    queue_of(form, "root.trial")["former_paths"] = ["root.test"]
    return form


def test_a_plan_counts_them(ada: APIClient, renamed: Any) -> None:
    (row,) = plan(ada, renamed, MAIN).json()["forecasts"]
    assert row["orphans"] == {
        "running_pods": 4,
        "pending_pods": 0,
        "queues": [{"queue": "root.test", "running_pods": 4, "pending_pods": 0}],
        "sentence": "4 running pods would belong to no queue.",
    }
    refused = plan(ada, renamed, MAIN, fail_on="orphans")
    assert (refused.status_code, refused.json()["errors"][0]["detail"]) == (409, row["orphans"]["sentence"])


def test_it_is_refused_unless_that_is_allowed(ada: APIClient, renamed: Any) -> None:
    refused = put(ada, renamed, MAIN, match="*")
    assert (refused.status_code, refused.json()["errors"]) == (409, LOST)
    assert "allow_orphans" in refused.json()["detail"]
    assert put(ada, renamed, MAIN, match="*", allow_orphans="true").status_code == 200


def test_a_former_path_keeps_them_and_the_rename_is_told_as_one(ada: APIClient, renamed: Any) -> None:
    answer = put(ada, known(renamed), MAIN, match="*")
    assert answer.status_code == 200
    assert answer.json()["forecasts"][0]["orphans"] is None
    assert [(one["kind"], one["sentence"]) for one in answer.json()["changes"]] == [
        ("moved", "root.test moved to root.trial")
    ]
    assert ada.get("/api/v1/clusters/east/queues/root.trial").json()["former_paths"] == ["root.test"]


def test_drafts_and_revisions_are_asked_the_same(ada: APIClient, busy: Cluster) -> None:
    """Deleting a queue whose pods run."""
    drafts = "/api/v1/hierarchies/main/drafts"
    made = ada.post(drafts, {"name": "less"}, format="json").json()
    here = f"{drafts}/{made['id']}"
    tag = ada.get(here)["ETag"]
    acted = ada.post(f"{here}/actions", {"action": "delete", "queue": "root.test"}, format="json", HTTP_IF_MATCH=tag)
    assert acted.status_code == 200, acted.json()
    tag = ada.get(here)["ETag"]
    asked = {"reason": "less"}
    refused = ada.post(f"{here}/publish", asked, format="json", HTTP_IF_MATCH=tag)
    assert (refused.status_code, refused.json()["errors"]) == (409, LOST)
    asked["allow_orphans"] = True  # type: ignore[assignment]
    assert ada.post(f"{here}/publish", asked, format="json", HTTP_IF_MATCH=tag).status_code == 200
