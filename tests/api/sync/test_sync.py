"""The cluster's own copy of a tree by REST: how it stands to ours, and what may be done about it."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from engine.cluster.sync.copies import ClusterCopy as Seen
from engine.cluster.sync.copies import CopyEffect, SchedulerAnswer
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync.models import Writing
from scheduler_admin.sync.observation import SETTLES, keep, keep_effect
from scheduler_admin.sync.services import copy_of
from tests.api.builders import NOW
from tests.api.rest.test_openapi import check
from tests.api.sending import errors
from tests.pages import rows
from tests.sync.builders import TEXT, changed

URL, DOCUMENTED = "/api/v1/clusters/east/configuration", "/api/v1/clusters/{name}/configuration"


@pytest.fixture
def east(db: None) -> Cluster:
    """In step with revision 1, as the worker stored it."""
    revision, _notes = import_tree(hierarchy="east", text=TEXT, author=None, reason="as it was")
    made = rows.cluster("east", revision)
    see(made, TEXT, version="1")
    return made


def see(cluster: Cluster, text: str, version: str) -> None:
    """The worker has looked."""
    seen = Seen(namespace="yunikorn", text=text, version=f"uid/{version}", writer="kubectl-edit", written_at=NOW)
    keep(copy=copy_of(cluster), seen=seen, now=NOW)


def act(client: APIClient, match: str = "", **body: Any) -> Any:
    headers = {"If-Match": match} if match else {}
    return client.post(f"{URL}/actions", body, format="json", headers=headers)


def test_it_is_told_how_the_two_stand(olga: APIClient, east: Cluster) -> None:
    """In step; then what others changed there, who, and what writing would take back."""
    first = olga.get(URL)
    assert (first.json()["sync_status"], first.json()["drifted"], first.json()["changes_to_write"]) == (
        "in-sync",
        False,
        [],
    )
    assert olga.get(URL, headers={"If-None-Match": first["ETag"]}).status_code == 304
    see(east, changed(), version="2")
    body = olga.get(URL).json()
    assert (body["sync_status"], body["drifted"], body["written_by"], body["revision"]) == (
        "changed-in-cluster",
        True,
        "kubectl-edit",
        1,
    )
    assert (
        [row["before"] for row in body["cluster_changes"]] == [row["after"] for row in body["changes_to_write"]] != []
    )
    check(olga.get(URL), DOCUMENTED, "get")


def test_a_cluster_that_nobody_has_looked_into_has_none(olga: APIClient, cluster: Cluster) -> None:
    """As far as is known."""
    body = olga.get("/api/v1/clusters/prod/configuration").json()
    assert (body["sync_status"], body["checked_at"], body["format"], body["writes"]) == ("none", None, None, [])


def test_a_revision_is_written_over_what_was_read_and_nothing_else(ada: APIClient, east: Cluster) -> None:
    """Others' changes are taken back where that is confirmed; the worker does it."""
    read = ada.get(URL)["ETag"]
    see(east, changed(), version="2")
    sent = {"action": "write", "reason": "as agreed", "overwrite": True}
    assert [act(ada, **sent).status_code, act(ada, read, **sent).status_code] == [428, 412]
    now = ada.get(URL)["ETag"]
    assert errors(act(ada, now, action="write", reason="as agreed")) == [{"pointer": "/overwrite"}]
    assert errors(act(ada, now, action="write", overwrite=True)) == [{"pointer": "/reason"}]
    assert not Writing.objects.exists()
    done = act(ada, now, **sent)
    assert (done.status_code, done.json()["configuration"]["write_in_progress"]) == (200, True)
    assert [(row["revision"], row["state"], row["created_by"]) for row in done.json()["configuration"]["writes"]] == [
        (1, "in-progress", "ada")
    ]
    assert done["ETag"] == ada.get(URL)["ETag"] != now
    check(done, f"{DOCUMENTED}/actions", "post")


def test_what_the_scheduler_last_used_is_put_back_over_what_it_refuses(ada: APIClient, east: Cluster) -> None:
    """Over the copy that was read, with a reason; and only where it is refused."""
    used, later = SchedulerAnswer(effect=CopyEffect.APPLIED), NOW + 2 * SETTLES
    keep_effect(copy=copy_of(east), answer=used, now=NOW)
    sent = {"action": "restore", "reason": "outage"}
    assert act(ada, ada.get(URL)["ETag"], **sent).status_code == 422
    see(east, changed(), version="2")
    read = ada.get(URL)["ETag"]
    keep_effect(
        copy=copy_of(east), answer=SchedulerAnswer(effect=CopyEffect.REJECTED, why="root queue must not"), now=later
    )
    assert [act(ada, **sent).status_code, act(ada, read, **sent).status_code] == [428, 412]
    now = ada.get(URL)
    assert (now.json()["effect"], now.json()["effect_message"]) == ("rejected", "root queue must not")
    assert errors(act(ada, now["ETag"], action="restore")) == [{"pointer": "/reason"}]
    assert not Writing.objects.exists()
    done = act(ada, now["ETag"], **sent)
    assert [(row["revision"], row["state"]) for row in done.json()["configuration"]["writes"]] == [
        (None, "in-progress")
    ]
    assert Writing.objects.get().text == TEXT
    check(done, f"{DOCUMENTED}/actions", "post")


def test_it_is_taken_into_a_draft(ada: APIClient, east: Cluster) -> None:
    """Which says what the copy does."""
    see(east, changed(), version="2")
    assert act(ada, action="create-draft").json()["draft_id"] == Draft.objects.get().pk


def test_where_it_is_and_when_it_is_looked_at_is_said(ada: APIClient, east: Cluster) -> None:
    """The worker looks as soon as it can."""
    placed = act(ada, action="set-namespace", namespace="scheduling", reason="moved")
    assert (placed.json()["configuration"]["namespace"], placed.json()["draft_id"]) == ("scheduling", None)
    assert errors(act(ada, action="set-namespace", namespace="No Name", reason="moved")) == [{"pointer": "/namespace"}]
    copy = copy_of(east)
    copy.due_at = NOW.replace(hour=23)
    copy.save()
    assert act(ada, action="check").status_code == 200
    assert copy_of(east).due_at == NOW
    assert errors(act(ada, action="burn")) == [{"pointer": "/action"}]


def test_who_may_not_write_trees_looks_on(olga: APIClient, alice: APIClient, east: Cluster) -> None:
    """Operators read; tenants find nothing."""
    assert (olga.get(URL).status_code, act(olga, action="check").status_code) == (200, 403)
    assert (alice.get(URL).status_code, act(alice, action="check").status_code) == (404, 404)
