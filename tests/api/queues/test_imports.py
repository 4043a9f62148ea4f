"""Documents of other systems by REST: what becomes what is told before, and a draft says what one does."""

from typing import Any
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from engine.formats.registry import Format
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Hierarchy
from tests.api.builders import RED
from tests.api.conftest import client_of
from tests.api.queues.test_drafts import DRAFTS, Editing, send
from tests.api.rest.test_openapi import check
from tests.api.sending import PROD, SMALL, errors, own_form, plan, put, queue_of
from tests.engine.test_kueue_objects import DOCUMENT as KUEUE
from tests.engine.test_native import DOCUMENTS, OWN

IMPORT = f"{DRAFTS}/import"


def bring(client: APIClient, text: str, kind: str = "application/yaml", **query: str) -> Any:
    """Send a document to be made a draft of."""
    return client.post(f"{IMPORT}?{urlencode({'name': 'from elsewhere', **query})}", text, content_type=kind)


def test_a_plan_tells_what_becomes_what_by_line(ada: APIClient, cluster: Cluster) -> None:
    """Each queue with what it is there, and as our own form has it."""
    response = plan(ada, KUEUE)
    told = response.json()["imported_document"]
    check(response, "/api/v1/hierarchies/{name}/tree", "put")
    assert told["format"] == "kueue"
    found = {row["queue"]["path"]: (row["source_name"], row["line"]) for row in told["queues"]}
    assert found["root"] == (None, None)
    assert found["root.research.vision"] == ("ClusterQueue vision", 16)
    vision = next(row["queue"] for row in told["queues"] if row["source_name"] == "ClusterQueue vision")
    assert vision["guaranteed"] == {"cpu": "9", "memory": "36Gi"}


@pytest.mark.parametrize("form", Format)
def test_every_format_is_told_of(ada: APIClient, cluster: Cluster, form: Format) -> None:
    """By the name that GET takes."""
    told = plan(ada, DOCUMENTS[form]).json()["imported_document"]
    assert told["format"] == form.value
    assert {row["queue"]["path"] for row in told["queues"]} >= {"root"}


def test_our_own_form_in_json_becomes_what_it_says(ada: APIClient, cluster: Cluster) -> None:
    """There is nothing to tell."""
    assert plan(ada, SMALL).json()["imported_document"] is None


def test_what_could_not_be_taken_over_is_told_apart_from_what_is_odd_about_the_tree(
    ada: APIClient, cluster: Cluster
) -> None:
    """Both by line."""
    rows = plan(ada, KUEUE).json()["findings"]
    kept = [row for row in rows if row["from_import"] and row["severity"] == "info"]
    assert {row["line"] for row in kept} == {4, 19}
    assert not any(row["from_import"] for row in plan(ada, own_form(ada)).json()["findings"])
    assert any(not row["from_import"] for row in rows)


@pytest.mark.parametrize("form", Format)
def test_a_document_becomes_a_draft(ada: APIClient, cluster: Cluster, form: Format) -> None:
    """Of any format; what is in force stays, and published it comes back to the byte."""
    response = bring(ada, DOCUMENTS[form])
    check(response, "/api/v1/hierarchies/{name}/drafts/import", "post")
    assert (response.status_code, response.json()["name"]) == (201, "from elsewhere")
    assert response.json()["change_count"] > 0
    assert queue_of(own_form(ada), RED)
    address = f"{DRAFTS}/{response.json()['id']}"
    assert ada.get(address)["ETag"] == response["ETag"]
    done = send(ada, "POST", f"{address}/publish", {"reason": "brought"}, response["ETag"])
    assert done.status_code == 200, done.json()
    assert ada.get(PROD, {"format": form}, HTTP_ACCEPT="application/yaml").content.decode() == DOCUMENTS[form]


def test_our_own_form_in_json_becomes_a_draft(ada: APIClient, cluster: Cluster, slower: Any) -> None:
    """As GET gives it."""
    response = ada.post(f"{IMPORT}?name=slower", slower, format="json")
    assert [change["sentence"] for change in response.json()["changes"]] == [f"{RED}: delay 5s → 6s"]


def test_a_crossed_tree_in_json_becomes_a_draft_too(ada: APIClient, cluster: Cluster) -> None:
    """What contradicts itself is put right there."""
    form = {"queues": [{"path": "root"}, {"path": "root.a", "max": {"cpu": "4"}, "guaranteed": {"cpu": "8"}}]}
    made = ada.post(f"{IMPORT}?name=json", form, format="json")
    assert (made.status_code, made.json()["error_count"]) == (201, 1)


def test_a_tree_that_could_not_be_published_becomes_a_draft_all_the_same(ada: APIClient, cluster: Cluster) -> None:
    """There it is put right: what is wrong stands in its notes."""
    crossed = OWN.replace("max: {cpu: 4}", "max: {cpu: 4}, guaranteed: {cpu: 8}")
    assert put(ada, crossed, match=ada.get(PROD)["ETag"]).status_code == 422
    response = bring(ada, crossed)
    assert response.status_code == 201
    assert [note["queue"] for note in response.json()["findings"] if note["severity"] == "error"] == ["root.b"]


def test_what_can_not_be_read_makes_no_draft(ada: APIClient, cluster: Cluster) -> None:
    """Every error at its line; nothing is kept."""
    refused = bring(ada, OWN.replace("30s", "soon"))
    assert (refused.status_code, errors(refused)) == (422, [{"line": 7, "queue": "root.a"}])
    form = {"queues": [{"path": "root"}, {"path": "root.a", "delay": "soon"}]}
    refused = ada.post(f"{IMPORT}?name=json", form, format="json")
    assert errors(refused) == [{"pointer": "/queues/1/delay", "queue": "root.a"}]
    assert bring(ada, "kind: [", document="kueue").status_code == 400
    assert errors(bring(ada, OWN, format="excel")) == [{"parameter": "format"}]
    assert errors(ada.post(IMPORT, OWN, content_type="application/yaml")) == [{"parameter": "name"}]
    assert bring(ada, OWN, kind="text/plain").status_code == 415
    assert not Draft.objects.exists()


def test_before_the_first_revision_there_is_nothing_to_draft_on(ada: APIClient, db: None) -> None:
    """It is put in force instead."""
    Hierarchy.objects.create(name="prod-tree")
    assert bring(ada, OWN).status_code == 422


def test_only_who_may_change_the_whole_tree_imports(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """As on the page; a stranger to the tree does not find it, and a token that only reads is told so."""
    writer = client_of(User.objects.get(username="alice"), scopes=["tree:write"])
    assert [bring(client, OWN).status_code for client in (olga, alice, writer)] == [403, 403, 404]


def test_what_was_brought_is_edited_on(ada: APIClient, cluster: Cluster) -> None:
    """It is a draft like any other."""
    made = bring(ada, OWN)
    edit = {"action": "edit", "queue": "root.a", "settings": {"delay": "6s"}}
    acted = send(ada, "POST", f"{DRAFTS}/{made.json()['id']}/actions", edit, made["ETag"])
    assert acted.status_code == 200
    assert Editing(ada).said["change_count"] == 0
