"""Who sees what: a grid of people and routes, and names that must never occur."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, reverse
from rest_framework.test import APIClient

from scheduler_admin.api.urls import urlpatterns
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision
from tests.api.builders import BLUE, CANARY, NOW, RED, blue_pod, decision, red_pod

ROUTES = {
    "openapi": {},
    "clusters": {},
    "cluster": {"name": "prod"},
    "queues": {"name": "prod"},
    "queue": {"name": "prod", "path": RED},
    "usage": {"name": "prod"},
    "decisions": {"name": "prod"},
    "hierarchies": {},
    "hierarchy": {"name": "prod-tree"},
    "tree": {"name": "prod-tree"},
    "revisions": {"name": "prod-tree"},
    "revision": {"name": "prod-tree", "number": 1},
    "decision": {"pk": 1},
    "nothing": {"rest": "no/such"},
}
QUERY = {"usage": f"?queue={RED}&resource=cpu"}
OPEN = {"openapi", "clusters", "hierarchies"}
"""Routes that are there for everyone who signs in."""
WHOLE = {"revision"}
"""Routes that show a whole tree, so not to tenants."""


def address(name: str, **other: Any) -> str:
    """A route's address with its query."""
    return reverse(f"api:{name}", kwargs=ROUTES[name] | other) + QUERY.get(name, "")


def test_the_grid_has_every_route() -> None:
    """A route that is added without a row here fails."""
    assert {pattern.name for pattern in urlpatterns if isinstance(pattern, URLPattern)} == set(ROUTES)


@pytest.fixture
def shared(cluster: Cluster) -> Decision:
    """Blue's ask takes one pod of red and one of its own: Alice sees the decision, but only her part of it."""
    Cluster.objects.filter(pk=cluster.pk).update(paused_at=NOW, pause_reason="canary pause")
    cluster.status.error = "canary error"
    cluster.status.save()
    return decision(cluster, ask=blue_pod("canary-ask"), victims=(red_pod(), blue_pod()), pk=1)


@pytest.mark.parametrize("name", ROUTES)
def test_nobody_without_credentials(shared: Decision, name: str) -> None:
    """Without credentials every route says 401, how to sign in, and nothing else."""
    response = APIClient().get(address(name))
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="api"'
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("name", sorted(ROUTES.keys() - OPEN))
def test_strangers_find_nothing(charlie: APIClient, shared: Decision, name: str) -> None:
    """A stranger gets 404, the same as for what doesn't exist."""
    theirs = charlie.get(address(name))
    nobodys = charlie.get("/api/v1/clusters/none")
    assert (theirs.status_code, theirs.json()) == (404, nobodys.json())


@pytest.mark.parametrize("name", ["clusters", "hierarchies"])
def test_strangers_list_nothing(charlie: APIClient, shared: Decision, name: str) -> None:
    """A stranger's lists are empty."""
    assert charlie.get(address(name)).json() == {"results": []}


@pytest.mark.parametrize("name", sorted(ROUTES.keys() - WHOLE - {"nothing"}))
def test_owners_teammates_and_operators_get_in(
    alice: APIClient, bob: APIClient, olga: APIClient, shared: Decision, name: str
) -> None:
    """A tenant's members see what is theirs, all members the same; an operator sees it too."""
    own, mates, all_of_it = (client.get(address(name)) for client in (alice, bob, olga))
    assert {own.status_code, mates.status_code, all_of_it.status_code} == {200}
    assert own.content == mates.content


