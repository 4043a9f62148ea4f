"""Drafts by REST: what the editor's page can do, under the ETag of what was read."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Membership, Site, Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Revision
from tests.api import builders
from tests.api.builders import BLUE, CANARY, RED
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import MAIN, errors, own_form, plan, put, queue_of, revisions

pytestmark = pytest.mark.django_db
DRAFTS = "/api/v1/hierarchies/prod-tree/drafts"


def send(client: APIClient, method: str, address: str, body: Any = None, match: str = "") -> Any:
    headers = {"If-Match": match} if match else {}
    return client.generic(method, address, json.dumps(body or {}), content_type="application/json", headers=headers)


class Editing:
    """A draft as one person's client sees it; every act is sent with the ETag of the answer before."""

    def __init__(self, client: APIClient, drafts: str = DRAFTS) -> None:
        made = send(client, "POST", drafts, {"name": "more room"})
        assert made.status_code == 201, made.json()
        self.client, self.tag, self.said = client, made["ETag"], made.json()
        self.address = f"{drafts}/{self.said['id']}"

    def act(self, name: str, /, **more: Any) -> Any:
        """Do it; what was answered."""
        answer = send(self.client, "POST", f"{self.address}/actions", {"action": name, **more}, self.tag)
        if answer.status_code == 200:
            self.tag, self.said = answer["ETag"], answer.json()["draft"]
        return answer

    def paths(self) -> list[str]:
        """Of its queues."""
        return [queue["path"] for queue in self.said["queues"]]

    def settings(self, path: str) -> Any:
        """Of one of its queues."""
        return next(queue["settings"] for queue in self.said["queues"] if queue["path"] == path)

    def publish(self, reason: str = "a test") -> Any:
        """Put it in force."""
        return send(self.client, "POST", f"{self.address}/publish", {"reason": reason}, self.tag)


@pytest.fixture
def editing(cluster: Cluster, ada: APIClient) -> Editing:
    """Ada's draft of prod-tree."""
    return Editing(ada)


def test_a_draft_is_edited_and_published(ada: APIClient, editing: Editing) -> None:
    """What it changes is told in words; published, it is gone, and in force."""
    done = editing.act("edit", queue=RED, settings={"max/cpu": "12", "delay": "6s"})
    assert (done.status_code, done.json()["queue"]) == (200, RED)
    assert (editing.settings(RED)["max/cpu"], editing.said["change_count"], editing.said["error_count"]) == ("12", 1, 0)
    told = {change["sentence"] for change in editing.said["changes"]}
    assert told == {f"{RED}: delay 5s → 6s", f"{RED}: max cpu 10 → 12"}
    assert [one["id"] for one in ada.get(DRAFTS).json()["results"]] == [editing.said["id"]]
    answer = editing.publish("more for batch")
    assert (answer.status_code, answer.json()) == (200, {"revision": 2})
    assert Revision.objects.get(number=2).reason == "more for batch"
    assert queue_of(own_form(ada), RED)["max"] == {"cpu": "12"}
    assert ada.get(editing.address).status_code == 404


def test_what_was_not_read_is_not_overwritten(ada: APIClient, editing: Editing) -> None:
    """Every write says what it read: 428 without, 412 when it moved on, and nothing is changed then."""
    read = editing.tag
    assert editing.act("edit", queue=RED, settings={"delay": "6s"}).status_code == 200
    for method, address, body in (
        ("POST", f"{editing.address}/actions", {"action": "delete", "queue": BLUE}),
        ("POST", f"{editing.address}/publish", {"reason": "a test"}),
        ("DELETE", editing.address, None),
    ):
        assert send(ada, method, address, body).status_code == 428
        late = send(ada, method, address, body, read)
        assert (late.status_code, late["ETag"]) == (412, editing.tag)
    assert (BLUE in editing.paths(), revisions()) == (True, [1])
    assert send(ada, "DELETE", editing.address, match=editing.tag).status_code == 204
    assert Draft.objects.count() == 0


def test_unchanged_it_is_not_sent_again(ada: APIClient, editing: Editing, slower: Any) -> None:
    """The ETag of an act's answer is that of the draft, and changes with what is in force."""
    assert ada.get(editing.address, headers={"If-None-Match": editing.tag}).status_code == 304
    put(ada, slower, match="*")
    again = ada.get(editing.address, headers={"If-None-Match": editing.tag})
    assert (again.status_code, again.json()["outdated"]) == (200, True)


def test_what_cant_be_read_is_kept_and_told_at_its_place(editing: Editing) -> None:
    """As typed; the pointer of its note leads there, and it can't be published."""
    editing.act("edit", queue=RED, settings={"max/cpu": "many"})
    note = next(one for one in editing.said["findings"] if one["severity"] == "error")
    at: Any = editing.said
    for part in note["pointer"].split("/")[1:]:
        at = at[int(part) if isinstance(at, list) else part.replace("~1", "/").replace("~0", "~")]
    assert (at, note["queue"], editing.said["error_count"]) == ("many", RED, 1)
    answer = editing.publish()
    assert (answer.status_code, revisions()) == (422, [1])


