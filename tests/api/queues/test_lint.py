"""What is odd about a tree, without a plan of it: of any document, and of the tree in force."""

import json
from typing import Any

from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from tests.api.builders import RED
from tests.api.queues.test_tree_editors import eve
from tests.api.rest.test_openapi import check
from tests.api.sending import PROD, SMALL, YAML, errors, own_form, queue_of, revisions

__all__ = ["eve"]
LINT, IN_FORCE = "/api/v1/lint", "/api/v1/hierarchies/prod-tree/lint"
KUEUE = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec: {resourceGroups: []}
"""


def lint(client: APIClient, document: Any, **query: str) -> Any:
    """Send a document: a text is YAML, everything else is made JSON."""
    yaml = isinstance(document, str)
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    body, kind = (document, "application/yaml") if yaml else (json.dumps(document), "application/json")
    return client.post(f"{LINT}?{asked}", body, content_type=kind)


def found(response: Any) -> set[tuple[str, str, str]]:
    """Severity, queue and setting of what an answer says."""
    return {(row["severity"], row["queue"], row["field"]) for row in response.json()["results"]}


def test_a_document_is_looked_at_without_a_hierarchy(ada: APIClient) -> None:
    """In every format, with the place of each finding; nothing comes of it."""
    fenced = {"path": "root.b", "guaranteed": {"cpu": "1"}, "preemption_policy": "fence"}
    own = lint(ada, {"queues": [*SMALL["queues"], fenced]})
    assert ("info", "root.b", "preemption_policy") in found(own)
    assert {row["pointer"] for row in own.json()["results"] if row["queue"] == "root.b"} == {
        "/queues/2/preemption_policy"
    }
    assert [row["line"] for row in lint(ada, YAML).json()["results"] if "submitacl" in row["sentence"]] == [8]
    assert found(lint(ada, KUEUE)) == set()  # by Kueue's rules, of which guarantees that nobody can claim are none
    assert revisions() == []
    for response in (own, lint(ada, YAML)):
        check(response, "/api/v1/lint", "post")


def test_what_a_hierarchy_says_counts_for_what_a_document_leaves_out(ada: APIClient, cluster: Cluster) -> None:
    """Its clusters hold so much; under another policy nothing is said of guarantees."""
    form = own_form(ada)
    queue_of(form, "root.blue")["guaranteed"] = {"cpu": "20"}
    there = lint(ada, form, hierarchy="prod-tree").json()["results"]
    assert {row["queue"] for row in there if row["cluster"] == "prod"} == {"root", "root.blue"}
    assert {row["cluster"] for row in lint(ada, form).json()["results"]} == {None}
    assert (
        lint(
            ada, {"policy": "priority", "dialect": "kube-scheduler", "queues": form["queues"]}, hierarchy="prod-tree"
        ).json()["results"]
        == []
    )
    assert lint(ada, form, hierarchy="gone").status_code == 404


def test_what_could_not_be_published_is_refused_at_its_place(ada: APIClient) -> None:
    """As PUT refuses it."""
    wrong = lint(ada, {"queues": [{"path": "root"}, {"path": "root.a", "delay": "soon"}]})
    assert (wrong.status_code, errors(wrong)) == (422, [{"pointer": "/queues/1/delay", "queue": "root.a"}])
    assert lint(ada, "a: [").status_code == 400
    check(wrong, "/api/v1/lint", "post")


def test_the_tree_in_force_is_looked_at_as_it_is_read(ada: APIClient, eve: APIClient, cluster: Cluster) -> None:
    """Pointers lead into what the same reader gets as the tree; an editor is told of their own queues."""
    for client in (ada, eve):
        response = client.get(IN_FORCE)
        (row,) = (row for row in response.json()["results"] if (row["queue"], row["severity"]) == (RED, "warning"))
        place = int(row["pointer"].split("/")[2])
        assert (client.get(PROD).json()["queues"][place]["path"], response.json()["revision"]) == (RED, 1)
        check(response, "/api/v1/hierarchies/{name}/lint", "get")
    assert any(row["cluster"] == "prod" for row in ada.get(IN_FORCE).json()["results"])
    assert {row["queue"] for row in eve.get(IN_FORCE).json()["results"]} == {RED}


def test_who_plans_nothing_checks_nothing(olga: APIClient, alice: APIClient, cluster: Cluster) -> None:
    """Operators read what is said of the tree in force; a tenant finds none."""
    assert (lint(olga, SMALL).status_code, lint(alice, SMALL).status_code) == (403, 403)
    assert (olga.get(IN_FORCE).status_code, alice.get(IN_FORCE).status_code) == (200, 404)
