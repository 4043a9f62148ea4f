"""What a token's subtree leaves of what its user sees."""

import json

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.pauses import pause
from tests.api import builders
from tests.api.builders import BLUE, CANARY, NOW, RED, blue_pod, decision, red_pod, usage
from tests.api.conftest import client_of

PROD = "/api/v1/clusters/prod"
ADDRESSES = [
    "/api/v1/clusters",
    PROD,
    f"{PROD}/queues",
    f"{PROD}/queues/{RED}",
    f"{PROD}/queues/{BLUE}",
    f"{PROD}/usage?queue={RED}&resource=cpu",
    f"{PROD}/usage?queue={BLUE}&resource=cpu",
    f"{PROD}/decisions",
    f"{PROD}/decisions?queue={BLUE}",
    f"{PROD}/decisions?namespace=canary-ns",
    "/api/v1/decisions/1",
    "/api/v1/decisions/2",
]


@pytest.fixture
def busy(cluster: Cluster) -> Cluster:
    """Blue's ask takes a pod of red's; blue's other ask takes only its own."""
    pause(cluster=cluster, actor=None, reason="canary pause")
    cluster.status.refresh_from_db()
    cluster.status.applications = {RED: [cluster.status.applications[RED][0]], BLUE: cluster.status.applications[BLUE]}
    cluster.status.save()
    decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod(), blue_pod()), pk=1)
    decision(cluster, ask=blue_pod("canary-other"), victims=(blue_pod(),), pk=2)
    usage(cluster, RED, hour=NOW, cpu=[1000])
    usage(cluster, BLUE, hour=NOW, cpu=[1000])
    return cluster


def limited(subtree: str, *tenants: Tenant, role: str = User.Role.ADMIN) -> APIClient:
    """A client with a token for a subtree."""
    return client_of(builders.user("ci", *tenants, role=role), subtree=subtree)


def spoken(client: APIClient, address: str) -> str:
    """All that an answer says: body and headers."""
    response = client.get(address)
    return json.dumps(dict(response.items())) + response.content.decode()


def test_an_admins_token_for_a_subtree_sees_as_its_tenant(busy: Cluster) -> None:
    """Its queues and the decisions about them, and no name of anybody else's, not even through filters."""
    ci = limited("root.red")
    assert [row["path"] for row in ci.get(f"{PROD}/queues").json()["results"]] == ["root.red", RED]
    (row,) = ci.get(f"{PROD}/decisions").json()["results"]
    victims = [victim["name"] for victim in row["victims"]]
    assert (row["id"], row["pending_pod"]["redacted"], victims) == (1, True, ["red-pod"])
    for address in ADDRESSES:
        assert CANARY not in spoken(ci, address), address
    assert ci.get(f"{PROD}/queues/{BLUE}").status_code == ci.get("/api/v1/decisions/2").status_code == 404


def test_the_same_user_without_the_limit_sees_it_all(busy: Cluster) -> None:
    """The test above can fail: the canaries are there to be found."""
    ci = limited("")
    for address in (PROD, f"{PROD}/queues/{BLUE}", "/api/v1/decisions/1"):
        assert CANARY in spoken(ci, address), address


def test_an_owner_of_the_asks_queue_reads_the_ask(busy: Cluster) -> None:
    """A token for the ask's subtree is told of the ask in full, and of no other tenant's victim."""
    body = limited("root.blue").get("/api/v1/decisions/1").json()
    victims = [victim["name"] for victim in body["victims"]]
    assert (body["pending_pod"]["name"], victims) == ("canary-ask", ["canary-pod"])


def test_a_tenants_token_narrows_the_tenant(busy: Cluster, red: Tenant) -> None:
    """A tenant's token for one queue sees that queue; one for another tenant's sees nothing."""
    one = limited(RED, red, role=User.Role.TENANT)
    assert [row["path"] for row in one.get(f"{PROD}/queues").json()["results"]] == [RED]
    assert len(one.get(f"{PROD}/decisions").json()["results"]) == 1


def test_a_subtree_adds_nothing_to_its_user(busy: Cluster, red: Tenant) -> None:
    """A tenant's token for another tenant's subtree finds nothing."""
    one = limited("root.blue", red, role=User.Role.TENANT)
    assert one.get("/api/v1/clusters").json() == {"results": []}
    assert one.get("/api/v1/decisions/1").status_code == 404
