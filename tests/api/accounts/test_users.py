"""Users by REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.doors import admit
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, KeptAnswer, Tenant, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user, service_account
from tests.api.accounts.writing import change, create, delete, names, read, root
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

__all__ = ["root"]
pytestmark = pytest.mark.django_db

URL = "/api/v1/users"
ONE = f"{URL}/{{id}}"
PASSWORD = "correct horse battery"


def of(user: User | str) -> str:
    """The address of a user."""
    found = user if isinstance(user, User) else User.objects.get(username=user)
    return f"{URL}/{found.pk}"


def test_users_are_told_with_their_roles(olga: APIClient, red: Tenant) -> None:
    """People and machines, the newest first."""
    erin = create_user(username="erin", edits=[red])
    service_account(name="ci", role="admin")
    assert names(olga, URL) == ["ci", "erin", "olga"]
    assert (names(olga, URL, service_account="true"), names(olga, URL, tenant="red")) == (["ci"], ["erin"])
    assert names(olga, URL, role="operator", service_account="false") == ["olga"]
    first = olga.get(URL, {"limit": 2}).json()
    assert first["results"][1]["memberships"] == [{"tenant": "red", "role": "editor"}]
    assert [row["name"] for row in olga.get(first["next"]).json()["results"]] == ["olga"]
    assert "password" not in first["results"][0]
    assert olga.get(of(erin)).json() == first["results"][1]
    check(olga.get(URL), URL, "get")
    check(olga.get(of(erin)), ONE, "get")


def test_one_whom_createsuperuser_made_is_told_as_an_admin(olga: APIClient) -> None:
    """And found as one."""
    User.objects.create_superuser("root")
    assert olga.get(of("root")).json()["role"] == "admin"
    assert (names(olga, URL, role="admin"), names(olga, URL, role="tenant")) == (["root"], [])


def test_an_admin_creates_changes_and_deletes_one(root: APIClient, red: Tenant) -> None:
    """Each on record, with the reason; the answer to a change is what is there now."""
    create_tenant(name="blue")
    made = create(root, URL, name="erin", password=PASSWORD, memberships=[{"tenant": "red", "role": "editor"}])
    body = made.json()
    assert (made.status_code, made["ETag"]) == (201, read(root, of("erin")))
    assert (body["role"], body["active"], body["memberships"]) == (
        "tenant",
        True,
        [{"tenant": "red", "role": "editor"}],
    )
    check(made, URL, "post")
    changed = change(root, of("erin"), role="auditor", email="erin@example.com", memberships=[{"tenant": "blue"}])
    assert (changed.status_code, changed["ETag"]) == (200, read(root, of("erin")))
    assert changed.json() == {
        **body,
        "role": "auditor",
        "email": "erin@example.com",
        "memberships": [{"tenant": "blue", "role": "tenant"}],
    }
    check(changed, ONE, "patch")
    assert change(root, of("erin"), active=False).json()["active"] is False
    assert delete(root, of("erin")).status_code == 204
    events = AuditEvent.objects.filter(target="erin").order_by("pk")
    assert [(event.verb, event.reason) for event in events] == [
        ("user.create", "why"),
        ("user.change", "why"),
        ("user.change", "why"),
        ("user.delete", "why"),
    ]
    assert not User.objects.filter(username="erin").exists()


def test_a_password_is_written_and_never_told(root: APIClient, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in an answer, nor in one that is kept, nor in the audit log, nor in a log."""
    headers, sent = {"Idempotency-Key": "one"}, {"name": "erin", "password": PASSWORD}
    answers = [root.post(f"{URL}?reason=why", sent, format="json", headers=headers) for _turn in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    answers.append(change(root, of("erin"), password="staple battery horse"))
    assert User.objects.get(username="erin").check_password("staple battery horse")
    kept = [*KeptAnswer.objects.values_list(), *AuditEvent.objects.values_list(), caplog.text]
    told = [answer.content.decode() for answer in answers]
    assert KeptAnswer.objects.count() == 1
    assert all(secret not in f"{kept} {told}" for secret in (PASSWORD, "staple battery horse"))


def test_a_weak_password_is_refused_without_repeating_it(root: APIClient) -> None:
    """In a new user and in a change."""
    create(root, URL, name="erin")
    assert not User.objects.get(username="erin").has_usable_password()
    for answer in (create(root, URL, name="bob", password="qwerty"), change(root, of("erin"), password="qwerty")):
        assert {one["pointer"] for one in answer.json()["errors"]} == {"/password"}
        assert "qwerty" not in answer.content.decode()


def test_what_is_wrong_is_told_at_its_place(root: APIClient, red: Tenant) -> None:
    """By the names that the body has; the name stays what it is."""
    create(root, URL, name="erin")
    twice = [{"tenant": "red", "role": "editor"}, {"tenant": "red"}]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"role": "king"}, "/role"),
        ({"email": "erin"}, "/email"),
        ({"memberships": [{"tenant": "green"}]}, "/memberships/0/tenant"),
        ({"memberships": twice}, "/memberships/1/tenant"),
        ({"memberships": [{"tenant": "red", "role": "king"}]}, "/memberships/0/role"),
        ({"service_account": True}, "/service_account"),
    ]
    for body, place in cases:
        assert errors(create(root, URL, **{"name": "bob", **body})) == [{"pointer": place}]
        assert errors(change(root, of("erin"), **body)) == [{"pointer": place}]
    for name in ("erin", "two words"):
        assert errors(create(root, URL, name=name)) == [{"pointer": "/name"}]
    assert errors(change(root, of("erin"), name="fay")) == [{"pointer": "/name"}]
    assert errors(root.post(URL, {"name": "bob"}, format="json")) == [{"parameter": "reason"}]


