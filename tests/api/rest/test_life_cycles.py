"""What the REST API creates has a life that a program can manage: created, read, changed, found changed, deleted."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.users import service_account
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import publish
from simulator.kubeconfig import kubeconfig
from tests.api import builders
from tests.api.conftest import client_of
from tests.api.document import Document, read
from tests.api.rest.lives import LIVES, Life
from tests.builders import node, pod, queue, tree
from tests.cluster.doubles import simulate
from tests.priority_classes.builders import reach
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
lives = pytest.mark.parametrize("life", LIVES, ids=str)
AFTER = datetime(2026, 1, 5, 12, 1, tzinfo=UTC)


@dataclass
class World:
    """A cluster that was read once, and tokens that may do everything: two of one admin, and one of another."""

    one: APIClient
    same: APIClient
    another: APIClient
    kubeconfig: str

    def second(self, life: Life) -> APIClient:
        """Return the second client that may change an object: another person's, unless only one may see it."""
        return self.same if life.personal else self.another

    def create(self, life: Life) -> Any:
        """Create an object of a kind."""
        body = {
            name: value.format(kubeconfig=self.kubeconfig) if isinstance(value, str) else value
            for name, value in life.body.items()
        }
        address = f"{life.url}?{life.made_with}"
        send = self.one.put if life.made_by.startswith("replace") else self.one.post
        made = send(address, json.dumps(body), content_type="application/json")
        assert made.status_code == 201, made.json()
        return made


@pytest.fixture
def world(busy: Cluster, red: Any, tmp_path: Path) -> Iterator[World]:
    """Its tree had one queue more in its first revision."""
    first = Hierarchy.objects.get(name="main")
    shape = tree({"prod": queue("2", delay_ms=1), "test": queue("4", delay_ms=1), "batch": queue("1")})
    publish(hierarchy=first, tree=shape, author=None, reason="one more")
    publish(hierarchy=first, tree=tree({"prod": queue("2"), "test": queue("4")}), author=None, reason="one less")
    run(busy, Watch(node("n1", 4), [pod("test-0", queue="test", node="n1", namespace="red")]))
    ida, root = (builders.user(name, role=User.Role.ADMIN) for name in ("ida", "root"))
    service_account(name="ci", role=User.Role.ADMIN)
    with simulate() as cluster, time_machine.travel(AFTER, tick=False):
        reach(busy, cluster, tmp_path)
        cluster.add_node()
        clients = [client_of(user, scopes=[*ApiToken.Scope]) for user in (ida, ida, root)]
        yield World(*clients, kubeconfig=kubeconfig(cluster.address))


def place(made: Any) -> str:
    """Where an answer says that it created something."""
    return urlsplit(made["Location"]).path


def state(client: APIClient, address: str) -> Any:
    """What is read of an object that is there."""
    found = client.get(address)
    assert found.status_code == 200, found.json()
    return found


def change(client: APIClient, life: Life, address: str, body: Any, match: str) -> Any:
    """Change it as it was read."""
    body = json.dumps(body)
    headers = {"If-Match": match}
    return client.generic(
        life.method, f"{address}?{life.changed_with}", body, content_type="application/json", headers=headers
    )


def delete(client: APIClient, life: Life, address: str, match: str = "", **headers: str) -> Any:
    """Delete it as it was read."""
    at = f"{address.removesuffix(life.deleted_below)}?{life.deleted_with}"
    return client.delete(at, headers={**headers, **({"If-Match": match} if match else {})})


def deleted(client: APIClient, life: Life, address: str, **headers: str) -> Any:
    """Delete it as it is now."""
    tag = state(client, address.removesuffix(life.deleted_below))["ETag"]
    return delete(client, life, address, tag, **headers)


def test_each_kind_of_object_has_its_life_here() -> None:
    """A new operation that creates something needs an entry in lives.py."""
    document: Document = read()
    operations = [each for methods in document["paths"].values() for each in methods.values() if isinstance(each, dict)]
    assert {each["operationId"] for each in operations if "201" in each["responses"]} == {
        each.made_by for each in LIVES
    }


