"""Nodes with their pods, and the pods of an application, by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from engine.model.objects import Taint
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision
from tests.api import builders
from tests.api.builders import BLUE, RED
from tests.api.conftest import client_of
from tests.builders import ask, node, pod, queue, tree
from tests.nodes.builders import store

pytestmark = pytest.mark.django_db
NODES, PODS = "/api/v1/clusters/prod/nodes", "/api/v1/clusters/prod/pods"
TREE = tree({"red.batch": queue(), "blue": queue()})
RED_POD = {"namespace": "red", "queue": RED, "app": "train"}


@pytest.fixture(autouse=True)
def full(cluster: Cluster) -> None:
    """Three nodes; red's train runs on two of them and waits once more, blue has a pod beside it."""
    store(
        cluster,
        TREE,
        node("n1", 4, taints=(Taint("gpu", "yes"),)),
        node("n2", 4, unschedulable=True),
        node("n3", 4, ready=False),
        pod("train-0", uid="t0", node="n1", priority=7, **RED_POD),
        pod("train-1", uid="t1", node="n2", **RED_POD),
        ask("train-2", uid="t2", unschedulable_ms=5000, **RED_POD),
        pod("canary-pod", uid="c0", node="n1", namespace="canary-ns", queue=BLUE, app="train"),
    )


def read(client: APIClient, address: str, **query: Any) -> Any:
    """The answer of a request that must succeed."""
    response = client.get(address, query)
    assert response.status_code == 200, response.content
    return response.json()


def names(client: APIClient, address: str, **query: Any) -> list[str]:
    """What is listed."""
    return [one["name"] for one in read(client, address, **query)["results"]]


def trained(client: APIClient, **query: Any) -> list[str]:
    """The pods of red's application."""
    return names(client, PODS, namespace="red", application="train", **query)


def test_staff_read_every_node(olga: APIClient) -> None:
    """Capacity, what is used of it, and its state in short."""
    first = read(olga, NODES)["results"][0]
    assert first["allocatable"]["cpu"], first["used"]["cpu"] == ("4", "2")
    assert (first["name"], first["pods"], first["ready"], first["cordoned"]) == ("n1", 2, True, False)
    assert first["taints"] == ["gpu=yes:NoSchedule"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"state": "ready"}, ["n1"]),
        ({"state": "cordoned"}, ["n2"]),
        ({"state": "not-ready"}, ["n3"]),
        ({"state": "tainted"}, ["n1"]),
        ({"state": "gone"}, []),
        ({"q": "3"}, ["n3"]),
        ({"q": "gpu"}, ["n1"]),
    ],
)
def test_nodes_are_filtered(olga: APIClient, query: dict[str, str], found: list[str]) -> None:
    """By name, taint and state."""
    assert names(olga, NODES, **query) == found


def test_a_page_goes_on_where_the_last_one_ended(olga: APIClient) -> None:
    """Nodes by name, pods by name and uid."""
    page = read(olga, NODES, limit=2)
    assert [one["name"] for one in page["results"]] == ["n1", "n2"]
    assert [one["name"] for one in read(olga, page["next"])["results"]] == ["n3"]
    page = read(olga, PODS, namespace="red", application="train", limit=2)
    assert [one["name"] for one in read(olga, page["next"])["results"]] == ["train-2"]


def test_the_same_nodes_need_not_be_sent_again(olga: APIClient) -> None:
    """Also where the cluster was heard of since; not where a node has changed."""
    tag = olga.get(NODES)["ETag"]
    ClusterStatus.objects.update(read_at=builders.NOW)
    assert olga.get(NODES, headers={"If-None-Match": tag}).status_code == 304
    store(Cluster.objects.get(), TREE, node("n1", 8))
    assert olga.get(NODES, headers={"If-None-Match": tag}).status_code == 200


def test_a_node_tells_its_pods(olga: APIClient) -> None:
    """With queue, application, priority and amounts."""
    found = read(olga, f"{NODES}/n1")
    assert [one["name"] for one in found["pods"]] == ["canary-pod", "train-0"]
    train = found["pods"][1]
    assert (train["queue"], train["application"], train["priority"], train["phase"]) == (RED, "train", 7, "running")
    assert train["requests"]["cpu"] == "1"
    assert olga.get(f"{NODES}/n9").status_code == 404


def test_nodes_are_for_those_who_see_everything(alice: APIClient, charlie: APIClient) -> None:
    """Tenants find none: whose pods are on a node is nobody else's to know."""
    for client in (alice, charlie):
        assert client.get(NODES).status_code == 404
        assert client.get(f"{NODES}/n1").status_code == 404
        assert client.get(f"{NODES}/n9").status_code == 404


def test_an_application_tells_its_pods(alice: APIClient) -> None:
    """Those on nodes and those that wait, with where and since when."""
    found = read(alice, PODS, namespace="red", application="train")["results"]
    assert [(one["name"], one["node"], one["phase"]) for one in found] == [
        ("train-0", "n1", "running"),
        ("train-1", "n2", "running"),
        ("train-2", None, "pending"),
    ]
    assert found[2]["since"] == "1970-01-01T00:00:05Z"


def test_an_application_is_found_only_by_those_whose_it_is(alice: APIClient, olga: APIClient) -> None:
    """Of others' nothing is told, not even whether it is there."""
    for application in ("train", "no-such"):
        assert alice.get(PODS, {"namespace": "canary-ns", "application": application}).status_code == 404
    assert names(olga, PODS, namespace="canary-ns", application="train") == ["canary-pod"]
    assert names(alice, PODS, namespace="red", application="no-such") == []


def test_of_an_application_in_two_queues_one_can_be_asked_for(alice: APIClient) -> None:
    """The same name may be used in both."""
    assert trained(alice, queue=RED) == ["train-0", "train-1", "train-2"]
    assert trained(alice, queue=BLUE) == []


def test_a_token_for_one_subtree_tells_only_of_that(red: Any) -> None:
    """As everywhere; nodes are then nobody's."""
    person = builders.user("dora", red)
    assert trained(client_of(person, subtree="root.red")) == ["train-0", "train-1", "train-2"]
    blues = client_of(builders.user("oscar", role="operator"), subtree=BLUE)
    assert trained(blues) == []
    assert names(blues, PODS, namespace="canary-ns", application="train") == ["canary-pod"]
    assert blues.get(NODES).status_code == 404


def test_who_takes_a_pod_is_said_while_it_happens(alice: APIClient, cluster: Cluster) -> None:
    """By the decision's number; not once it has ended, and not of another's decision."""
    row = builders.decision(cluster, ask=builders.blue_pod(), victims=(builders.red_pod(),))
    victim = row.victims.get()
    victim.uid = "t1"
    victim.save()
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.EVICTING)
    found = read(alice, PODS, namespace="red", application="train")["results"]
    assert [one["evicting_decision_id"] for one in found] == [None, row.pk, None]
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.CLOSED)
    found = read(alice, PODS, namespace="red", application="train")["results"]
    assert [one["evicting_decision_id"] for one in found] == [None, None, None]


def test_what_is_asked_for_has_to_be_named(alice: APIClient) -> None:
    """All pods at once are not told."""
    assert alice.get(PODS).status_code == 400
