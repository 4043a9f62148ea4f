"""Accounts of machines: they have tokens, and no other way in."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.accounts.selectors import usable_token
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.accounts.services.users import create_user, service_account

pytestmark = pytest.mark.django_db


def made(*arguments: str) -> str:
    """What create_token prints."""
    printed = StringIO()
    call_command("create_token", *arguments, stdout=printed)
    return printed.getvalue().strip()


def test_a_token_needs_no_person() -> None:
    """One command makes the account and its token; the next token needs no role, and both are the same account's."""
    first = usable_token(made("--service=ci", "--role=admin", "--subtree=root.red"), now=timezone.now())
    second = usable_token(made("--service=ci", "--name=nightly"), now=timezone.now())
    assert first is not None
    assert second is not None
    assert (first.user, first.name, first.subtree, second.name) == (second.user, "ci", "root.red", "nightly")
    assert (first.user.role, first.user.service) == ("admin", True)


def test_a_service_account_has_no_other_door() -> None:
    """Neither a password that somebody gave it by hand nor a session lets it in, and it is nobody at another door."""
    account = service_account(name="ci", role="admin")
    assert not account.has_usable_password()
    account.set_password("correct horse battery")
    account.save()
    assert authenticate(HttpRequest(), username="ci", password="correct horse battery") is None
    client = Client()
    client.force_login(account)
    assert client.get("/api/v1/clusters").status_code == 401
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=account.pk).update(identity="oidc somebody")


def test_a_person_with_that_password_is_let_in() -> None:
    """The test above can fail: what it tries works for people."""
    create_user(username="alice", password="correct horse battery")
    assert authenticate(HttpRequest(), username="alice", password="correct horse battery") is not None


def test_lists_and_records_call_it_what_it_is() -> None:
    """The list of tokens has its kind; what it did stands under a name that no person can have."""
    made("--service=ci", "--role=auditor")
    listed = StringIO()
    call_command("list_tokens", stdout=listed)
    assert "service" in listed.getvalue().splitlines()[1].split()
    assert AuditEvent.objects.get(verb="user.create").details["service"] is True
    assert record(actor=User.objects.get(), verb="test", target="x").actor_name == "service account ci"
    with pytest.raises(ValidationError):
        create_user(username="service account ci")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--service=ci",), "Service account ci does not exist yet"),
        (("--service=alice", "--role=admin"), "a person"),
        (("--service=robot", "--role=admin"), "robot already exists with the role auditor"),
        (("--service=" + "x" * 101, "--role=admin"), "too long"),
        (("--service=ci", "--role=tenant"), "invalid choice"),
        (("--service=ci", "--role=admin", "--subtree=root."), "valid queue path"),
        (("alice", "--service=ci", "--role=admin"), "not allowed"),
        (("alice", "--name=ci", "--role=admin"), "Users already have a role"),
        (("--role=admin",), "required"),
    ],
)
def test_what_can_not_be_is_said_and_makes_nothing(arguments: tuple[str, ...], said: str) -> None:
    """Each in a sentence, and no account is left behind."""
    create_user(username="alice")
    service_account(name="robot", role="auditor")
    before: Any = User.objects.count()
    with pytest.raises(CommandError, match=said):
        call_command("create_token", *arguments)
    assert User.objects.count() == before
