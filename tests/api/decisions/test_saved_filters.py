"""Filters of the history that one keeps by a name, by REST: the same as on the page."""

from typing import Any
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.services.saved_filters import MOST_KEPT
from tests.api import builders
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

URL, PATH = "/api/v1/clusters/prod/saved-filters", "/api/v1/clusters/{name}/saved-filters"
ADDRESS = urlencode({"queue": "root.red", "range": "7d"})


@pytest.fixture
def nora(cluster: Cluster) -> APIClient:
    """Somebody who sees everything, and may do nothing else."""
    return client_of(builders.user("nora", role=User.Role.AUDITOR))


def keep(client: APIClient, name: str = "Red", address: str = ADDRESS) -> Any:
    """Send some."""
    return client.post(URL, {"name": name, "query": address}, format="json")


def test_they_are_kept_listed_and_forgotten(nora: APIClient) -> None:
    """What History does not know, and defaults, are left out."""
    kept = keep(nora, address=f"{ADDRESS}&outcome=preempt&evil=1")
    check(kept, PATH, "post")
    body = kept.json()
    assert (kept.status_code, body["name"], body["query"]) == (201, "Red", ADDRESS)
    listed = nora.get(URL)
    check(listed, PATH, "get")
    assert listed.json() == {"results": [body]}
    one = nora.get(f"{URL}/{body['id']}")
    check(one, f"{PATH}/{{id}}", "get")
    assert one.json() == body
    assert nora.delete(f"{URL}/{body['id']}").status_code == 204
    assert nora.get(URL).json() == {"results": []}
    assert nora.delete(f"{URL}/{body['id']}").status_code == 404


def test_everybody_has_their_own_and_each_cluster_its_own(nora: APIClient, cluster: Cluster) -> None:
    """An admin finds an auditor's neither in the list nor by its number."""
    kept = keep(nora).json()["id"]
    admin = client_of(builders.user("root", role=User.Role.ADMIN))
    assert admin.get(URL).json() == {"results": []}
    assert admin.get(f"{URL}/{kept}").status_code == admin.delete(f"{URL}/{kept}").status_code == 404
    Cluster.objects.create(name="other", hierarchy=cluster.hierarchy)
    other = URL.replace("prod", "other")
    assert nora.get(other).json() == {"results": []}
    assert nora.delete(f"{other}/{kept}").status_code == 404
    assert SavedFilter.objects.get().owner.username == "nora"


def test_who_sees_a_part_has_none(alice: APIClient, cluster: Cluster) -> None:
    """As they have no page of the history; nor has a token that is for a subtree."""
    narrow = client_of(builders.user("root", role=User.Role.ADMIN), subtree="root.red")
    for client in (alice, narrow):
        assert client.get(URL).status_code == keep(client).status_code == 404
    assert not SavedFilter.objects.exists()


@pytest.mark.parametrize(
    ("name", "address", "place"),
    [
        ("", ADDRESS, {"pointer": "/name"}),
        ("x" * 61, ADDRESS, {"pointer": "/name"}),
        ("a\0b", ADDRESS, {"pointer": "/name"}),
        ("Nul", "node=%00", {"pointer": "/query"}),
        ("Long", "node=" + "x" * 2000, {"pointer": "/query"}),
        ("Longer as it is written", "node=" + "é" * 500, {"pointer": "/query"}),
        ("None", "evil=1", {}),
        ("Red", ADDRESS, {}),
    ],
)
def test_what_can_not_be_kept_is_said(nora: APIClient, name: str, address: str, place: dict[str, str]) -> None:
    """At its place, where it has one; a name is taken, or no filter is set."""
    keep(nora)
    refused = keep(nora, name, address)
    assert (refused.status_code, errors(refused)) == (422, [place])
    assert SavedFilter.objects.get().name == "Red"


def test_there_is_an_end_to_how_many(nora: APIClient) -> None:
    """The page has them in a row."""
    for number in range(MOST_KEPT):
        assert keep(nora, f"Number {number}").status_code == 201
    assert keep(nora).status_code == 422
