"""Nodes, one of them, and the pods of an application, as pages show them."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from engine.model.objects import Taint
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import PAGE
from scheduler_admin.decisions.models import Decision
from tests.builders import ask, node, pod
from tests.builders import queue as leaf
from tests.builders import tree as tree_of
from tests.nodes.builders import store
from tests.pages import rows
from tests.pages.markup import squeezed

pytestmark = pytest.mark.django_db
QUEUE, OTHER = "root.tenant-1.queue-b", "root.tenant-2.queue-1"
TREE = tree_of({"tenant-1.queue-b": leaf(), "tenant-2.queue-1": leaf()})
NODES = "/clusters/demo/nodes/"


@pytest.fixture
def demo(db: None) -> Cluster:
    """Four nodes; an application of the search team's runs on two and waits once more, another's beside it."""
    cluster = rows.cluster()
    rows.status(cluster)
    search: dict[str, Any] = {"namespace": "search", "queue": QUEUE, "app": "Job/index"}
    store(
        cluster,
        TREE,
        node("n1", 4, taints=(Taint("gpu", "yes"),)),
        node("n2", 2, unschedulable=True),
        node("n3", 4, ready=False),
        node("n4", 10),
        pod("index-0", uid="i0", node="n1", cpu=1, priority=7, **search),
        pod("index-1", uid="i1", node="n2", cpu=2, **search),
        ask("index-2", uid="i2", **search),
        pod("canary-0", uid="c0", node="n1", namespace="canary-ns", queue=OTHER, app="Job/canary"),
    )
    return cluster


@pytest.fixture
def ada(client: Client, demo: Cluster) -> Client:
    """She sees everything."""
    client.force_login(rows.user())
    return client


@pytest.fixture
def tess(client: Client, demo: Cluster) -> Client:
    """The search team's."""
    client.force_login(rows.tenant_user())
    return client


def of(client: Client, application: str = "Job/index", namespace: str = "search", **query: str) -> str:
    """The page of an application."""
    query |= {"namespace": namespace, "application": application}
    response = client.get(f"/clusters/demo/application/?{urlencode(query)}")
    assert response.status_code == 200
    return response.content.decode()


def listed(client: Client, **query: str) -> list[str]:
    """The nodes of the list, in order."""
    return [line.node.name for line in client.get(NODES, query).context["lines"]]


def test_the_list_tells_each_node_in_a_line(ada: Client) -> None:
    """State, what is used of what it has in amounts and per cent, how full that is in a word, pods, taints."""
    lines = {line.node.name: line for line in ada.get(NODES).context["lines"]}
    words = [lines[name].states[0][1] for name in ("n1", "n2", "n3", "n4")]
    assert words == ["ready", "cordoned", "not ready", "ready"]
    assert [lines[name].fill[1] for name in ("n1", "n2", "n4")] == ["has free capacity", "full", "empty"]
    assert [(lane.used, lane.whole, lane.part) for lane in lines["n1"].lanes] == [(2000, 4000, "50 %")]
    page = squeezed(ada.get(NODES).content.decode())
    assert "gpu=yes:NoSchedule" in page
    assert "4 nodes, 3 ready" not in page
    assert "4 nodes, 2 ready" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "gpu"}, ["n1"]),
        ({"q": "4"}, ["n4"]),
        ({"state": "cordoned"}, ["n2"]),
        ({"state": "no such"}, ["n1", "n2", "n3", "n4"]),
        ({"sort": "full"}, ["n2", "n1", "n3", "n4"]),
        ({"sort": "-name"}, ["n4", "n3", "n2", "n1"]),
        ({"sort": "no such"}, ["n1", "n2", "n3", "n4"]),
        ({"page": "9"}, ["n1", "n2", "n3", "n4"]),
    ],
)
def test_nodes_are_filtered_and_sorted(ada: Client, query: dict[str, str], found: list[str]) -> None:
    """As the address says."""
    assert listed(ada, **query) == found


def test_a_long_list_comes_in_pages(ada: Client, demo: Cluster) -> None:
    """Each leads to the next, with the filter kept."""
    store(demo, TREE, *[node(f"m{number:03}") for number in range(PAGE + 5)], node("other"))
    first = ada.get(NODES, {"q": "m"})
    assert len(first.context["lines"]) == PAGE
    second = ada.get(f"{NODES}?{first.context['paged'].older}")
    assert [line.node.name for line in second.context["lines"]] == [f"m{PAGE + number:03}" for number in range(5)]
    assert "101–105 of 105" in second.content.decode()


