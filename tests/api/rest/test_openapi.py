"""The OpenAPI document."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rest_framework.test import APIClient

from engine.formats.registry import LARGEST
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.rest.openapi.summaries import SUMMARIES
from tests.api.builders import NOW, RED, blue_pod, decision, red_pod, usage
from tests.api.described import components, json_schema
from tests.api.document import Document, made, read, write
from tests.api.sending import MAIN, NEW, PROD, YAML, own_form, plan, put, queue_of


@pytest.fixture(scope="module")
def document() -> Document:
    """As the sources give it."""
    return made()


def test_the_document_is_the_one_checked_in(document: Document) -> None:
    """The API changes only together with tests/api/openapi/, which is valid and made without a warning.

    To accept a change: python -m tests.api.document
    """
    assert document == read()


def test_every_summary_is_of_an_operation(document: Document) -> None:
    """No other is left of one that was renamed or removed."""
    operations = [each for methods in document["paths"].values() for each in methods.values() if isinstance(each, dict)]
    assert set(SUMMARIES) == {each["operationId"] for each in operations}


def described(node: Any, place: str) -> Iterator[str]:
    """Yield where a property, a parameter or an operation says nothing of itself."""
    if isinstance(node, dict):
        for name, each in node.get("properties", {}).items() if isinstance(node.get("properties"), dict) else ():
            if not each.get("description") and "$ref" not in each:
                yield f"{place}/{name}"
        for name, each in node.items():
            yield from described(each, f"{place}/{name}")


def test_every_property_parameter_and_operation_says_what_it_is(document: Document) -> None:
    """In a sentence, for those who write a client without reading our sources."""
    components = document["components"]
    assert list(described(components["schemas"], "")) == []
    operations = [each for methods in document["paths"].values() for each in methods.values() if isinstance(each, dict)]
    parameters = [each for one in operations for each in one.get("parameters", ()) if "$ref" not in each]
    parameters += components.get("parameters", {}).values()
    assert [each["name"] for each in parameters if not each.get("description")] == []
    assert [each["operationId"] for each in operations if not each.get("summary")] == []


def test_a_document_is_read_as_it_was_written(document: Document, tmp_path: Path) -> None:
    """Its parts may stand in several files, and in few words: nothing is lost."""
    write(document, tmp_path)
    assert read(tmp_path) == document


def test_the_document_is_served(olga: APIClient) -> None:
    """/api/v1/openapi.json is the same document."""
    served = olga.get("/api/v1/openapi.json")
    assert served.status_code == 200
    assert served.json()["paths"] == read()["paths"]


@pytest.mark.parametrize("who", ["alice", "olga", "nobody"])
@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/api/v1/clusters", "/api/v1/clusters"),
        ("/api/v1/clusters/{name}", "/api/v1/clusters/prod"),
        ("/api/v1/clusters/{name}/queues", "/api/v1/clusters/prod/queues"),
        ("/api/v1/clusters/{name}/queues/{path}", f"/api/v1/clusters/prod/queues/{RED}"),
        ("/api/v1/clusters/{name}/usage", f"/api/v1/clusters/prod/usage?queue={RED}&resource=cpu"),
        ("/api/v1/clusters/{name}/decisions", "/api/v1/clusters/prod/decisions"),
        ("/api/v1/clusters/{name}/decisions", "/api/v1/clusters/prod/decisions?limit=none"),
        ("/api/v1/hierarchies", "/api/v1/hierarchies"),
        ("/api/v1/hierarchies/{name}", "/api/v1/hierarchies/prod-tree"),
        ("/api/v1/hierarchies/{name}/tree", "/api/v1/hierarchies/prod-tree/tree"),
        ("/api/v1/hierarchies/{name}/revisions", "/api/v1/hierarchies/prod-tree/revisions"),
        ("/api/v1/hierarchies/{name}/revisions/{number}", "/api/v1/hierarchies/prod-tree/revisions/1"),
        ("/api/v1/decisions/{id}", "/api/v1/decisions/1"),
        ("/api/v1/decisions/{id}", "/api/v1/decisions/2"),
    ],
)
def test_answers_are_as_documented(
    request: pytest.FixtureRequest, cluster: Cluster, path: str, address: str, who: str
) -> None:
    """Every answer has just the keys and types that the document gives for its status, whoever asks."""
    decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod(), blue_pod()), pk=1)
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1000])
    client = APIClient() if who == "nobody" else request.getfixturevalue(who)
    check(client.get(address), path, "get")


def check(response: Any, path: str, method: str) -> None:
    """Hold an answer against the document."""
    content = read()["paths"][path][method]["responses"][str(response.status_code)]["content"]
    wanted = content[response["Content-Type"]]["schema"]
    documented = set(read()["paths"][path][method]["responses"][str(response.status_code)]["headers"])
    assert {"ETag", "Location", "Retry-After", "RateLimit", "WWW-Authenticate"} & {*response.headers} <= documented
    validator = jsonschema.Draft202012Validator({**json_schema(wanted), "components": components()})
    validator.validate(response.json())


def test_answers_to_a_tree_are_as_documented(ada: APIClient, olga: APIClient, slower: Any, busy: Cluster) -> None:
    """Planned with a forecast and without, published, made, and refused for every reason."""
    path = "/api/v1/hierarchies/{name}/tree"
    form = own_form(ada, MAIN)
    queue_of(form, "root.test")["guaranteed"] = {"cpu": "2"}
    answers = [
        plan(ada, form, MAIN),
        plan(ada, YAML),
        put(ada, slower, match="*"),
        put(ada, YAML, NEW),
        put(ada, YAML),
        put(ada, YAML, match='"other"'),
        put(olga, slower),
        plan(ada, b"["),
        plan(ada, b" " * (LARGEST + 1)),
        plan(ada, {"queues": [{"path": "root.a", "delay": "soon"}]}),
        plan(ada, YAML.replace("vcore: 2", "vcore: few")),
        ada.put(f"{PROD}?dry_run=true", "x", content_type="text/plain"),
    ]
    codes = [200, 200, 200, 201, 428, 412, 403, 400, 413, 422, 422, 415]
    assert [answer.status_code for answer in answers] == codes
    for answer in answers:
        check(answer, path, "put")
