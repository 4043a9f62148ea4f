"""Links to logs, dashboards and other tools, wherever a pod or a node is shown."""

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import Site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Victim
from tests.builders import ask, node, pod
from tests.builders import queue as leaf
from tests.builders import tree as tree_of
from tests.nodes.builders import store
from tests.pages import rows
from tests.pages.conftest import client_of

pytestmark = pytest.mark.django_db
QUEUE, OTHER = "root.tenant-1.queue-b", "root.tenant-2.queue-1"
LOGS = "https://logs.example.com/?at={cluster}/{namespace}/{pod}/{node}/{queue}&app={application}&from={from}&to={to}"
POD_LINKS = [
    {"label": "Logs", "url": LOGS},
    {"label": "Dashboard", "url": "https://dash.example.com/{namespace}/{application}"},
]
NODE_LINKS = [{"label": "Headlamp", "url": "https://headlamp.example.com/c/{cluster}/nodes/{node}?from={from}"}]
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def moment() -> Any:
    """A time that stands still."""
    with time_machine.travel("2026-01-05T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def demo() -> Cluster:
    """A pod of the search team's runs, another one is pending, and another team's runs beside it."""
    made = rows.cluster("demo")
    rows.status(made)
    Site.objects.create(pod_links=POD_LINKS, node_links=NODE_LINKS)
    search: dict[str, Any] = {"namespace": "search", "queue": QUEUE, "app": "Job/index"}
    store(
        made,
        tree_of({"tenant-1.queue-b": leaf(), "tenant-2.queue-1": leaf()}),
        node("n1", 4),
        pod("index-0", uid="i0", node="n1", cpu=1, **search),
        ask("index-1", uid="i1", **search),
        pod("other-0", uid="o0", node="n1", namespace="other", queue=OTHER, app="Job/other"),
    )
    return made


@pytest.fixture
def tess(demo: Cluster) -> Client:
    """A browser of queue-b's tenant."""
    return client_of(rows.tenant_user("tess", QUEUE, ("search",)))


def links(client: Client, address: str) -> list[tuple[str, str]]:
    """The labels and addresses of a page's links to other tools, each as it has to be."""
    page = client.get(address)
    assert page.status_code == 200
    found = re.findall(r'<a class="out" [^>]*href="([^"]+)"\s+rel="([^"]+)">([^<]+)<', page.content.decode())
    assert {rel for _url, rel, _label in found} <= {"noreferrer noopener"}
    return [(label, unescape(url)) for url, _rel, label in found]


def logs_of(found: list[tuple[str, str]]) -> list[tuple[str, timedelta, timedelta]]:
    """Of each link to logs: whose they are, and how long before now its times begin and end."""
    told = []
    for label, url in found:
        if label == "Logs":
            query = parse_qs(urlsplit(url).query)
            since, until = (timezone.now() - _moment(query[name][0]) for name in ("from", "to"))
            told.append((query["at"][0], since, until))
    return told


def _moment(ms: str) -> datetime:
    return datetime.fromtimestamp(int(ms) / 1000, timezone.get_current_timezone())


class TestPod:
    """On the page of a pod."""

    def test_a_victims_links_are_of_the_time_around_its_decision(self, demo: Cluster, tess: Client) -> None:
        """From an hour before it to a quarter of an hour after the pod exited."""
        row = rows.decision(demo, OTHER, minutes=180)
        gone_at = row.first_seen + timedelta(minutes=1)
        rows.victim(row, QUEUE, name="gone-1", node="n1", application="Job/index", gone_at=gone_at)
        found = links(tess, "/pods/demo/search/gone-1/")
        at = f"demo/search/gone-1/n1/{QUEUE}"
        assert logs_of(found) == [(at, 4 * HOUR, 3 * HOUR - timedelta(minutes=16))]
        assert found[1] == ("Dashboard", "https://dash.example.com/search/Job%2Findex")

    def test_a_victim_that_just_exited_has_no_logs_of_the_future(self, demo: Cluster, tess: Client) -> None:
        """Its times end now."""
        row = rows.decision(demo, OTHER, minutes=2)
        rows.victim(row, QUEUE, name="gone-1", node="n1", application="Job/index", gone_at=timezone.now())
        assert [until for _at, _since, until in logs_of(links(tess, "/pods/demo/search/gone-1/"))] == [timedelta()]

    def test_links_of_a_pod_that_runs_are_of_the_last_hour(self, demo: Cluster, tess: Client) -> None:
        """However old the decision is; of an older decision, they are of its own time."""
        spared = {"name": "index-0", "uid": "i0", "node": "n1", "state": Victim.State.SPARED, "gone_at": None}
        old, new = (rows.decision(demo, OTHER, minutes=minutes) for minutes in (1200, 600))
        for row in (old, new):
            rows.victim(row, QUEUE, evicted_at=None, **spared)
        found = logs_of(links(tess, "/pods/demo/search/index-0/"))
        assert found == [(f"demo/search/index-0/n1/{QUEUE}", HOUR, timedelta())]
        ((_at, since, until),) = logs_of(links(tess, f"/pods/demo/search/index-0/?decision={old.pk}"))
        assert (since, until) == (21 * HOUR, timedelta())

    def test_a_pending_pod_has_those_that_need_no_node(self, demo: Cluster, tess: Client) -> None:
        """It has no logs yet."""
        names = {"ask_namespace": "search", "ask_name": "index-1", "ask_uid": "i1", "ask_application": "Job/index"}
        rows.decision(demo, QUEUE, **names, last_seen=timezone.now())
        assert [label for label, _url in links(tess, "/pods/demo/search/index-1/")] == ["Dashboard"]

    def test_a_site_without_links_shows_none(self, demo: Cluster, tess: Client) -> None:
        """Nor a word about them."""
        Site.objects.update(pod_links=[])
        row = rows.decision(demo, OTHER)
        rows.victim(row, QUEUE, name="gone-1")
        assert "<dt>Links</dt>" not in tess.get("/pods/demo/search/gone-1/").content.decode()


class TestOtherPages:
    """Where pods stand in rows, and nodes."""

    def test_each_victim_of_a_decision_has_its_own(self, demo: Cluster, ada: Client) -> None:
        """Of the time of the decision."""
        row = rows.decision(demo, OTHER, minutes=60)
        for place, name in enumerate(("a", "b")):
            rows.victim(row, QUEUE, place, name=name, node="n1", application="Job/index", gone_at=row.first_seen)
        found = logs_of(links(ada, f"/clusters/demo/decisions/{row.pk}/"))
        assert [at for at, _since, _until in found] == [f"demo/search/{name}/n1/{QUEUE}" for name in ("a", "b")]
        assert {since for _at, since, _until in found} == {2 * HOUR}

    def test_a_node_has_its_own_and_each_of_its_pods_too(self, demo: Cluster, ada: Client) -> None:
        """The node's are of the last hour."""
        found = links(ada, "/clusters/demo/nodes/n1/")
        assert found[0][0] == "Headlamp"
        assert found[0][1].startswith("https://headlamp.example.com/c/demo/nodes/n1?from=")
        assert _moment(found[0][1].rpartition("=")[2]) == timezone.now() - HOUR
        own = [f"demo/search/index-0/n1/{QUEUE}", f"demo/other/other-0/n1/{OTHER}"]
        assert sorted(at for at, _since, _until in logs_of(found)) == sorted(own)

    def test_an_application_has_those_that_name_no_pod(self, demo: Cluster, tess: Client) -> None:
        """At the top; each of its pods has all that can be filled in."""
        query = urlencode({"namespace": "search", "application": "Job/index"})
        found = links(tess, f"/clusters/demo/application/?{query}")
        assert [label for label, _url in found] == ["Dashboard", "Logs", "Dashboard", "Dashboard"]
        assert logs_of(found) == [(f"demo/search/index-0/n1/{QUEUE}", HOUR, timedelta())]

    def test_a_tenant_sees_none_of_anybody_elses(self, demo: Cluster, tess: Client) -> None:
        """Neither a node's page, nor another team's pod, nor its application."""
        row = rows.decision(demo, QUEUE)
        rows.victim(row, OTHER, name="other-9", namespace="other")
        for address in ("/clusters/demo/nodes/n1/", "/pods/demo/other/other-9/"):
            assert tess.get(address).status_code == 404
        query = urlencode({"namespace": "other", "application": "Job/other"})
        assert "logs.example.com" not in tess.get(f"/clusters/demo/application/?{query}").content.decode()
