"""Answers that a client has already."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.limits import add_window
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.core import entity_tags
from scheduler_admin.decisions.models import Decision
from scheduler_admin.usage.models import UsageSample
from scheduler_admin.usage.runs import Amount, Now, pack
from tests.api.builders import NOW, RED, amounts, blue_pod, decision, red_pod, usage
from tests.api.sending import PROD, SMALL, put
from tests.properties import examples

READ = [
    "/api/v1/clusters",
    "/api/v1/clusters/prod",
    "/api/v1/clusters/prod/decisions",
    "/api/v1/clusters/prod/priority-classes",
    "/api/v1/clusters/prod/queues",
    f"/api/v1/clusters/prod/queues/{RED}",
    "/api/v1/clusters/prod/repeat-victims",
    "/api/v1/clusters/prod/settings",
    f"/api/v1/clusters/prod/usage?queue={RED}&resource=cpu&since=2026-01-05T11:00:00Z&until=2026-01-05T12:00:00Z",
    "/api/v1/decisions/1",
    "/api/v1/hierarchies",
    "/api/v1/hierarchies/prod-tree/revisions",
    PROD,
    "/api/v1/ledger",
    "/api/v1/pauses",
    "/api/v1/site-settings",
    "/api/v1/windows",
]


@pytest.fixture
def busy(cluster: Cluster) -> Cluster:
    """Something is to be read at every address."""
    decision(cluster, ask=blue_pod(), victims=(red_pod(),), pk=1)
    usage(cluster, RED, hour=NOW - timedelta(hours=1), cpu=[1000])
    return cluster


def test_a_tag_that_came_with_a_compressed_answer_goes_into_a_change(ada: APIClient, cluster: Cluster) -> None:
    """Compression makes it weak; it is the tag of the same tree all the same, and a stale one is refused."""
    read = ada.get(PROD, headers={"Accept-Encoding": "gzip"})
    assert (read["Content-Encoding"], read["ETag"][:3]) == ("gzip", 'W/"')
    changed = put(ada, SMALL, match=read["ETag"], reason="Smaller")
    assert changed.status_code == 200, changed.content
    assert put(ada, {"queues": [{"path": "root"}]}, match=read["ETag"], reason="Bare").status_code == 412


@pytest.mark.parametrize("address", READ)
def test_what_a_client_has_is_not_sent_again(busy: Cluster, ada: APIClient, address: str) -> None:
    """Every GET has an ETag; with it the answer is 304 and empty, with another it is the whole."""
    first = ada.get(address)
    assert first.status_code == 200
    again = ada.get(address, HTTP_IF_NONE_MATCH=f'"former", {first["ETag"]}')
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert ada.get(address, HTTP_IF_NONE_MATCH='"former"').json() == first.json()


@pytest.mark.parametrize("address", READ)
def test_nobody_works_out_an_etag(busy: Cluster, ada: APIClient, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is keyed, or holds nothing but numbers that count: else it could be tried out what went into it."""
    tag = ada.get(address)["ETag"]
    monkeypatch.setattr(entity_tags, "_SALT", "of another site")
    assert ada.get(address)["ETag"] != tag or re.fullmatch(r'"[0-9.]{1,15}"', tag)


def _close(on: Cluster) -> None:
    Decision.objects.filter(cluster=on).update(state=Decision.State.CLOSED, ending=Decision.Ending.BOUND)


def _window(on: Cluster) -> None:
    hours = {"kind": "deny", "weekdays": ["mon"], "begins": NOW.time(), "ends": NOW.time(), "zone": "UTC"}
    add_window(cluster=on, actor=None, reason="quiet", first_day=None, last_day=None, **hours)


CHANGES: dict[str, Callable[[Cluster, int], object]] = {
    "a pass": lambda on, n: ClusterStatus.objects.filter(cluster=on).update(
        nodes=n, read_at=NOW - timedelta(seconds=n)
    ),
    "usage": lambda on, n: ClusterStatus.objects.filter(cluster=on).update(
        queues={RED: {"used": amounts(cpu=f"{n}m"), "asks": n, "oldest_ask_ms": None}}
    ),
    "a sample": lambda on, n: UsageSample.objects.get_or_create(
        cluster=on, at=NOW - timedelta(minutes=n), defaults={"document": pack({RED: Now(n, {"cpu": Amount(n)})})}
    ),
    "a limit": lambda on, n: Cluster.objects.filter(pk=on.pk).update(evictions_per_minute=n),
    "a mode": lambda on, n: Cluster.objects.filter(pk=on.pk).update(mode=("observe", "advise")[n % 2]),
    "a pause": lambda on, n: pause(cluster=on, actor=None, reason=f"why {n}"),
    "a window": lambda on, _n: _window(on),
    "a decision": lambda on, n: decision(on, ask=red_pod(f"red-{n}"), victims=(red_pod(),)),
    "an ending": lambda on, _n: _close(on),
    "the site": lambda _on, n: change_site(reason="why", preemptor=("none", "queue", "uid", "name")[n % 4]),
}


@examples(5, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(1, 9)), min_size=1, max_size=4))
def test_no_two_answers_have_one_etag(
    busy: Cluster, ada: APIClient, olga: APIClient, slower: Any, made: list[tuple[str, int]]
) -> None:
    """Whatever happens in between, and in whichever order: an address' ETag stands for one answer of it."""
    said: dict[tuple[str, str], Any] = {}
    _hold(said, ada)
    for change, number in made:
        CHANGES[change](busy, number)
        _hold(said, ada)
    put(ada, slower, match="*")
    _hold(said, ada)


def _hold(said: dict[tuple[str, str], Any], client: APIClient) -> None:
    for address in READ:
        response = client.get(address)
        told = json.loads(
            response.content, object_hook=lambda each: {k: v for k, v in each.items() if k != "age_seconds"}
        )
        assert said.setdefault((address, response["ETag"]), told) == told, address


def test_age_alone_is_no_change(busy: Cluster, ada: APIClient) -> None:
    """A list of clusters is the same a second later, though it says that it is a second older."""
    first = ada.get("/api/v1/clusters")
    with time_machine.travel(NOW + timedelta(seconds=1), tick=False):
        assert ada.get("/api/v1/clusters", HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