def test_nobody_overwrites_what_they_have_not_read(root: APIClient) -> None:
    """Neither without an ETag nor with one of before."""
    create(root, URL, name="erin")
    address = of("erin")
    before = read(root, address)
    change(root, address, role="auditor")
    for write in (root.patch, root.delete):
        assert write(f"{address}?reason=why", {}, format="json").status_code == 428
        late = write(f"{address}?reason=why", {}, format="json", headers={"If-Match": before})
        assert (late.status_code, late["ETag"]) == (412, read(root, address))


def test_nobody_takes_away_their_own_role_or_account(root: APIClient) -> None:
    """Or the last admin's."""
    assert errors(change(root, of("root"), role="tenant")) == [{"pointer": "/role"}]
    assert errors(change(root, of("root"), active=False)) == [{"pointer": "/active"}]
    assert delete(root, of("root")).status_code == 422
    assert User.objects.get(username="root").role == "admin"


def test_role_and_memberships_of_who_signs_in_elsewhere_cannot_be_set(root: APIClient, red: Tenant) -> None:
    """They follow from groups; the account can be locked."""
    GroupMapping.objects.create(group="red-team", role="tenant", tenant=red)
    oscar = admit(identity="oidc provider one", name="oscar", groups=["red-team"])
    assert root.get(of(oscar)).json()["externally_managed"] is True
    assert errors(change(root, of(oscar), role="admin")) == [{"pointer": "/role"}]
    assert errors(change(root, of(oscar), memberships=[])) == [{"pointer": "/memberships"}]
    assert change(root, of(oscar), active=False).json()["active"] is False


@pytest.mark.parametrize(("who", "status"), [("olga", 403), ("ada", 403), ("alice", 404), ("charlie", 404)])
def test_others_write_none(request: pytest.FixtureRequest, who: str, status: int) -> None:
    """Not an operator, not an admin's token that is for something else; to who sees a part they are not even there."""
    erin, client = create_user(username="erin"), request.getfixturevalue(who)
    answers = [create(client, URL, name="bob")]
    answers += [write(f"{of(erin)}?reason=why", {}, format="json") for write in (client.patch, client.delete)]
    assert [answer.status_code for answer in answers] == [status] * 3
    if status == 404:
        assert [client.get(address).status_code for address in (URL, of(erin))] == [404, 404]