@pytest.mark.parametrize("name", ROUTES)
def test_answers_are_kept_apart_by_who_asks(alice: APIClient, shared: Decision, name: str) -> None:
    """No cache may give one user's answer, or refusal, to another."""
    for client in (alice, APIClient()):
        response = client.get(address(name))
        assert {"Authorization", "Cookie"} <= {part.strip() for part in response["Vary"].split(",")}
        assert {"private", "no-cache"} == {part.strip() for part in response["Cache-Control"].split(",")}


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("name", ROUTES)
def test_nothing_can_be_written(olga: APIClient, shared: Decision, name: str, method: str) -> None:
    """The API only reads, but for trees: they are for admins to change."""
    want, query = (403, "?reason=x") if (name, method) == ("tree", "put") else (405, "")
    assert getattr(olga, method)(address(name) + query).status_code == want


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_tree_is_not_for_tenants(alice: APIClient, olga: APIClient, shared: Decision, name: str) -> None:
    """What would show other tenants' queues is not there for a tenant."""
    assert (alice.get(address(name)).status_code, olga.get(address(name)).status_code) == (404, 200)


def spoken(client: APIClient, url: str) -> str:
    """All that an answer says: body and headers."""
    response = client.get(url)
    return json.dumps(dict(response.items())) + response.content.decode()


def everywhere() -> Iterator[str]:
    """Every route, and those of the other tenant."""
    yield from (address(name) for name in ROUTES)
    yield address("queue", path=BLUE)
    yield f"/api/v1/clusters/prod/usage?queue={BLUE}&resource=cpu"
    yield f"/api/v1/clusters/prod/decisions?queue={BLUE}"


def test_another_tenants_names_never_occur(alice: APIClient, shared: Decision) -> None:
    """No answer to a tenant holds a pod, namespace, application or free text of another one."""
    for url in everywhere():
        assert CANARY not in spoken(alice, url), url


def test_the_canary_is_there_to_be_found(olga: APIClient, shared: Decision) -> None:
    """The same answers to an operator do hold these names: the test above can fail."""
    for name in ("cluster", "clusters", "queue", "decisions", "decision", "tree", "revisions", "revision"):
        assert CANARY in spoken(olga, address(name)), name


def test_a_victims_owner_learns_the_queue_and_no_more(alice: APIClient, shared: Decision) -> None:
    """Of another tenant's ask only the queue is told; of the victims, one's own."""
    body = alice.get(address("decision")).json()
    told = {name: value for name, value in body["ask"].items() if value is not None}
    assert told == {"redacted": True, "queue": BLUE}
    assert [victim["name"] for victim in body["victims"]] == ["red-pod"]
    assert [(step["pod"], step["note"]) for step in body["steps"]] == [("red/red-pod", "")]
    assert body["laws"] == [{"law": "fits", "holds": True, "sums": None}]
    assert (body["document"], body["detail"]) == (None, None)


def test_an_asks_owner_learns_all_of_the_ask(alice: APIClient, cluster: Cluster) -> None:
    """A tenant's own ask is told in full, another tenant's victims are not."""
    decision(cluster, ask=red_pod(), victims=(blue_pod(),), pk=1)
    body = alice.get(address("decision")).json()
    assert (body["ask"]["name"], body["ask"]["redacted"]) == ("red-pod", False)
    assert body["detail"] == "red-pod detail"
    assert body["victims"] == []


@pytest.mark.parametrize(
    "query", ["namespace=canary-ns", "application=canary-app", "priority_class=canary-ask-class", f"queue={BLUE}"]
)
def test_filters_are_no_way_to_guess(alice: APIClient, shared: Decision, query: str) -> None:
    """A filter never finds a tenant's decision by another tenant's names."""
    response = alice.get(f"{address('decisions')}?{query}")
    assert response.json().get("results", []) == []


def test_a_tenants_own_filters_find(alice: APIClient, shared: Decision) -> None:
    """The same filters find it by the tenant's own names."""
    for query in ("namespace=red", "application=etl", "queue=root.red"):
        assert len(alice.get(f"{address('decisions')}?{query}").json()["results"]) == 1, query


def test_tenants_see_their_own_queues(alice: APIClient, shared: Decision) -> None:
    """A tenant's tree holds the tenant's subtree and nothing beside or above it."""
    paths = [row["path"] for row in alice.get(address("queues")).json()["results"]]
    assert paths == ["root.red", RED]
