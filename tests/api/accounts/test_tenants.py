"""Tenants by REST."""

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, Tenant
from scheduler_admin.accounts.services.tenants import create_tenant
from tests.api.accounts.writing import change, create, delete, names, read, root
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

__all__ = ["root"]
pytestmark = pytest.mark.django_db

URL = "/api/v1/tenants"
RED = f"{URL}/red"


def test_tenants_are_told_to_those_whose_they_are(olga: APIClient, alice: APIClient, charlie: APIClient) -> None:
    """All to who sees everything, none to a stranger; one by one as in the list."""
    create_tenant(name="blue", namespaces=["canary-ns"])
    assert [names(client, URL) for client in (olga, alice, charlie)] == [["blue", "red"], ["red"], []]
    response, one = alice.get(URL), alice.get(RED)
    red = {"name": "red", "namespaces": ["red"], "subtrees": ["root.red"]}
    assert (response.json()["results"], one.json()) == ([red], red)
    assert [client.get(f"{URL}/blue").status_code for client in (olga, alice, charlie)] == [200, 404, 404]
    check(response, URL, "get")
    check(one, f"{URL}/{{name}}", "get")


def test_an_admin_creates_changes_and_deletes_one(root: APIClient) -> None:
    """Each on record, with the reason; the answer to a change is what is there now."""
    made = create(root, URL, name="red", namespaces=["red"], subtrees=["root.red"])
    assert (made.status_code, made["ETag"]) == (201, read(root, RED))
    check(made, URL, "post")
    changed = change(root, RED, namespaces=["red", "dev"])
    assert (changed.status_code, changed["ETag"]) == (200, read(root, RED))
    assert changed.json() == {"name": "red", "namespaces": ["dev", "red"], "subtrees": ["root.red"]}
    check(changed, f"{URL}/{{name}}", "patch")
    assert change(root, RED, name="crimson").json()["name"] == "crimson"
    assert root.get(RED).status_code == 404
    assert delete(root, f"{URL}/crimson").status_code == 204
    events = AuditEvent.objects.filter(verb__startswith="tenant.").order_by("pk")
    assert [(event.verb, event.target, event.reason) for event in events] == [
        ("tenant.create", "red", "why"),
        ("tenant.change", "red", "why"),
        ("tenant.change", "red", "why"),
        ("tenant.delete", "crimson", "why"),
    ]
    assert not Tenant.objects.exists()


def test_nobody_overwrites_what_they_have_not_read(root: APIClient) -> None:
    """Neither without an ETag nor with one of before."""
    create(root, URL, name="red")
    before = read(root, RED)
    change(root, RED, namespaces=["red"])
    for write in (root.patch, root.delete):
        assert write(f"{RED}?reason=why", {}, format="json").status_code == 428
        late = write(f"{RED}?reason=why", {}, format="json", headers={"If-Match": before})
        assert (late.status_code, late["ETag"]) == (412, read(root, RED))


def test_what_is_wrong_is_told_at_its_place(root: APIClient) -> None:
    """In a new one and in a change; so is a reason that is missing."""
    create(root, URL, name="red")
    for body, place in (
        ({"name": "a/b"}, "/name"),
        ({"namespaces": ["Red"]}, "/namespaces"),
        ({"subtrees": ["root."]}, "/subtrees"),
        ({"colour": "red"}, "/colour"),
    ):
        assert errors(create(root, URL, **{"name": "blue", **body})) == [{"pointer": place}]
        assert errors(change(root, RED, **body)) == [{"pointer": place}]
    assert errors(create(root, URL, name="red")) == [{"pointer": "/name"}]
    assert errors(root.post(URL, {"name": "blue"}, format="json")) == [{"parameter": "reason"}]
    assert Tenant.objects.count() == 1


@pytest.mark.parametrize("who", ["olga", "alice", "charlie", "ada"])
def test_others_write_none(request: pytest.FixtureRequest, who: str) -> None:
    """Not an operator, not its own people, not an admin's token that is for something else."""
    create_tenant(name="blue")
    client = request.getfixturevalue(who)
    answers = [create(client, URL, name="green")]
    answers += [write(f"{URL}/blue?reason=why", {}, format="json") for write in (client.patch, client.delete)]
    assert [answer.status_code for answer in answers] == [403] * 3
