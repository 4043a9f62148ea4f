"""What a queues.yaml says beside the tree is not written into the cluster, and plan and apply say so, with its line."""

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.services.imports import import_tree
from tests.sync.builders import TEXT, Kept

pytestmark = pytest.mark.django_db
BESIDE = TEXT.replace("{type: binpacking}", "{type: fair}").replace("          - name: test\n", "")


def planned(text: str, client: Client) -> list[tuple[int | None, str]]:
    """What a plan warns of that the document says: line and sentence."""
    user = User.objects.filter(username="ada").first() or User.objects.create_user("ada", role=User.Role.ADMIN)
    client.force_login(user)
    answer = client.put(
        "/api/v1/hierarchies/demo/tree?dry_run=true",
        text,
        content_type="application/yaml",
        HTTP_ACCEPT="application/json",
    )
    assert answer.status_code == 200, answer.content
    return [
        (one["line"], one["sentence"])
        for one in answer.json()["findings"]
        if one["from_import"] and one["severity"] == "warning"
    ]


def test_of_the_document_that_the_cluster_has_nothing_is_said(kept: Kept, client: Client) -> None:
    """All of it is there."""
    assert planned(TEXT, client) == []


def test_a_changed_part_that_means_nothing_here_is_told_with_its_line(kept: Kept, client: Client) -> None:
    """By a plan, before anybody believes that it would come about."""
    ((line, sentence),) = planned(BESIDE, client)
    assert line == 4
    assert sentence == (
        "nodesortpolicy differs from the cluster’s own document, but it is not written there. Only queue settings are "
        "written."
    )


def test_what_the_cluster_has_and_the_document_has_not_is_told_too(kept: Kept, client: Client) -> None:
    """At the line of its queue: it stays there, so the document alone does not tell what the cluster does."""
    text = TEXT.replace('        submitacl: "*"\n', "")
    assert planned(text, client) == [
        (6, "submitacl is set in the cluster’s own document but not in this one. It stays there.")
    ]


def test_apply_says_it_as_well_and_the_cluster_keeps_what_it_has(kept: Kept) -> None:
    """Also after a look: the tree alone is compared."""
    _revision, notes = import_tree(hierarchy="demo", text=BESIDE, author=None, reason="fair nodes")
    assert [(note.line, note.message.params["field"]) for note in notes if note.severity == "warning"] == [
        (4, "nodesortpolicy")
    ]
    kept.look()
    assert "{type: binpacking}" in kept.text
