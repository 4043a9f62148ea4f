"""Writes on people and tenants: checked in full, on record, and never such that nobody is left to administer."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db.models import ProtectedError

from scheduler_admin.accounts.doors import add_mapping, admit
from scheduler_admin.accounts.models import ApiToken, AuditEvent, GroupMapping, Membership, Tenant, User
from scheduler_admin.accounts.services.tenants import change_tenant, create_tenant, delete_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import change_user, create_user, delete_user, service_account
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.models import Draft
from tests.api import builders

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def person(name: str = "alice", **facts: Any) -> User:
    """Somebody with a password."""
    return create_user(username=name, password=PASSWORD, **facts)


def admin(name: str = "ada") -> User:
    """An admin with a password."""
    return person(name, role=User.Role.ADMIN)


def outsider(*groups: str) -> User:
    """Somebody who came in by another door."""
    return admit(identity="oidc provider one", name="oscar", groups=groups)


def change(user: User, **facts: Any) -> User:
    """Change a user by the command line, for a reason."""
    return change_user(user=user, **{"actor": None, "reason": "a test", **facts})


def last(verb: str) -> AuditEvent:
    """The newest event of a verb."""
    return AuditEvent.objects.filter(verb=verb).latest("pk")


def wrong(error: pytest.ExceptionInfo[ValidationError]) -> list[str]:
    """The fields that are wrong."""
    return sorted(error.value.message_dict)


class TestTenants:
    """Namespaces and subtrees that belong together."""

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"name": "a/b"}, "name"),
            ({"name": ".."}, "name"),
            ({"name": ""}, "name"),
            ({"namespaces": ["Red"]}, "namespaces"),
            ({"namespaces": ["r" * 64]}, "namespaces"),
            ({"namespaces": ["red\n"]}, "namespaces"),
            ({"subtrees": ["root red"]}, "subtrees"),
            ({"subtrees": ["root."]}, "subtrees"),
            ({"subtrees": ["r" * 501]}, "subtrees"),
        ],
    )
    def test_what_cannot_be_is_refused_in_a_new_one_and_in_a_change(self, facts: dict[str, Any], field: str) -> None:
        """By field; neither stores anything."""
        red = create_tenant(name="red")
        with pytest.raises(ValidationError) as creation:
            create_tenant(**{"name": "blue", **facts})
        with pytest.raises(ValidationError) as changing:
            change_tenant(tenant=red, actor=None, reason="a test", **facts)
        assert wrong(creation) == wrong(changing) == [field]
        assert list(Tenant.objects.values_list("name", "namespaces", "subtrees")) == [("red", [], [])]

    def test_everything_that_is_wrong_is_told_at_once(self) -> None:
        """Not one thing after the other."""
        with pytest.raises(ValidationError) as error:
            create_tenant(name="a/b", namespaces=["Red"], subtrees=[".."])
        assert wrong(error) == ["name", "namespaces", "subtrees"]

    def test_a_change_is_on_record_with_what_was_before(self) -> None:
        """What is not given stays; what changes nothing is no event."""
        ada, red = admin(), create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])
        changed = change_tenant(tenant=red, actor=ada, reason=" renamed ", name="crimson", namespaces=["red", "a"])
        assert (changed.name, changed.namespaces, changed.subtrees) == ("crimson", ["a", "red"], ["root.red"])
        event = last("tenant.change")
        assert (event.actor, event.target, event.reason) == (ada, "red", "renamed")
        assert event.details == {"name": ["red", "crimson"], "namespaces": [["red"], ["a", "red"]]}
        change_tenant(tenant=red, actor=ada, reason="again", name="crimson")
        assert AuditEvent.objects.filter(verb="tenant.change").count() == 1

    def test_one_that_is_deleted_takes_along_what_is_its_own(self) -> None:
        """Memberships and group mappings go, people stay; the audit log says who was a member."""
        red = create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])
        erin = person("erin", edits=[red])
        add_mapping(group="red-team", role="tenant", tenant=red, actor=None, reason="a test")
        delete_tenant(tenant=red, actor=None, reason="left")
        assert not (Tenant.objects.exists())
        assert not (Membership.objects.exists())
        assert not (GroupMapping.objects.exists())
        assert User.objects.filter(pk=erin.pk).exists()
        event = last("tenant.delete")
        assert (event.target, event.reason) == ("red", "left")
        assert event.details == {"namespaces": ["red"], "subtrees": ["root.red"], "members": {"erin": "editor"}}

    def test_nothing_is_changed_or_deleted_without_a_reason(self) -> None:
        """Others will read it."""
        red, alice = create_tenant(name="red"), person()
        for write in (
            lambda: change_tenant(tenant=red, actor=None, reason=" ", name="blue"),
            lambda: delete_tenant(tenant=red, actor=None, reason=""),
            lambda: change(alice, reason=" ", email="alice@example.com"),
            lambda: delete_user(user=alice, actor=None, reason=""),
        ):
            with pytest.raises(ValidationError) as error:
                write()  # type: ignore[no-untyped-call]
            assert wrong(error) == ["reason"]


class TestUsers:
    """People, and what they are here."""

    def test_a_change_is_on_record_and_never_the_password(self) -> None:
        """Before and after; that there is another password, and not which."""
        ada, red, blue = admin(), create_tenant(name="red"), create_tenant(name="blue")
        alice = person(tenants=[red])
        changed = change(
            alice,
            actor=ada,
            role=User.Role.AUDITOR,
            email="alice@example.com",
            password="staple battery horse",
            memberships={blue: "editor"},
        )
        assert (changed.role, changed.email) == ("auditor", "alice@example.com")
        assert changed.check_password("staple battery horse")
        assert list(changed.memberships.values_list("tenant__name", "role")) == [("blue", "editor")]
        event = last("user.change")
        assert (event.actor, event.target, event.reason) == (ada, "alice", "a test")
        assert event.details == {
            "role": ["tenant", "auditor"],
            "email": ["", "alice@example.com"],
            "tenants": [{"red": "tenant"}, {"blue": "editor"}],
            "password": "changed",
        }
        assert "staple" not in str(AuditEvent.objects.values_list())

    def test_what_is_not_given_stays(self) -> None:
        """And what changes nothing is no event."""
        alice = person(tenants=[create_tenant(name="red")], email="alice@example.com")
        change(alice, role=User.Role.TENANT)
        assert not AuditEvent.objects.filter(verb="user.change").exists()
        alice.refresh_from_db()
        assert (alice.email, alice.memberships.count(), alice.check_password(PASSWORD)) == (
            "alice@example.com",
            1,
            True,
        )

    @pytest.mark.parametrize(
        ("facts", "field"),
        [({"role": "king"}, "role"), ({"email": "alice"}, "email"), ({"password": "12345"}, "password")],
    )
    def test_what_cannot_be_is_refused(self, facts: dict[str, Any], field: str) -> None:
        """By field; nothing is changed, nor another user created."""
        alice = person()
        with pytest.raises(ValidationError) as changing:
            change(alice, **facts)
        with pytest.raises(ValidationError) as creation:
            create_user(**{"username": "bob", **facts})
        assert wrong(changing) == wrong(creation) == [field]
        alice.refresh_from_db()
        assert (alice.role, alice.email, alice.check_password(PASSWORD)) == ("tenant", "", True)
        assert User.objects.count() == 1

    def test_a_deactivated_user_signs_in_no_longer(self) -> None:
        """Their tokens do nothing, and all that they had is there when they come back."""
        alice = person(tenants=[create_tenant(name="red")])
        create_token(user=alice, name="ci")
        assert not change(alice, active=False).is_active
        assert last("user.change").details == {"active": [True, False]}
        assert change(alice, active=True).is_active
        assert (alice.memberships.count(), ApiToken.objects.count()) == (1, 1)

    def test_what_a_deleted_user_did_keeps_their_name(self) -> None:
        """Tokens and memberships go; a draft stays, with its author's name."""
        alice = person(edits=[create_tenant(name="red")])
        create_token(user=alice, name="ci")
        hierarchy = builders.cluster().hierarchy
        assert hierarchy is not None
        start(hierarchy=hierarchy, name="more", author=alice)
        delete_user(user=alice, actor=None, reason="left")
        draft = Draft.objects.get()
        assert (draft.author, draft.author_name, ApiToken.objects.count()) == (None, "alice", 0)
        event = last("user.delete")
        assert (event.target, event.reason) == ("alice", "left")
        assert event.details == {"role": "tenant", "active": True, "email": "", "tenants": {"red": "editor"}}

    def test_who_is_needed_is_deactivated_and_not_deleted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A sentence says so, and nothing is on record."""
        alice = person()

        def protected(user: User) -> None:
            raise ProtectedError("kept", {user})

        monkeypatch.setattr(User, "delete", protected)
        with pytest.raises(ValidationError, match="Deactivate the account instead"):
            delete_user(user=alice, actor=None, reason="left")
        assert not AuditEvent.objects.filter(verb="user.delete").exists()
        assert not change(alice, active=False).is_active


class TestAdmins:
    """Somebody can always administer the site."""

    def test_nobody_demotes_locks_or_deletes_themself(self) -> None:
        """Another admin does it."""
        ada, eve = admin(), admin("eve")
        for facts, field in (({"role": User.Role.OPERATOR}, "role"), ({"active": False}, "active")):
            with pytest.raises(ValidationError) as error:
                change(ada, actor=ada, **facts)
            assert wrong(error) == [field]
        with pytest.raises(ValidationError, match="own account"):
            delete_user(user=ada, actor=ada, reason="left")
        assert change(ada, actor=ada, email="ada@example.com", role=User.Role.ADMIN).email == "ada@example.com"
        assert change(ada, actor=eve, role=User.Role.OPERATOR).role == "operator"

    def test_the_last_active_admin_stays(self) -> None:
        """By whatever change, from the command line too; a service account and who is locked out are no second one."""
        ada = admin()
        service_account(name="ci", role="admin")
        change(admin("eve"), active=False)
        for field, value in {"role": User.Role.TENANT, "active": False}.items():
            with pytest.raises(ValidationError, match="last active admin") as error:
                change(ada, **{field: value})
            assert wrong(error) == [field]
        with pytest.raises(ValidationError, match="last active admin"):
            delete_user(user=ada, actor=None, reason="left")
        admin("fay")
        delete_user(user=ada, actor=None, reason="left")
        assert not User.objects.filter(username="ada").exists()

    def test_one_whom_createsuperuser_made_is_an_admin(self) -> None:
        """Whatever role the row says; another role takes away what made them one."""
        root = User.objects.create_superuser("root", password=PASSWORD)
        assert root.site_role == "admin"
        with pytest.raises(ValidationError, match="last active admin"):
            change(root, role=User.Role.TENANT)
        admin()
        changed = change(root, role=User.Role.TENANT)
        assert (changed.site_role, changed.is_superuser, changed.is_staff) == ("tenant", False, False)
        assert last("user.change").details == {"role": ["admin", "tenant"]}

    def test_others_come_and_go(self) -> None:
        """The guard is for admins alone."""
        admin()
        alice = person()
        assert not change(alice, active=False).is_active
        delete_user(user=alice, actor=None, reason="left")


class TestOtherDoors:
    """What follows from groups is not set by hand."""

    def test_role_memberships_and_password_of_who_signs_in_elsewhere_cannot_be_set(self) -> None:
        """What they are already can be sent back; they can be deactivated, and given another address."""
        red = create_tenant(name="red")
        add_mapping(group="red-team", role="tenant", tenant=red, actor=None, reason="a test")
        oscar = outsider("red-team")
        with pytest.raises(ValidationError) as error:
            change(oscar, role=User.Role.ADMIN, memberships={red: "editor"}, password=PASSWORD)
        assert wrong(error) == ["memberships", "password", "role"]
        same = change(oscar, role=User.Role.TENANT, memberships={red: "tenant"}, email="o@example.com", active=False)
        assert (same.role, same.is_active, same.email) == ("tenant", False, "o@example.com")

    def test_a_service_account_is_given_no_password(self) -> None:
        """It has tokens, and no other way in."""
        with pytest.raises(ValidationError) as error:
            change(service_account(name="ci", role="auditor"), password=PASSWORD)
        assert wrong(error) == ["password"]
