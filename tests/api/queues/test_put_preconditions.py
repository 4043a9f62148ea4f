"""Nobody overwrites a tree that they have not read."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from tests.api import builders
from tests.api.builders import RED
from tests.api.conftest import client_of
from tests.api.sending import NEW, PROD, SMALL, plan, put, queue_of, revisions

OTHER = {"queues": [*SMALL["queues"], {"path": "root.other"}]}


def test_of_two_changes_of_one_tree_the_second_is_told_so(ada: APIClient, slower: Any, tag: str) -> None:
    """A lost update is a 412 that carries what is in force now."""
    first = put(ada, slower, match=tag)
    queue_of(slower, RED)["delay"] = "7s"
    second = put(ada, slower, match=tag)
    assert (second.status_code, second["ETag"]) == (412, first["ETag"])
    assert second["Content-Type"] == "application/problem+json"
    assert revisions() == [1, 2]
    assert put(ada, slower, match=second["ETag"]).status_code == 200


def test_a_change_in_between_is_not_overwritten(
    ada: APIClient, slower: Any, tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody publishes after the condition was looked at: it is looked at again where it is written."""
    other = client_of(builders.user("eve", role=User.Role.ADMIN), scopes=["tree:write"])
    theirs = {**slower, "parameters": {"last_resort": "never"}}

    def check(*_args: Any, **_kwargs: Any) -> None:
        monkeypatch.undo()
        assert put(other, theirs, match=tag).status_code == 200

    monkeypatch.setattr("scheduler_admin.queues.api.trees.etags.check", check)
    late = put(ada, slower, match=tag)
    assert (late.status_code, late["ETag"]) == (412, ada.get(PROD)["ETag"])
    assert revisions() == [1, 2]


def test_a_change_says_of_what(ada: APIClient, slower: Any) -> None:
    """Without If-Match nothing is changed once there is a tree."""
    response = put(ada, slower)
    assert (response.status_code, response["Content-Type"]) == (428, "application/problem+json")
    assert "If-Match" in response.json()["detail"]
    assert revisions() == [1]


def test_a_dry_run_need_not(ada: APIClient, slower: Any, tag: str) -> None:
    """It overwrites nothing; a condition that is given is held against the tree all the same."""
    assert plan(ada, slower).status_code == 200
    assert plan(ada, slower, match='"other"').status_code == 412
    assert plan(ada, slower, match=tag).status_code == 200


@pytest.mark.parametrize("match", ['"other"', 'W/"other"', "{tag}x"])
def test_only_the_very_tag_matches(ada: APIClient, slower: Any, tag: str, match: str) -> None:
    """Whole, as it was given."""
    assert put(ada, slower, match=match.format(tag=tag)).status_code == 412


@pytest.mark.parametrize("match", ["*", '"other", {tag}', "W/{tag}"])
def test_any_and_one_of_several_match(ada: APIClient, slower: Any, tag: str, match: str) -> None:
    """If-Match may list tags, or take any; compressing an answer makes its tag weak, and changes nothing of it."""
    assert put(ada, slower, match=match.format(tag=tag)).status_code == 200


def test_a_first_tree_does_not_overwrite_another(ada: APIClient, db: None) -> None:
    """If-None-Match: * only makes, If-Match only replaces."""
    assert put(ada, SMALL, NEW, match="*").status_code == 412
    assert put(ada, SMALL, NEW, none_match="*").status_code == 201
    assert put(ada, OTHER, NEW, none_match="*").status_code == 412
    assert put(ada, OTHER, NEW).status_code == 428


def test_who_lost_the_answer_may_send_the_tree_again(ada: APIClient, slower: Any, tag: str) -> None:
    """With the condition of the first time: what was asked for is in force, and nothing is changed."""
    first = put(ada, slower, match=tag)
    again = put(ada, slower, match=tag)
    assert (again.status_code, again["ETag"], again.json()["changed"]) == (200, first["ETag"], False)
    assert revisions() == [1, 2]
