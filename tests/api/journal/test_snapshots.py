"""Saved snapshots by REST: saved, uploaded, taken along, tried under trees, and forgotten."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.queues.drafts.edits import start
from tests.api import builders
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

URL, DOCUMENTED = "/api/v1/clusters/east/snapshots", "/api/v1/clusters/{name}/snapshots"
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8"}}}


def operator() -> APIClient:
    """Opal, whose token may change what is kept."""
    return client_of(builders.user("opal", role=User.Role.OPERATOR), scopes=["cluster:operate"])


def save(client: APIClient, **body: Any) -> Any:
    return client.post(URL, {"name": "before", **body}, format="json")


def upload(client: APIClient, data: bytes, kind: str = "application/zip") -> Any:
    return client.post(f"{URL}/upload?name=elsewhere", data, content_type=kind)


def test_a_cluster_is_saved_as_it_was_last_seen(busy: Cluster) -> None:
    """Listed, read, deleted."""
    opal = operator()
    made = save(opal)
    assert (made.status_code, made.json()["nodes"], made.json()["pods"], made.json()["created_by"]) == (
        201,
        1,
        5,
        "opal",
    )
    assert made.json()["policy"] == "fence"
    one = f"{URL}/{made.json()['id']}"
    assert opal.get(URL).json()["results"] == [opal.get(one).json()] == [made.json()]
    check(made, DOCUMENTED, "post")
    check(opal.get(URL), DOCUMENTED, "get")
    check(opal.get(one), f"{DOCUMENTED}/{{id}}", "get")
    assert (opal.delete(one).status_code, opal.get(one).status_code) == (204, 404)


def test_what_the_journal_does_not_tell_of_is_not_saved(busy: Cluster) -> None:
    """Nor what has no name."""
    opal = operator()
    assert "does not go back that far" in save(opal, taken_at="2001-01-01T00:00:00Z").json()["errors"][0]["detail"]
    assert errors(save(opal, name="")) == [{"pointer": "/name"}]
    assert opal.post("/api/v1/clusters/elsewhere/snapshots", {}, format="json").status_code == 404
    assert not SavedSnapshot.objects.exists()


def test_it_is_taken_along_and_brought_back(busy: Cluster) -> None:
    """With names or without; a file of plain objects will do."""
    opal = operator()
    file = f"{URL}/{save(opal).json()['id']}/file"
    response = opal.get(file)
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"].startswith('attachment; filename="east-snapshot-')
    for query, named in (("", True), ("?names=without", False)):
        with ZipFile(BytesIO(opal.get(f"{file}{query}").content)) as packed:
            assert ("prod-0" in "".join(packed.read(name).decode() for name in packed.namelist())) is named
    assert opal.get(file, headers={"If-None-Match": response["ETag"]}).status_code == 304
    back = upload(opal, response.content)
    assert (back.status_code, back.json()["uploaded"], back.json()["pods"]) == (201, True, 5)
    assert upload(opal, json.dumps(NODE).encode(), "application/json").json()["nodes"] == 1
    check(back, f"{DOCUMENTED}/upload", "post")


def test_what_is_no_file_of_ours_is_refused(busy: Cluster) -> None:
    """With what is wrong with it."""
    opal = operator()
    assert "no nodes and no pods" in upload(opal, b'{"kind": "List", "items": []}').json()["errors"][0]["detail"]
    assert upload(opal, b"").status_code == 400
    assert upload(opal, b"a: b", "text/plain").status_code == 415
    large = opal.post(f"{URL}/upload?name=x", b"0" * 33_000_000, content_type="application/zip")
    assert large.status_code == 413


def test_a_large_file_with_a_key_is_too_large_and_no_failure(busy: Cluster) -> None:
    """What is sent with a key is compared whole."""
    response = operator().post(
        f"{URL}/upload?name=x", b"0" * 18_000_000, content_type="application/zip", headers={"Idempotency-Key": "one"}
    )
    assert response.status_code == 413


def test_it_is_tried_under_the_trees_that_there_are(busy: Cluster) -> None:
    """Its own, the one in force, or a draft: in each, what would go."""
    opal = operator()
    one = f"{URL}/{save(opal).json()['id']}/forecast"
    assert busy.hierarchy
    draft = start(hierarchy=busy.hierarchy, name="next", author=builders.user("ada", role=User.Role.ADMIN))
    for tree in ("", "?tree=snapshot", "?tree=current", f"?tree=draft:{draft.pk}"):
        response = opal.get(f"{one}{tree}")
        body = response.json()
        assert body["tree"] == (tree.removeprefix("?tree=") or "snapshot")
        forecast = body["forecast"]
        assert (forecast["caused_evictions"]["pods"], body["reason"]) == (forecast["total"]["pods"], None)
        check(response, f"{DOCUMENTED}/{{id}}/forecast", "get")
    for tree in ("draft:999999", "latest"):
        assert errors(opal.get(f"{one}?tree={tree}")) == [{"parameter": "tree"}]


def test_who_reads_keeps_nothing(olga: APIClient, alice: APIClient, busy: Cluster) -> None:
    """A token for reading is told what it lacks; a tenant finds nothing."""
    kept = save(operator()).json()["id"]
    assert [save(olga).status_code, upload(olga, b"{}").status_code] == [403, 403]
    assert olga.delete(f"{URL}/{kept}").status_code == 403
    assert {alice.get(f"{URL}{rest}").status_code for rest in ("", f"/{kept}", f"/{kept}/file")} == {404}
