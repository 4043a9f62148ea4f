"""What the tests of people and access share: whom they are about, and how a browser reads and sends their pages."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse
from django.test import Client

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user
from tests.pages.markup import squeezed

PASSWORD = "correct horse battery"


def person(name: str, role: str = "tenant", **facts: Any) -> User:
    """Somebody with a password."""
    return create_user(username=name, password=PASSWORD, role=role, **facts)


def red() -> Any:
    """A tenant."""
    return create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])


def text_of(response: HttpResponse) -> str:
    """What a page says, without tags and with one blank in place of whitespace."""
    html = squeezed(response.content.decode())
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def shown(client: Client, address: str) -> str:
    """The text of a page."""
    response = client.get(address)
    assert response.status_code == 200, response.status_code
    return text_of(response)


def seen(client: Client, address: str) -> str:
    """What a page's form sends back of the state that it shows."""
    return seen_in(client.get(address))


def seen_in(response: HttpResponse) -> str:
    """The same of an answer."""
    found = re.search(r'name="seen" value="(\w+)"', response.content.decode())
    assert found is not None
    return found[1]


def send(client: Client, address: str, **fields: Any) -> HttpResponse:
    """Send a page's form as it was read just now, with a reason."""
    return client.post(address, {"seen": seen(client, address), "reason": "because", **fields})


def wrong(response: HttpResponse, name: str) -> str:
    """What is said to be wrong with a field; empty: nothing."""
    found = re.search(rf'<p class="err" id="e-{name}"[^>]*>([^<]+)</p>', response.content.decode())
    return unescape(found[1]) if found else ""


def recorded(verb: str) -> AuditEvent:
    """The one event of the audit log with this verb."""
    return AuditEvent.objects.get(verb=verb)