def test_queues_are_added_named_moved_copied_and_deleted(editing: Editing) -> None:
    """Each is named by its path; the answer says which it is now."""
    assert editing.act("add", parent="root.red", name="night").json()["queue"] == "root.red.night"
    assert editing.act("rename", queue="root.red.night", name="late").json()["queue"] == "root.red.late"
    assert editing.act("move", queue="root.red.late", parent="root").json()["queue"] == "root.late"
    assert editing.act("copy", queue=RED, parent="root.red").json()["queue"] == "root.red.batch-copy"
    assert editing.settings("root.red.batch-copy")["max/cpu"] == "10"
    editing.act("delete", queue="root.red")
    assert editing.paths() == ["root", BLUE, "root.late"]
    assert {(one["queue"], one["kind"]) for one in editing.said["changes"]} == {
        ("root.late", "added"),
        ("root.red", "removed"),
        (RED, "removed"),
    }


def test_a_queue_that_moved_is_told_with_both_paths(editing: Editing) -> None:
    """As one change, not as two."""
    editing.act("rename", queue=RED, name="nightly")
    (change,) = editing.said["changes"]
    assert (change["kind"], change["before"], change["after"]) == ("moved", RED, "root.red.nightly")
    assert next(one["base_path"] for one in editing.said["queues"] if one["path"] == "root.red.nightly") == RED


def test_acts_are_undone_and_done_again(editing: Editing) -> None:
    """One's own, the last first; whether there is one is told."""
    editing.act("delete", queue="root.red")
    assert (editing.said["undoable"], editing.said["redoable"]) == (True, False)
    editing.act("undo")
    assert (RED in editing.paths(), editing.said["undoable"], editing.said["redoable"]) == (True, False, True)
    editing.act("redo")
    assert RED not in editing.paths()


def test_how_a_tree_decides_is_set_beside_its_queues(editing: Editing) -> None:
    """Policy and parameters as settings, placement rules as a list, each told where it is wrong."""
    editing.act("edit", settings={"policy": "priority"})
    assert (editing.said["settings"]["policy"], editing.said["changes"][0]["field"]) == ("priority", "policy")
    rules = [{"name": "fixed", "value": "root.blue"}]
    editing.act("set-placement", placement=rules)
    assert editing.said["placement"] == rules
    editing.act("set-placement", placement=[{"name": "nonsense"}])
    assert "/placement/0/name" in [one["pointer"] for one in editing.said["findings"]]
    editing.act("set-placement", placement=[])
    assert editing.said["placement"] == []


def test_what_both_changed_is_chosen_after_a_merge(ada: APIClient, editing: Editing) -> None:
    """Until then it can't be published, before the merge neither."""
    editing.act("edit", queue=RED, settings={"delay": "6s"})
    form = own_form(ada)
    queue_of(form, RED)["delay"] = "9s"
    put(ada, form, match="*")
    editing.tag = ada.get(editing.address)["ETag"]
    assert editing.publish().status_code == 422
    editing.act("merge")
    found = {"queue": RED, "setting": "delay", "base": "5s", "published": "9s", "draft": "6s"}
    assert (editing.said["conflicts"], editing.said["base_revision"]) == ([found], 2)
    assert editing.publish().status_code == 422
    editing.act("resolve-conflict", queue=RED, setting="delay", side="mine")
    assert editing.said["conflicts"] == []
    assert editing.publish().json() == {"revision": 3}


def test_a_second_person_approves(ada: APIClient, editing: Editing) -> None:
    """Where the site wants one: what they read is what is published."""
    Site.objects.create(second_for_admins=True)
    editing.act("edit", queue=RED, settings={"delay": "6s"})
    assert editing.publish().status_code == 422
    other = client_of(builders.user("eve", role=User.Role.ADMIN), scopes=["tree:write"])
    approved = send(other, "POST", f"{editing.address}/actions", {"action": "approve"}, editing.tag)
    assert approved.json()["draft"]["approved_by"] == "eve"
    editing.tag = approved["ETag"]
    assert editing.publish().status_code == 200


