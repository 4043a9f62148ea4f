"""A tree is put in force, once, with its reason, on record."""

from typing import Any

from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken, AuditEvent
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import create_hierarchy, tree_of
from tests.api.builders import RED
from tests.api.sending import NEW, PROD, SMALL, YAML, own_form, plan, put, revisions


def test_a_changed_tree_is_the_next_revision(ada: APIClient, slower: Any, tag: str) -> None:
    """Numbered, with its author and reason, and on record."""
    response = put(ada, slower, match=tag, reason="slower batch")
    assert (response.status_code, response["ETag"]) == (200, ada.get(PROD)["ETag"])
    assert (response.json()["changed"], response.json()["revision"]) == (True, 2)
    revision = Hierarchy.objects.get(name="prod-tree").current
    assert revision is not None
    assert (revision.number, revision.author_name, revision.reason) == (2, "ada", "slower batch")
    assert tree_of(revision)[RED].delay_ms == 6000
    event = AuditEvent.objects.filter(verb="tree.publish").first()
    assert event is not None
    assert (event.actor_name, event.reason) == ("ada", "slower batch")
    assert event.details["token"] == ApiToken.objects.get(user__username="ada").prefix


def test_the_same_tree_again_changes_nothing(ada: APIClient, slower: Any, tag: str) -> None:
    """No revision, nothing on record: a pipeline may run twice."""
    first = put(ada, slower, match=tag)
    audited = AuditEvent.objects.count()
    again = put(ada, slower, match=first["ETag"])
    assert (again.status_code, again["ETag"]) == (200, first["ETag"])
    assert again.json() | {"findings": [], "forecasts": []} == {
        "changed": False,
        "revision": 2,
        "imported_document": None,
        "changes": [],
        "findings": [],
        "forecasts": [],
    }
    assert (revisions(), AuditEvent.objects.count()) == ([1, 2], audited)


def test_the_order_of_queues_is_no_change(ada: APIClient, tag: str) -> None:
    """A document may list its queues in any order."""
    form = own_form(ada)
    form["queues"].reverse()
    assert put(ada, form, match=tag).json()["changed"] is False


def test_a_new_hierarchy_is_made_with_its_first_tree(ada: APIClient, db: None) -> None:
    """PUT on a name that is free makes the hierarchy."""
    response = put(ada, YAML, NEW)
    assert (response.status_code, response.json()["revision"]) == (201, 1)
    assert ada.get(NEW)["ETag"] == response["ETag"]
    assert AuditEvent.objects.filter(verb="hierarchy.create", target="new", actor_name="ada").exists()


def test_a_hierarchy_without_a_tree_gets_its_first(ada: APIClient, db: None) -> None:
    """Nothing is there yet, so there is nothing to have read."""
    create_hierarchy(name="new", actor=None)
    assert put(ada, SMALL, NEW, none_match="*").status_code == 201


def test_a_name_that_is_too_long_makes_nothing(ada: APIClient, db: None) -> None:
    """The error is about the name, and no half of a hierarchy stays behind."""
    response = put(ada, SMALL, f"/api/v1/hierarchies/{'x' * 64}/tree")
    assert (response.status_code, response["Content-Type"]) == (422, "application/problem+json")
    assert "63" in response.json()["errors"][0]["detail"]
    assert not Hierarchy.objects.exists()


def test_what_is_not_said_of_the_policy_stays(ada: APIClient, tag: str) -> None:
    """Parameters are changed by saying so, not by leaving them out."""
    form = own_form(ada)
    first = put(ada, form | {"parameters": {"last_resort": "never"}}, match=tag)
    assert first.json()["changed"] is True
    put(ada, {"queues": form["queues"]}, match=first["ETag"])
    assert ada.get(PROD).json()["parameters"] == {"last_resort": "never"}


def test_a_dry_run_writes_nothing(ada: APIClient, slower: Any, tag: str) -> None:
    """No revision, no hierarchy, nothing on record; the ETag is still that of the tree in force."""
    audited = AuditEvent.objects.count()
    planned = plan(ada, slower)
    new = plan(ada, SMALL, NEW)
    assert (planned.status_code, planned["ETag"], planned.json()["revision"]) == (200, tag, 2)
    assert (new.status_code, "ETag" in new, new.json()["revision"]) == (200, False, 1)
    assert (revisions(), AuditEvent.objects.count()) == ([1], audited)
    assert not Hierarchy.objects.filter(name="new").exists()


def test_a_dry_run_says_what_publishing_says(ada: APIClient, slower: Any, tag: str) -> None:
    """The two answers are the same."""
    assert plan(ada, slower).json() == put(ada, slower, match=tag).json()


RULES = [
    {"name": "user", "create": True, "parent": {"name": "tag", "value": "namespace"}},
    {"name": "fixed", "value": "root.a", "filter": {"type": "deny", "groups": ["dev"]}},
]


def test_rules_and_templates_come_back_as_they_were_sent(ada: APIClient, db: None) -> None:
    """In our own form, and through a queues.yaml."""
    below = {"path": "root.teams", "parent": True, "template": {"guaranteed": {"cpu": "2"}, "delay": "5s"}}
    form = {"placement": RULES, "queues": [*SMALL["queues"], below]}
    first = put(ada, form, NEW)
    assert {key: own_form(ada, NEW)[key] for key in form} == form
    yaml = ada.get(NEW, headers={"Accept": "application/yaml"}).content.decode()
    assert "childtemplate" in yaml
    assert put(ada, yaml, NEW, match=first["ETag"]).json()["changed"] is False


def test_changed_rules_are_a_change_of_the_tree(ada: APIClient, db: None) -> None:
    """Told as one, from what to what."""
    first = put(ada, SMALL, NEW)
    (row,) = plan(ada, SMALL | {"placement": RULES[1:]}, NEW, match=first["ETag"]).json()["changes"]
    assert (row["queue"], row["field"], row["before"]) == ("", "placement", "[]")
    assert row["after"].startswith('[{"filter":{"groups":["dev"],"type":"deny"},')
