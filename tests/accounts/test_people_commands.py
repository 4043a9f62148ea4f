"""Tenants and users from the command line."""

import io
import sys

import pytest
from django.core.management import CommandError, call_command

from scheduler_admin.accounts.management.commands import create_user as command
from scheduler_admin.accounts.models import AuditEvent, Tenant, User
from scheduler_admin.accounts.services.tenants import create_tenant

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def run(*arguments: str) -> str:
    """What a command prints."""
    printed = io.StringIO()
    call_command(*arguments, stdout=printed)
    return printed.getvalue().strip()


def typed(monkeypatch: pytest.MonkeyPatch, *passwords: str) -> None:
    """Somebody types these at the terminal."""
    given = iter(passwords)
    monkeypatch.setattr(command, "getpass", lambda _prompt: next(given))


def test_a_tenant_is_created_with_what_is_its_own() -> None:
    """On record, as the command line's."""
    said = run("create_tenant", "red", "--namespace=red", "--namespace=dev", "--subtree=root.red", "--reason=new team")
    assert said == "Tenant red was created."
    tenant = Tenant.objects.get()
    assert (tenant.name, tenant.namespaces, tenant.subtrees) == ("red", ["dev", "red"], ["root.red"])
    event = AuditEvent.objects.get(verb="tenant.create")
    assert (event.actor_name, event.reason) == ("command line", "new team")


def test_a_user_is_created_with_a_password_from_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line without its end; with a role, tenants and an address."""
    for name in ("red", "blue"):
        create_tenant(name=name)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
    options = ("--role=operator", "--tenant=red", "--edits=blue", "--email=alice@example.com", "--password-stdin")
    assert run("create_user", "alice", *options) == "User alice was created."
    alice = User.objects.get()
    assert (alice.role, alice.email, alice.check_password(PASSWORD)) == ("operator", "alice@example.com", True)
    assert dict(alice.memberships.values_list("tenant__name", "role")) == {"red": "tenant", "blue": "editor"}


def test_the_password_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that differ make nobody."""
    typed(monkeypatch, PASSWORD, PASSWORD)
    run("create_user", "alice")
    assert User.objects.get().check_password(PASSWORD)
    typed(monkeypatch, PASSWORD, "another one")
    with pytest.raises(CommandError, match="do not match"):
        run("create_user", "bob")
    assert User.objects.count() == 1


def test_a_user_without_a_password_signs_in_by_token_only() -> None:
    """Where that is what is asked for."""
    run("create_user", "alice", "--no-password")
    assert not User.objects.get().has_usable_password()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create_tenant", "a/b"), "cannot contain a slash"),
        (("create_tenant", "red", "--namespace=Red"), "Red is not a valid namespace name."),
        (("create_tenant", "red", "--subtree=root..a"), "is not a valid queue path."),
        (("create_user", "alice", "--no-password", "--tenant=green"), "Tenant green does not exist."),
        (("create_user", "alice smith", "--no-password"), "valid username"),
        (("create_user", "alice", "--no-password", "--role=king"), "king"),
        (("create_user", "alice", "--no-password", "--password-stdin"), "not allowed"),
    ],
)
def test_the_commands_say_what_is_wrong(arguments: tuple[str, ...], said: str) -> None:
    """In a sentence, and nothing is stored."""
    with pytest.raises(CommandError, match=said):
        run(*arguments)
    assert not (Tenant.objects.exists())
    assert not (User.objects.exists())


def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Django's validators; the password is not in the sentence."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("12345\n"))
    with pytest.raises(CommandError, match="too short") as error:
        run("create_user", "alice", "--password-stdin")
    assert "12345" not in str(error.value)
