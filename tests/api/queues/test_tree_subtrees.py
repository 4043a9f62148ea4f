"""A token for a subtree changes the queues inside, and nothing else."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from tests.api.builders import CANARY, RED
from tests.api.conftest import client_of
from tests.api.sending import NEW, PROD, SMALL, errors, own_form, put, queue_of, revisions


@pytest.fixture
def ci(ada: APIClient, cluster: Cluster) -> APIClient:
    """Ada's token for red."""
    return client_of(User.objects.get(username="ada"), scopes=["tree:write"], subtree="root.red")


def test_queues_inside_are_changed_added_and_removed(ci: APIClient, slower: Any) -> None:
    """Publishing the whole tree with changes inside alone is as for everyone."""
    slower["queues"].append({"path": "root.red.night", "guaranteed": {"cpu": "1"}})
    added = put(ci, slower, match=ci.get(PROD)["ETag"])
    assert (added.status_code, [row["queue"] for row in added.json()["changes"]]) == (200, [RED, "root.red.night"])
    slower["queues"].pop()
    assert put(ci, slower, match=added["ETag"]).status_code == 200
    assert revisions() == [1, 2, 3]


def test_queues_outside_are_not(ci: APIClient, slower: Any) -> None:
    """Each is pointed at; what is changed inside is no help."""
    queue_of(slower, "root.blue")["guaranteed"] = {"cpu": "1"}
    slower["queues"].append({"path": "root.redder"})
    response = put(ci, slower, match="*")
    assert (response.status_code, response["Content-Type"]) == (403, "application/problem+json")
    assert "root.red" in response.json()["detail"]
    assert errors(response) == [
        {"pointer": "/queues/1", "queue": "root.blue"},
        {"pointer": "/queues/4", "queue": "root.redder"},
    ]
    assert revisions() == [1]


def test_in_a_queues_yaml_they_are_told_by_line(ci: APIClient, ada: APIClient) -> None:
    """The line is the queue's own."""
    text = ada.get(PROD, HTTP_ACCEPT="application/yaml").content.decode().replace("vcore: '2'", "vcore: '1'")
    response = put(ci, text, match="*")
    line = text.splitlines().index("          - name: blue") + 1
    assert (response.status_code, errors(response)) == (403, [{"line": line, "queue": "root.blue"}])


def test_queues_outside_are_not_taken_away(ci: APIClient, slower: Any) -> None:
    """A document that leaves them out is refused, and says nothing of them."""
    slower["queues"] = [one for one in slower["queues"] if one["path"] != "root.blue"]
    response = put(ci, slower, match="*")
    assert (response.status_code, errors(response)) == (403, [{"pointer": "/queues"}])
    assert "blue" not in response.content.decode()
    assert revisions() == [1]


def test_namespaces_are_not_claimed(ci: APIClient, slower: Any) -> None:
    """Whose pods they hold is not the subtree's to say; one that it has may go from leaf to leaf."""
    queue_of(slower, RED)["namespaces"] = ["red", "free"]
    response = put(ci, slower, match="*")
    assert (response.status_code, errors(response)) == (403, [{"pointer": "/queues/3/namespaces", "queue": RED}])
    del queue_of(slower, RED)["namespaces"]
    slower["queues"].append({"path": "root.red.night", "namespaces": ["red"]})
    assert put(ci, slower, match="*").status_code == 200


def test_nor_is_the_policy(ci: APIClient, slower: Any) -> None:
    """It is the whole tree's."""
    response = put(ci, slower | {"parameters": {"last_resort": "never"}}, match="*")
    assert (response.status_code, errors(response)) == (403, [{"pointer": "/parameters"}])


def test_it_makes_no_hierarchy_and_finds_no_foreign_one(ci: APIClient, ada: APIClient) -> None:
    """A name that is free and one that is another's answer alike."""
    put(ada, SMALL, "/api/v1/hierarchies/theirs/tree")
    free, theirs = put(ci, SMALL, NEW), put(ci, SMALL, "/api/v1/hierarchies/theirs/tree", match="*")
    assert (free.status_code, free.json()) == (theirs.status_code, theirs.json())
    assert free.status_code == 404
    assert not Hierarchy.objects.filter(name="new").exists()


def test_it_reads_its_part_of_the_tree_and_no_revisions(ci: APIClient, slower: Any) -> None:
    """As the subtree's tenant does; a revision shows everything."""
    assert [queue["path"] for queue in own_form(ci)["queues"]] == ["root.red", RED]
    assert ci.get("/api/v1/hierarchies/prod-tree/revisions").json()["results"] == []
    assert ci.get("/api/v1/hierarchies/prod-tree/revisions/1").status_code == 404
    for url in (PROD, "/api/v1/hierarchies", "/api/v1/hierarchies/prod-tree"):
        assert CANARY not in ci.get(url).content.decode()


def test_no_answer_to_a_change_names_what_is_not_its_own(ci: APIClient, slower: Any) -> None:
    """Of the names in the tree that it sends, the answer says nothing but what is inside."""
    assert CANARY not in put(ci, slower, match="*").content.decode()
