"""Writes on accounts."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from scheduler_admin.accounts.models import ApiToken, AuditEvent, Tenant, User
from scheduler_admin.accounts.selectors import usable_token
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token, revoke_token
from scheduler_admin.accounts.services.users import create_user

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return create_user(username="alice", password="correct horse battery")


def test_only_a_tokens_digest_is_stored(alice: User) -> None:
    """No column of a token's row holds more of it than its prefix."""
    token, plaintext = create_token(user=alice, name="ci")
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert plaintext.startswith("sa_")
    assert row["prefix"] == plaintext[:12]
    assert plaintext.removeprefix(row["prefix"]) not in str(row)
    assert len(row["digest"]) == 64


def test_no_two_tokens_are_alike(alice: User) -> None:
    """Two tokens of the same name are two tokens, each found by its own plaintext."""
    made = [create_token(user=alice, name="ci") for _ in range(2)]
    assert [usable_token(plaintext, now=NOW) for _token, plaintext in made] == [token for token, _plaintext in made]


def test_a_token_cannot_begin_expired(alice: User) -> None:
    """An expiry in the past, or beyond all calendars, is refused; nothing is stored, nor written to the audit log."""
    with pytest.raises(ValidationError, match="in the past"):
        create_token(user=alice, name="ci", lifetime=timedelta())
    with pytest.raises(ValidationError, match="too long"):
        create_token(user=alice, name="ci", lifetime=timedelta.max)
    assert not ApiToken.objects.exists()
    assert not AuditEvent.objects.filter(verb="token.create").exists()


def test_a_token_needs_a_name(alice: User) -> None:
    """A token that nobody could tell from another is refused."""
    with pytest.raises(ValidationError, match="name"):
        create_token(user=alice, name="")


def test_a_token_expires_unless_told_otherwise(alice: User) -> None:
    """A new token is good for 90 days; one that never expires has to be asked for."""
    with time_machine.travel(NOW, tick=False):
        usual, _plaintext = create_token(user=alice, name="ci")
        immortal, _plaintext = create_token(user=alice, name="old ci", lifetime=None)
    assert (usual.expires_at, immortal.expires_at) == (NOW + timedelta(days=90), None)


def test_a_token_only_reads_unless_told_otherwise(alice: User) -> None:
    """The least is the default, and the audit log knows what a token is good for."""
    least, _plaintext = create_token(user=alice, name="ci")
    most, _plaintext = create_token(user=alice, name="cd", scopes=["tree:write", "tree:write"], subtree="root.red")
    assert (least.scopes, least.subtree) == (["read"], "")
    assert (most.scopes, most.subtree) == (["tree:write"], "root.red")
    details = AuditEvent.objects.get(verb="token.create", details__name="cd").details
    assert (details["scopes"], details["subtree"]) == (["tree:write"], "root.red")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scopes": ["king"]}, "Unknown scope king"),
        ({"scopes": []}, "blank"),
        ({"subtree": "root red"}, "valid queue path"),
        ({"subtree": "root."}, "valid queue path"),
        ({"subtree": "root.red\n"}, "valid queue path"),
    ],
)
def test_a_token_has_scopes_and_a_subtree_that_can_be(alice: User, wrong: dict[str, Any], said: str) -> None:
    """Unknown scopes, none at all, and what is no path of a queue are refused."""
    with pytest.raises(ValidationError, match=said):
        create_token(user=alice, name="ci", **wrong)


def test_tokens_are_made_and_revoked_on_record(alice: User) -> None:
    """The audit log says who made and revoked which token, and never the token."""
    token, plaintext = create_token(user=alice, name="ci", actor=alice)
    revoke_token(token=token, actor=alice, reason="leaked")
    events = AuditEvent.objects.filter(verb__startswith="token.").order_by("pk")
    assert [(event.verb, event.actor_name, event.reason) for event in events] == [
        ("token.create", "alice", ""),
        ("token.revoke", "alice", "leaked"),
    ]
    assert plaintext.removeprefix(token.prefix) not in str(list(events.values()))
    assert usable_token(plaintext, now=NOW) is None


def test_a_weak_password_is_refused() -> None:
    """Passwords pass Django's validators or there is no user."""
    with pytest.raises(ValidationError):
        create_user(username="bob", password="12345")
    assert not User.objects.exists()


