"""Requests that write people and tenants: with a reason, and as they were read."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from tests.api import builders
from tests.api.conftest import client_of


@pytest.fixture
def root(db: None) -> APIClient:
    """An admin whose token administers the site."""
    return client_of(builders.user("root", role=User.Role.ADMIN), scopes=["site:administer"])


def create(client: APIClient, url: str, **body: Any) -> Any:
    """POST."""
    return client.post(f"{url}?reason=why", body, format="json")


def change(client: APIClient, address: str, **body: Any) -> Any:
    """PATCH of what was read just now."""
    return client.patch(f"{address}?reason=why", body, format="json", headers={"If-Match": read(client, address)})


def delete(client: APIClient, address: str) -> Any:
    """DELETE of what was read just now."""
    return client.delete(f"{address}?reason=why", headers={"If-Match": read(client, address)})


def read(client: APIClient, address: str) -> str:
    """The ETag."""
    response = client.get(address)
    assert response.status_code == 200, response.content
    return str(response["ETag"])


def names(client: APIClient, url: str, **query: Any) -> list[str]:
    """The names that a list has."""
    response = client.get(url, query)
    assert response.status_code == 200, response.content
    return [row["name"] for row in response.json()["results"]]
