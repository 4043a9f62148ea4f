"""Placement rules on a draft's page: changed as a list, with what is wrong at each; and which leaf a pod would get."""

import json
from typing import Any

import pytest
from django.test import Client

from engine.formats.tree_json.placement import write_rules
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.tree_document import text_of
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.services.hierarchies import tree_of
from tests.pages.queues.drafts import decided, page, send, started, texts

pytestmark = pytest.mark.django_db

BY_USER = {"name": "user", "create": True, "parent": {"name": "tag", "value": "namespace", "create": True}}
FIXED = {"name": "fixed", "value": "root.system", "filter": {"type": "deny", "groups": ["dev", "ops"]}}
LABEL = {"name": "provided"}


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def ruled(draft: Draft, *rules: Any) -> None:
    """Let a draft have these rules."""
    decided(draft, "placement", json.dumps(rules))


def rules(draft: Draft) -> list[Any]:
    """Those that a draft has."""
    draft.refresh_from_db()
    return list(draft.placement)


def form(*links: dict[str, str], do: str = "save", was: str = "") -> dict[str, str]:
    """The page's form: each link with its place, ``{"at": "0.1", "name": "user"}``."""
    fields = {f"rule.{one['at']}.{name}": text for one in links for name, text in one.items() if name != "at"}
    return {**fields, "do": do, "was": was}


def shown_form(client: Client, draft: Draft, do: str) -> dict[str, str]:
    """The form as the page holds it, sent with a button."""
    draft.refresh_from_db()
    fields: dict[str, str] = {}
    for number, rule in enumerate(draft.placement):
        depth, one = 0, rule
        while one:
            whom = one.get("filter", {})
            given = {"name": one["name"], "value": one.get("value", ""), "create": "true" if one.get("create") else ""}
            given |= {"type": whom.get("type", "allow")}
            given |= {name: "\n".join(whom.get(name, [])) for name in ("users", "groups")}
            fields |= {f"rule.{number}.{depth}.{name}": text for name, text in given.items()}
            depth, one = depth + 1, one.get("parent")
    return {**fields, "do": do, "was": text_of(draft, "placement")}