def test_a_user_without_a_password_cannot_use_one() -> None:
    """A machine's account signs in by token only."""
    assert not create_user(username="ci").has_usable_password()


def test_a_user_has_a_role_and_tenants() -> None:
    """A user begins as a tenant's member, sees its tenants, and an unknown role is refused."""
    tenant = create_tenant(name="red", namespaces=["b", "a", "a"], subtrees=["root.red"])
    bob = create_user(username="bob", tenants=[tenant])
    assert (bob.role, list(bob.tenants.all()), tenant.namespaces) == (User.Role.TENANT, [tenant], ["a", "b"])
    with pytest.raises(ValidationError, match="role"):
        create_user(username="eve", role="king")


def test_a_password_is_never_on_record(alice: User) -> None:
    """The audit log knows that a user was made, not with which password."""
    event = AuditEvent.objects.get(verb="user.create", target="alice")
    assert "horse" not in str(event.__dict__)
    assert event.details == {"role": "tenant", "tenants": {}}


def test_a_tenants_name_is_its_own() -> None:
    """Two tenants of one name would be one to people: refused."""
    create_tenant(name="red")
    with pytest.raises(ValidationError, match="name"):
        create_tenant(name="red")
    assert Tenant.objects.count() == 1


def test_a_record_keeps_the_name_of_who_is_gone(alice: User) -> None:
    """The audit log still says who did something after that user was deleted; without a user, the command line did."""
    event = record(actor=alice, verb="test", target="x", reason="why", details={"n": 1})
    alice.delete()
    event.refresh_from_db()
    assert (event.actor, event.actor_name, event.details) == (None, "alice", {"n": 1})
    assert record(actor=None, verb="test", target="x").actor_name == "command line"


def test_the_command_prints_a_token_that_works(alice: User) -> None:
    """create_token prints one line, the token, which expires after the days given."""
    printed = StringIO()
    with time_machine.travel(NOW, tick=False):
        call_command("create_token", "alice", name="ci", days=30, stdout=printed)
    (line,) = printed.getvalue().splitlines()
    assert usable_token(line, now=NOW + timedelta(days=30) - timedelta(seconds=1)) is not None
    assert usable_token(line, now=NOW + timedelta(days=30)) is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody", "--name=ci"), "nobody"),
        (("alice", "--name=ci", "--days=0"), "in the past"),
        (("alice", "--name=ci", "--days=999999999"), "too long"),
        (("alice", "--name=ci", "--days=9999999999"), "too long"),
        (("alice", "--name=ci", "--scope=king"), "king"),
        (("alice", "--name=ci", "--days=1", "--never-expires"), "not allowed"),
    ],
)
def test_the_command_says_what_is_wrong(alice: User, arguments: tuple[str, ...], said: str) -> None:
    """A user who isn't there, an expiry that can't be, or a scope that isn't there is said in a sentence."""
    with pytest.raises(CommandError, match=said):
        call_command("create_token", *arguments)


def test_the_commands_list_and_revoke_tokens(alice: User) -> None:
    """list_tokens shows what each token is good for and nothing secret; revoke_token takes what it shows, or all."""
    with time_machine.travel(NOW, tick=False):
        first, one = create_token(user=alice, name="ci", scopes=["tree:plan"], subtree="root.red")
        second, other = create_token(user=alice, name="old ci", lifetime=None)
    printed = StringIO()
    call_command("list_tokens", "alice", stdout=printed)
    head, *lines = printed.getvalue().splitlines()
    assert head.split() == ["TOKEN", "USER", "KIND", "NAME", "SCOPES", "SUBTREE", "EXPIRES", "LAST", "USED"]
    assert lines[0].split() == [
        first.prefix,
        "alice",
        "person",
        "ci",
        "tree:plan",
        "root.red",
        "2026-04-05",
        "12:00",
        "never",
    ]
    assert lines[1].split() == [second.prefix, "alice", "person", "old", "ci", "read", "-", "never", "never"]
    call_command("revoke_token", first.prefix, reason="moved", stdout=StringIO())
    call_command("revoke_token", other, stdout=StringIO())
    assert not ApiToken.objects.exists()
    assert AuditEvent.objects.filter(verb="token.revoke", reason="moved", details__prefix=first.prefix).exists()
    with pytest.raises(CommandError, match=f"No token starts with {first.prefix}") as failed:
        call_command("revoke_token", one)
    assert one not in str(failed.value)
