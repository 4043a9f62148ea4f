"""An admin and an operator with a token that sets modes, limits and pauses."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from tests.api import builders
from tests.api.conftest import client_of


@pytest.fixture
def admin(cluster: Cluster) -> APIClient:
    return client_of(builders.user("ida", role=User.Role.ADMIN), scopes=["cluster:operate"])


@pytest.fixture
def operator(cluster: Cluster) -> APIClient:
    return client_of(builders.user("otto", role=User.Role.OPERATOR), scopes=["cluster:operate"])


def pointers(response: Any) -> list[str | None]:
    """Where the errors of a problem are."""
    return [error.get("pointer") for error in response.json()["errors"]]