def test_a_node_that_has_gone_says_so(ada: Client, demo: Cluster) -> None:
    """While pods say that they are on it; what it has is not known."""
    store(demo, TREE, pod("left", node="n9", queue=QUEUE))
    [line] = ada.get(NODES).context["lines"]
    assert (line.states[0][1], line.fill[1], line.lanes[0].part) == ("gone", "overcommitted", "–")


def test_a_node_shows_its_pods(ada: Client) -> None:
    """With queue, application, priority and amounts."""
    page = ada.get(f"{NODES}n1/").content.decode()
    for said in ("index-0", "canary-0", "Job/index", "queue-b", ">7<", "gpu=yes:NoSchedule"):
        assert said in page
    assert "index-1" not in page
    assert ada.get(f"{NODES}n4/").content.decode().count("No pods on this node.") == 1
    assert ada.get(f"{NODES}n9/").status_code == 404


def test_nodes_are_staffs(tess: Client) -> None:
    """Whose pods are on a node is nobody else's to know; not even the navigation names the page."""
    assert tess.get(NODES).status_code == 404
    assert tess.get(f"{NODES}n1/").status_code == 404
    assert NODES not in of(tess)


def test_an_application_shows_its_pods(tess: Client) -> None:
    """Those on nodes, and those that wait."""
    page = squeezed(of(tess))
    for said in ("index-0", "index-1", "index-2", "2 pods, 2 nodes", "waiting", "running"):
        assert said in page
    assert "canary" not in page


def test_an_application_of_others_is_not_found(tess: Client) -> None:
    """Whether it is there or not; one of hers that has gone leaves a page that says so."""
    for name in ("Job/canary", "Job/no-such"):
        query = urlencode({"namespace": "canary-ns", "application": name})
        assert tess.get(f"/clusters/demo/application/?{query}").status_code == 404
    assert "This application has no pods now." in of(tess, "Job/no-such")


def test_an_application_has_to_be_named(tess: Client) -> None:
    """Else there is no such page."""
    assert tess.get("/clusters/demo/application/").status_code == 404


def test_pods_are_sorted(ada: Client) -> None:
    """By amount, priority, node."""

    def names(order: str) -> list[str]:
        query = {"namespace": "search", "application": "Job/index", "sort": order}
        return [line.told.pod.name for line in ada.get("/clusters/demo/application/", query).context["pods"]]

    assert names("used:cpu") == ["index-1", "index-0", "index-2"]
    assert names("priority")[0] == "index-0"
    assert names("-node")[0] == "index-1"


def test_a_pod_that_is_taken_says_by_which_decision(ada: Client, demo: Cluster) -> None:
    """While it is open."""
    row = rows.decision(demo, OTHER, victims=(QUEUE,))
    row.victims.update(uid="i0", namespace="search", name="index-0")
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.EVICTING)
    assert "selected for eviction" in of(ada)
    assert f"/decisions/{row.pk}/" in of(ada)
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.CLOSED)
    assert "selected for eviction" not in of(ada)


def test_the_queue_leads_to_its_applications(ada: Client, demo: Cluster) -> None:
    """Those that run, and those of which only asks wait."""
    rows.decision(demo, QUEUE, ask_application="Job/waits", ask_namespace="search", state="recorded", outcome="none")
    Decision.objects.update(last_seen=demo.status.pass_at)
    page = ada.get(f"/clusters/demo/queues/{QUEUE}/").content.decode()
    found = page.count("/clusters/demo/application/?namespace=")
    assert found == len(demo.status.applications[QUEUE]) + 1
    assert urlencode({"application": "Job/waits"}) in page


def test_before_the_first_pass_the_list_says_what_to_do(client: Client, db: None) -> None:
    """Nothing is known then."""
    rows.cluster()
    client.force_login(rows.user(role=User.Role.OPERATOR))
    assert "No nodes yet." in client.get(NODES).content.decode()


def test_a_page_that_stands_is_not_sent_again(ada: Client) -> None:
    """Its refresh is answered by 304 while there is no news."""
    first = ada.get(NODES, headers={"HX-Request": "true"})
    again = ada.get(NODES, headers={"HX-Request": "true", "If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
