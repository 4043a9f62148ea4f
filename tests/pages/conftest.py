"""Ada (admin), Otto (operator), Tess (tenant of tenant-1) and Carl (a stranger), each with a signed-in client."""

from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from tests.pages import rows


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False
    settings.SIMULATOR_URL = ""
    settings.SIMULATOR_CLUSTER = ""


def client_of(user: User) -> Client:
    """A browser in which the user is signed in."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def demo(db: None) -> Cluster:
    """The fence example, with everything that pages show."""
    return rows.everything()


@pytest.fixture
def ada(db: None) -> Client:
    return client_of(rows.user("ada", User.Role.ADMIN))


@pytest.fixture
def otto(db: None) -> Client:
    return client_of(rows.user("otto", User.Role.OPERATOR))


@pytest.fixture
def audrey(db: None) -> Client:
    return client_of(rows.user("audrey", User.Role.AUDITOR))


@pytest.fixture
def tess(db: None) -> Client:
    return client_of(rows.tenant_user())


@pytest.fixture
def carl(db: None) -> Client:
    return client_of(rows.tenant_user("carl", "root.elsewhere", ("elsewhere",)))
