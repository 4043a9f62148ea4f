"""The OpenAPI document."""

import io
import json
from pathlib import Path

from django.core.management import call_command
from rest_framework.test import APIClient

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