def test_its_forecast_is_that_of_the_same_tree_sent(ada: APIClient, busy: Cluster) -> None:
    """What a draft would preempt is what the tree that it says would, sent whole; nothing is changed."""
    form = own_form(ada, MAIN)
    queue_of(form, "root.test")["guaranteed"] = {"cpu": "2"}
    editing = Editing(ada, MAIN.replace("/tree", "/drafts"))
    editing.act("edit", queue="root.test", settings={"guaranteed/cpu": "2"})
    told = ada.get(f"{editing.address}/forecast").json()
    assert told["forecasts"] == plan(ada, form, MAIN).json()["forecasts"]
    assert told["forecasts"][0]["forecast"]["caused_evictions"]["pods"] > 0


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, "/action"),
        ({"action": "burn"}, "/action"),
        ({"action": ["edit"]}, "/action"),
        ({"action": "edit", "queue": RED}, "/settings"),
        ({"action": "edit", "queue": RED, "settings": {"colour": "red"}}, "/settings/colour"),
        ({"action": "edit", "queue": RED, "settings": {"max/c\0pu": "1"}}, "/settings"),
        ({"action": "edit", "queue": RED, "settings": {"max/cpu": "\ud800"}}, "/settings/max~1cpu"),
        ({"action": "edit", "queue": "root.gone", "settings": {"delay": "1s"}}, "/queue"),
        ({"action": "add", "parent": "root.gone", "name": "x"}, "/parent"),
        ({"action": "undo", "queue": RED}, "/queue"),
        ({"action": "resolve-conflict", "side": "both"}, "/side"),
        ({"action": "set-placement", "placement": "all"}, "/placement"),
    ],
)
def test_what_no_act_is_is_refused_at_its_place(editing: Editing, body: dict[str, Any], wrong: str) -> None:
    """And leaves the draft as it was."""
    answer = send(editing.client, "POST", f"{editing.address}/actions", body, editing.tag)
    assert (answer.status_code, [one["pointer"] for one in errors(answer)]) == (422, [wrong])
    assert editing.client.get(editing.address)["ETag"] == editing.tag


def test_of_several_settings_all_or_none_are_set(editing: Editing) -> None:
    """One that there is not takes the others back."""
    answer = editing.act("edit", queue=RED, settings={"delay": "6s", "colour": "red"})
    assert (answer.status_code, editing.client.get(editing.address)["ETag"]) == (422, editing.tag)


def test_an_editor_sees_and_changes_their_own(cluster: Cluster, red: Tenant) -> None:
    """Below the top of their subtree, in drafts of their own; of the others nothing is told."""
    erin = builders.user("erin")
    Membership.objects.create(user=erin, tenant=red, role=Membership.Role.EDITOR)
    editing = Editing(client_of(erin, scopes=["tree:write"]))
    assert editing.paths() == ["root.red", RED]
    assert "namespaces" not in editing.settings(RED)
    assert editing.said["placement"] is None
    for queue in ("root.red", BLUE):
        assert editing.act("edit", queue=queue, settings={"delay": "9s"}).status_code == 422
    refused = editing.act("edit", queue=BLUE, settings={"delay": "9s"})
    assert CANARY not in refused.content.decode()
    editing.act("edit", queue=RED, settings={"delay": "6s"})
    assert CANARY not in json.dumps(editing.said)
    assert editing.publish().json() == {"revision": 2}


def test_drafts_are_the_editors_own_and_the_staffs(editing: Editing, alice: APIClient, olga: APIClient) -> None:
    """A tenant finds none, an operator reads, and a token is for no more than its scopes."""
    assert [alice.get(address).status_code for address in (DRAFTS, editing.address)] == [404, 404]
    assert [olga.get(address).status_code for address in (DRAFTS, editing.address)] == [200, 200]
    assert send(olga, "POST", DRAFTS, {"name": "mine"}).status_code == 403
    reader = client_of(User.objects.get(username="ada"), scopes=["tree:plan"])
    refused = send(reader, "POST", f"{editing.address}/actions", {"action": "undo"}, editing.tag)
    assert (refused.status_code, 'scope="tree:write"' in refused["WWW-Authenticate"]) == (403, True)


def test_answers_are_as_documented(ada: APIClient, editing: Editing) -> None:
    """Begun, listed, read, changed, foretold, refused for every reason, published."""
    drafts = "/api/v1/hierarchies/{name}/drafts"
    check(send(ada, "POST", DRAFTS, {"name": "another"}), drafts, "post")
    check(send(ada, "POST", DRAFTS), drafts, "post")
    check(editing.act("edit", queue=RED, settings={"delay": "6s"}), f"{drafts}/{{id}}/actions", "post")
    check(editing.act("burn"), f"{drafts}/{{id}}/actions", "post")
    check(ada.get(DRAFTS), drafts, "get")
    check(ada.get(editing.address), f"{drafts}/{{id}}", "get")
    check(ada.get(f"{editing.address}/forecast"), f"{drafts}/{{id}}/forecast", "get")
    for match in ("", '"other"', editing.tag):
        answer = send(ada, "POST", f"{editing.address}/publish", {"reason": "a test"}, match)
        check(answer, f"{drafts}/{{id}}/publish", "post")