def test_a_rule_is_typed_with_the_one_for_the_queue_above(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Saved, told, and published."""
    typed = form(
        {"at": "0.0", "name": "user", "value": "", "create": "true", "users": "", "groups": " dev \nops\n\ndev"},
        {"at": "0.1", "name": "tag", "value": " namespace ", "create": "true"},
    )
    assert send(ada, draft, "rules", typed).status_code == 302
    wanted = {**BY_USER, "filter": {"type": "allow", "groups": ["dev", "ops"]}}
    assert rules(draft) == [wanted]
    said = texts(ada.get(page(draft)).content.decode())
    assert "placement rule 1 added: the user name, parent: the namespace name" in said
    send(ada, draft, "publish", {"version": draft.version, "reason": "by user"})
    demo.hierarchy.refresh_from_db()
    (rule,) = write_rules(tree_of(demo.hierarchy.current).placement)
    assert rule["filter"]["groups"] == ["dev", "ops"]


@pytest.mark.parametrize(
    ("do", "left"),
    [
        ("save", [BY_USER, FIXED, LABEL]),
        ("add", [BY_USER, FIXED, LABEL, LABEL]),
        ("remove.1", [BY_USER, LABEL]),
        ("up.1", [FIXED, BY_USER, LABEL]),
        ("up.0", [BY_USER, FIXED, LABEL]),
        ("down.1", [BY_USER, LABEL, FIXED]),
        ("down.2", [BY_USER, FIXED, LABEL]),
        ("above.2", [BY_USER, FIXED, {**LABEL, "parent": LABEL}]),
        ("root.0", [{"name": "user", "create": True}, FIXED, LABEL]),
        ("root.1", [BY_USER, FIXED, LABEL]),
        ("remove.9", [BY_USER, FIXED, LABEL]),
        ("dance.1", [BY_USER, FIXED, LABEL]),
    ],
)
def test_what_each_button_does(ada: Client, draft: Draft, do: str, left: list[Any]) -> None:
    """With what is typed saved along; what the page holds is the same rules again."""
    ruled(draft, BY_USER, FIXED, LABEL)
    assert send(ada, draft, "rules", shown_form(ada, draft, do), script=True).status_code == 200
    assert rules(draft) == left


def test_the_page_holds_the_rules_as_they_are(ada: Client, draft: Draft) -> None:
    """Every field of every link."""
    ruled(draft, BY_USER, FIXED)
    html = ada.get(page(draft)).content.decode()
    for piece in (
        '<option value="user" selected>',
        'name="rule.0.1.value" id="rule.0.1.value" value="namespace"',
        'name="rule.1.0.value" id="rule.1.0.value" value="root.system"',
        '<option value="deny" selected>',
        ">dev\nops</textarea>",
    ):
        assert piece in html


def test_what_is_wrong_stands_at_its_rule(ada: Client, draft: Draft) -> None:
    """Also of the rule above; it keeps the draft from being published."""
    ruled(draft, LABEL, {"name": "user", "parent": {"name": "tag"}}, {"name": "fixed", "value": "a b"})
    html = ada.get(page(draft)).content.decode()
    assert 'id="e-rule.1.1">A tag rule needs the tag name as its value.' in html
    assert 'id="e-rule.2.0">The value of a fixed rule must be a queue below the root' in html
    assert "e-rule.0.0" not in html
    assert "Fix 2 errors first, starting with placement rules." in texts(html)
    assert '<a href="#draft-placement">placement rules</a>' in html


def test_somebody_elses_rules_are_not_overwritten(ada: Client, draft: Draft) -> None:
    """They are told in words."""
    ruled(draft, LABEL)
    answer = send(ada, draft, "rules", form({"at": "0.0", "name": "user"}), script=True)
    assert answer.status_code == 409
    assert "the pod&#x27;s queue label" in answer.json()["html"]
    assert rules(draft) == [LABEL]


@pytest.mark.parametrize("text", ["{}", "7", "[", '["\\u0000"]', "[" * 50_000, "x" * 300_000])
def test_what_is_no_list_of_rules_is_refused(ada: Client, draft: Draft, text: str) -> None:
    """However it is sent."""
    sent = {"row": "draft", "placement": text, "was:placement": ""}
    assert send(ada, draft, "edit", sent, script=True).status_code == 422
    assert rules(draft) == []


@pytest.mark.parametrize("odd", [7, None, "x", [], {}, {"name": 7}, {"name": "user", "filter": 7, "parent": "x"}])
def test_odd_rules_can_be_shown_and_mended(ada: Client, draft: Draft, odd: Any) -> None:
    """Whatever a list holds, it is an error that the page shows."""
    ruled(draft, odd)
    html = ada.get(page(draft)).content.decode()
    assert 'name="rule.0.0.name"' in html
    assert 'aria-disabled="true"' in html


def test_who_does_not_change_the_whole_tree_changes_no_rule(otto: Client, draft: Draft) -> None:
    """Who reads all of it reads the rules in words."""
    ruled(draft, BY_USER)
    html = otto.get(page(draft)).content.decode()
    assert "rules-form" not in html
    assert "the user name, parent: the namespace name (created if missing), created if missing" in html
    assert send(otto, draft, "rules", form()).status_code == 403


class TestTryingOut:
    """Which leaf a pod would get, by the draft's rules as they are."""

    def tried(self, client: Client, draft: Draft, query: str) -> str:
        """What the page says."""
        html = client.get(page(draft, f"?{query}")).content.decode()
        part = html.partition('id="draft-placement"')[2].partition("</section>")[0]
        return texts(part.partition('role="status"')[2].partition(">")[2].partition("</p>")[0]).strip()

    def test_one_that_comes_into_being(self, ada: Client, draft: Draft) -> None:
        ruled(draft, BY_USER)
        said = self.tried(ada, draft, "try_namespace=lab&try_user=ann")
        assert said == "The pod would run in root.lab.ann , which would be created with it."

    def test_without_rules_the_label_then_the_namespace(self, ada: Client, draft: Draft) -> None:
        assert self.tried(ada, draft, "try_namespace=x&try_label=root.tenant-1.queue-b") == (
            "The pod would run in root.tenant-1.queue-b ."
        )
        assert self.tried(ada, draft, "try_namespace=nowhere") == "The pod would belong to no queue."

    def test_groups_and_the_annotation_count(self, ada: Client, draft: Draft) -> None:
        above = {"name": "tag", "value": "namespace.parentqueue", "create": True}
        ruled(draft, {"name": "user", "create": True, "filter": {"groups": ["dev"]}, "parent": above})
        asked = "try_namespace=lab&try_user=ann&try_annotation=root.teams"
        assert self.tried(ada, draft, f"{asked}&try_groups=ops, dev").startswith("The pod would run in root.teams.ann ")
        assert self.tried(ada, draft, f"{asked}&try_groups=ops") == "The pod would belong to no queue."

    def test_nobody_knows_while_rules_are_wrong(self, ada: Client, draft: Draft) -> None:
        ruled(draft, {"name": "tag"})
        assert self.tried(ada, draft, "try_namespace=lab").startswith("Fix the errors")

    def test_nothing_is_said_unasked(self, ada: Client, draft: Draft) -> None:
        assert self.tried(ada, draft, "try_user=ann") == ""
