"""A provider in a process of its own, and this site set up for it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.test import Client

from scheduler_admin.accounts.doors import add_mapping
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.demo.environment import BASE
from tests.doors.provider import CLIENT, SECRET
from tests.waiting import PATIENCE_S


@dataclass(frozen=True)
class Provider:
    """Where it is."""

    address: str

    def put(self, name: str, value: Any) -> None:
        """Set ``account``, ``fault`` or ``algorithm``."""
        requests.put(f"{self.address}/{name}", data=json.dumps(value), timeout=PATIENCE_S).raise_for_status()

    def know(self, sub: str, *groups: str, **claims: Any) -> None:
        """Whoever comes is this account."""
        self.put("account", {"sub": sub, "groups": list(groups), **claims})

    def answer(self, address: str) -> str:
        """Where it sends a browser that comes to it, without the site."""
        response = requests.get(address, allow_redirects=False, timeout=PATIENCE_S)
        back = urlsplit(response.headers["Location"])
        return f"{back.path}?{back.query}"


@pytest.fixture(scope="module")
def process() -> Iterator[str]:
    """The process."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.doors.provider"], cwd=BASE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.terminate()


@pytest.fixture
def provider(process: str, settings: Any) -> Provider:
    """It knows nobody yet, and makes no faults."""
    found = Provider(process)
    for name, value in (("account", {}), ("fault", ""), ("algorithm", "RS256")):
        found.put(name, value)
    settings.OIDC_ISSUER = settings.OIDC_NAME = process
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, SECRET
    settings.OIDC_OP_AUTHORIZATION_ENDPOINT = f"{process}/authorize"
    settings.OIDC_OP_TOKEN_ENDPOINT = f"{process}/token"
    settings.OIDC_OP_JWKS_ENDPOINT = f"{process}/keys"
    settings.OIDC_END_SESSION_ENDPOINT = f"{process}/leave"
    return found


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def known(db: None) -> None:
    """Who is what here."""
    red, blue = (create_tenant(name=name, namespaces=[name], subtrees=[f"root.{name}"]) for name in ("red", "blue"))
    for group, role, tenant in (
        ("red-team", "tenant", red),
        ("red-leads", "editor", red),
        ("blue-team", "tenant", blue),
        ("platform", "operator", None),
        ("audit", "auditor", None),
    ):
        add_mapping(group=group, role=role, tenant=tenant, actor=None, reason="a test")


def come(provider: Provider, client: Client, *, onward: str = "") -> Any:
    """The way of a browser to the provider and back: the answer to its coming back."""
    begun = client.get(f"/sign-in/elsewhere/{f'?next={onward}' if onward else ''}")
    assert begun.status_code == 302
    assert begun["Location"].startswith(f"{provider.address}/authorize?")
    return client.get(provider.answer(begun["Location"]))
