"""Red's channels, and somebody who receives what they send."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.notifications.api.webhooks import component
from scheduler_admin.notifications.delivery.messages import webhook_body
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import add_channel
from tests.api.described import check_component
from tests.notifications.receiver import SECRET, Receiver, receiving
from tests.worker.conftest import cluster, watch

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)

__all__ = ["cluster", "watch"]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """On this machine, which the site allows."""
    settings.NOTIFICATION_NETWORKS = [ip_network("127.0.0.0/8")]
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def red(db: None) -> Tenant:
    return create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])


@pytest.fixture
def add(red: Tenant) -> Callable[..., Channel]:
    """Makes a channel of red's; a webhook unless something else is said."""

    def added(address: str, kind: str = "webhook", **values: Any) -> Channel:
        tenant = values.pop("tenant", red)
        given = {"name": f"{kind} {Channel.objects.count()}", **values}
        return add_channel(tenant=tenant, kind=kind, address=address, secret=SECRET, values=given, actor=None)

    return added


@pytest.fixture(autouse=True)
def described(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever is noted for a channel by a test, a webhook would receive as the OpenAPI document describes it."""
    has_database = "db" in request.fixturenames
    yield
    for row in Notification.objects.select_related("channel__tenant") if has_database else ():
        if row.event == row.Event.TEST or row.facts.keys() & {"cluster", "day", "events"}:  # a test invented the others
            for each in Channel.PayloadFormat:
                row.channel.payload_format = each
                check_component(component(row.Event(row.event), each), json.loads(webhook_body(row)))


@pytest.fixture
def channel(add: Callable[..., Channel], receiver: Receiver, clock: time_machine.Traveller) -> Channel:
    """A webhook to the receiver."""
    return add(receiver.url)
