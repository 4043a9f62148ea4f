"""The pages of workload identities: admins say which pipelines sign in without a stored token, and see who did."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User, WorkloadIdentity
from scheduler_admin.accounts.services.users import service_account
from scheduler_admin.accounts.services.workload_identities import create_identity
from tests.pages.accounts.people import recorded, seen, send, shown, text_of, wrong

pytestmark = pytest.mark.django_db
LIST, ADD = "/people/workload-identities/", "/people/workload-identities/add/"
MAIN = "repo:example/queues:ref:refs/heads/main"
FORM = {
    "name": "queues",
    "service_account": "ci",
    "issuer": "https://token.actions.githubusercontent.com",
    "audience": "https://scheduler.example.com",
    "claims": f"sub = {MAIN}",
    "scopes": ["tree:write"],
    "subtree": "",
    "reason": "no more secrets",
}


@pytest.fixture(autouse=True)
def ci(db: None) -> User:
    """The account as which pipelines act."""
    return service_account(name="ci", role=User.Role.ADMIN)


def trusted(account: User) -> WorkloadIdentity:
    """The identity of the main branch."""
    values = {name: FORM[name] for name in ("name", "issuer", "audience", "scopes")}
    return create_identity(user=account, claims={"sub": MAIN}, **values, actor=None, reason="why")


def page_of(identity: WorkloadIdentity) -> str:
    return f"{LIST}{identity.pk}/"


def test_the_list_says_who_may_sign_in_and_who_did(ada: Client, ci: User) -> None:
    """Before there is one, it says what one is good for."""
    assert "No workload identities yet." in shown(ada, LIST)
    identity = trusted(ci)
    told = f"queues {FORM['issuer']} sub = {MAIN} ci tree:write"
    assert f"{told} never Delete" in shown(ada, LIST)
    used = datetime(2026, 1, 5, 12, tzinfo=UTC)
    WorkloadIdentity.objects.filter(pk=identity.pk).update(last_used_at=used, last_subject=MAIN)
    assert f"{told} 2026-01-05 12:00 {MAIN} Delete" in shown(ada, LIST)
    assert f"Last used 2026-01-05 12:00 UTC by {MAIN}" in shown(ada, page_of(identity))


def test_an_admin_adds_one(ada: Client) -> None:
    """The audience is the address of the site, as the command line asks for it; a claim is a line."""
    assert 'value="http://testserver"' in ada.get(ADD).content.decode()
    claims = "repository = example/*\n\n ref=refs/heads/main "
    assert ada.post(ADD, {**FORM, "claims": claims})["Location"] == LIST
    made = WorkloadIdentity.objects.get()
    assert made.claims == {"repository": "example/*", "ref": "refs/heads/main"}
    event = recorded("workload.create")
    assert (event.actor_name, event.reason, event.details["service_account"]) == ("ada", "no more secrets", "ci")
    assert "Workload identity created" in shown(ada, "/people/audit-log/")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"claims": "sub"}, "claims"),
        ({"claims": "sub = a\nsub = b"}, "claims"),
        ({"claims": "sub = *"}, "claims"),
        ({"claims": ""}, "claims"),
        ({"issuer": "http//example.com"}, "issuer"),
        ({"issuer": "https://10.0.0.1"}, "issuer"),
        ({"service_account": "ada"}, "service_account"),
        ({"service_account": ""}, "service_account"),
        ({"scopes": []}, "scopes"),
        ({"subtree": "root..a"}, "subtree"),
        ({"reason": ""}, "reason"),
    ],
)
def test_one_that_would_let_in_too_many_is_refused(ada: Client, given: Any, field: str) -> None:
    """At its field."""
    response = ada.post(ADD, {**FORM, **given})
    assert (response.status_code, WorkloadIdentity.objects.count()) == (422, 0)
    assert wrong(response, field)


def test_one_is_changed_as_it_was_seen(ada: Client, ci: User) -> None:
    """Who was overtaken is told."""
    one = trusted(ci)
    tag = seen(ada, page_of(one))
    assert send(ada, page_of(one), **{**FORM, "subtree": "root.a", "reason": "less"})["Location"] == LIST
    assert recorded("workload.change").details == {"changes": {"subtree": ["", "root.a"]}}
    late = ada.post(page_of(one), {**FORM, "scopes": ["read"], "seen": tag})
    assert (late.status_code, "Someone else changed this" in text_of(late)) == (409, True)
    assert WorkloadIdentity.objects.get().scopes == ["tree:write"]


def test_one_is_deleted(ada: Client, ci: User) -> None:
    """The page says what stays."""
    one = trusted(ci)
    address = f"{page_of(one)}delete/"
    assert "The service account ci and its API tokens stay." in shown(ada, address)
    assert send(ada, address)["Location"] == LIST
    assert not WorkloadIdentity.objects.exists()
    assert recorded("workload.delete").target == "queues"


def test_auditors_do_not_find_them(audrey: Client, ci: User) -> None:
    """The pages are for admins."""
    one = trusted(ci)
    addresses = (LIST, ADD, page_of(one), f"{page_of(one)}delete/")
    assert [audrey.get(each).status_code for each in addresses] == [403] * 4