@lives
def test_an_object_is_read_as_it_was_created(life: Life, world: World) -> None:
    """Its address and its ETag are in the answer that created it."""
    made = world.create(life)
    address = place(made)
    found = state(world.one, address)
    sent = {name: value for name, value in life.body.items() if name not in life.unread}
    shown = found.json()
    assert {name: shown[name] for name in (*sent, *life.shown) if name != "queues"} == {
        name: value for name, value in {**sent, **life.shown}.items() if name != "queues"
    }
    if "queues" in sent:
        assert [each["path"] for each in shown["queues"]] == [each["path"] for each in sent["queues"]]
    assert made["ETag"] == found["ETag"]
    assert world.one.get(address, headers={"If-None-Match": made["ETag"]}).status_code == 304


@pytest.mark.parametrize("life", [each for each in LIVES if each.changes], ids=str)
def test_an_object_changed_by_somebody_else_is_found_changed(life: Life, world: World) -> None:
    """What was read before can neither be changed nor deleted; what is read now can."""
    address = place(world.create(life))
    at = address + life.changed_at
    before = state(world.one, at)["ETag"]
    first, second = life.changes
    changed = change(world.one, life, at, first, before)
    assert changed.status_code == 200, changed.json()
    read_back = state(world.one, at)
    assert (changed["ETag"], _part(read_back, first)) == (read_back["ETag"], _part(first, first))
    theirs = change(world.second(life), life, at, second, read_back["ETag"])
    assert theirs.status_code == 200, theirs.json()
    drifted = world.one.get(at, headers={"If-None-Match": read_back["ETag"]})
    assert (drifted.status_code, _part(drifted, second)) == (200, _part(second, second))
    stale = change(world.one, life, at, first, read_back["ETag"])
    assert (stale.status_code, stale["ETag"]) == (412, drifted["ETag"])
    assert _part(state(world.one, at), second) == _part(second, second)
    again = change(world.one, life, at, first, drifted["ETag"])
    assert (again.status_code, _part(state(world.one, at), first)) == (200, _part(first, first))


def _part(read_back: Any, sent: Any) -> Any:
    """Return of what was read, or of what was sent, the members that are sent; of queues their paths."""
    held = read_back if isinstance(read_back, dict) else read_back.json()
    return {
        name: [(each["path"], each.get("guaranteed")) for each in held[name]] if name == "queues" else held[name]
        for name in sent
    }


@lives
def test_a_deleted_object_is_gone_and_can_be_created_again(life: Life, world: World) -> None:
    """It is deleted only as it was read, and once: another request is answered by 404, the same one by the same."""
    address = place(world.create(life))
    stale = delete(world.one, life, address, '"other"')
    assert stale.status_code == 412, stale.content
    unread = delete(world.one, life, address) if life.needs_match else stale
    assert unread.status_code == (428 if life.needs_match else 412)
    key = {"Idempotency-Key": uuid.uuid4().hex}
    tag = state(world.one, address.removesuffix(life.deleted_below))["ETag"]
    assert delete(world.one, life, address, tag, **key).status_code == 204
    assert delete(world.one, life, address, tag, **key).status_code == 204
    assert delete(world.one, life, address, tag).status_code == 404
    assert world.one.get(address).status_code == 404
    again = world.create(life)
    assert state(world.one, place(again)).status_code == 200


@lives
def test_an_object_deleted_by_somebody_else_is_found_gone(life: Life, world: World) -> None:
    """Who read it before can neither read nor change it."""
    address = place(world.create(life))
    tag = state(world.one, address + life.changed_at)["ETag"]
    assert deleted(world.second(life), life, address).status_code == 204
    assert world.one.get(address).status_code == 404
    if life.changes and life.method == "PATCH":
        assert change(world.one, life, address + life.changed_at, life.changes[0], tag).status_code == 404
