"""Bodies in JSON: each member has the type that the document says, and nothing is made of another one."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from tests.api import builders
from tests.api.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> APIClient:
    """An admin's client, which may change everything."""
    scopes = ["site:administer", "tenant:notify", "cluster:operate", "tree:plan"]
    return client_of(builders.user("ada", role=User.Role.ADMIN), scopes=scopes)


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("tenants?reason=new", {"name": 1, "namespaces": []}, "/name"),
        ("tenants?reason=new", {"name": "red", "subtrees": ["root.red", 0]}, "/subtrees/1"),
        ("users?reason=new", {"name": "bob", "role": "tenant", "active": "yes"}, "/active"),
        ("pauses", {"reason": True}, "/reason"),
        ("clusters/prod/comparisons", {"sides": [{"tree": 7}]}, "/sides/0/tree"),
    ],
)
def test_no_number_is_read_as_a_text_and_no_text_as_a_truth(
    admin: APIClient, path: str, body: dict[str, Any], pointer: str
) -> None:
    """The error stands at the member, and once."""
    builders.cluster("prod")
    answer = admin.post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422, answer.content
    assert [each["pointer"] for each in answer.json()["errors"]].count(pointer) == 1
