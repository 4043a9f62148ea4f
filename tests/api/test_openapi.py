"""The OpenAPI document."""

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from tests.api.builders import NOW, RED, blue_pod, decision, red_pod, usage

CHECKED_IN = Path(__file__).with_name("openapi.json")


def test_the_document_is_the_one_checked_in() -> None:
    """The API changes only together with tests/api/openapi.json, which is valid and made without a warning.

    To accept a change: manage.py spectacular --format openapi-json --file tests/api/openapi.json
    """
    made = io.StringIO()
    call_command("spectacular", format="openapi-json", validate=True, fail_on_warn=True, stdout=made)
    assert json.loads(made.getvalue()) == json.loads(CHECKED_IN.read_text(encoding="utf-8"))


def test_the_document_is_served(olga: APIClient) -> None:
    """/api/v1/openapi.json is the same document."""
    served = olga.get("/api/v1/openapi.json")
    assert served.status_code == 200
    assert served.json()["paths"] == json.loads(CHECKED_IN.read_text(encoding="utf-8"))["paths"]


def json_schema(node: Any) -> Any:
    """OpenAPI 3.0's schema as JSON schema: ``nullable`` is another type there, and no other key is allowed."""
    if isinstance(node, list):
        return [json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: json_schema(value) for key, value in node.items() if key not in {"nullable", "example"}}
    if plain.get("type") == "object" and isinstance(plain.get("properties"), dict):
        plain["additionalProperties"] = False
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


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
    response = client.get(address)
    document = json.loads(CHECKED_IN.read_text(encoding="utf-8"))
    content = document["paths"][path]["get"]["responses"][str(response.status_code)]["content"]
    wanted = content[response["Content-Type"]]["schema"]
    jsonschema.validate(response.json(), json_schema({**wanted, "components": document["components"]}))
