"""The memory of an answer is free as soon as it is sent: nothing of it waits for the garbage collector."""

import gc
import json
from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from rest_framework.response import Response
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.api.seen import SeenDecision
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.queues.presenters.standing import QueueStanding
from tests.api.builders import blue_pod, decision, red_pod

ROWS = (Decision, QueueStanding, Response, SeenDecision, Victim)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def connected() -> Iterator[None]:
    """Requests leave the connection as it is, on which the test's own data is."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("uncollected", "connected")
@pytest.mark.parametrize("path", ["clusters/prod/decisions", "clusters/prod/queues", "victims"])
def test_a_list_is_gone_when_it_is_sent(olga: APIClient, cluster: Cluster, path: str) -> None:
    """Neither its rows nor the answer are left, though serializers refer to themselves."""
    from scheduler_admin.wsgi import Application  # noqa: PLC0415 - it freezes what is loaded

    decision(cluster, ask=red_pod(), victims=(blue_pod(),))
    factory = RequestFactory(headers={"host": "localhost", "authorization": olga.defaults["HTTP_AUTHORIZATION"]})
    response = Application()(factory.get(f"/api/v1/{path}").environ, lambda _status, _headers: None)
    assert json.loads(b"".join(response))["results"]
    response.close()
    del response
    assert [one for one in gc.get_objects() if type(one) in ROWS] == []
