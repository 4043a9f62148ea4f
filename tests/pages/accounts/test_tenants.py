"""The pages of tenants: what belongs to a tenant, who its members are, and what goes with it."""

import pytest
from django.test import Client

from scheduler_admin.accounts.doors import add_mapping
from scheduler_admin.accounts.models import AuditEvent, Membership, Tenant, User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from tests.pages.accounts.people import person, recorded, red, seen, send, shown, text_of, wrong

pytestmark = pytest.mark.django_db
LIST, ADD = "/people/tenants/", "/people/tenants/add/"
CHANGED = {"name": "red", "namespaces": "red\n red-dev \n\nred", "subtrees": "root.red"}


def page_of(tenant: Tenant) -> str:
    return f"{LIST}{tenant.pk}/"


class TestTheList:
    """It says what each tenant has."""

    def test_it_says_what_belongs_to_whom(self, ada: Client) -> None:
        """Namespaces, queues, and how many people."""
        person("bob", tenants=[red()])
        assert "red red root.red 1" in shown(ada, LIST)

    def test_before_there_is_one_it_says_what_to_do(self, ada: Client, audrey: Client) -> None:
        """Those who may do it."""
        what = "Add a tenant with its namespaces and queues, then add users to it."
        assert f"No tenants yet. Users without a role see nothing until they belong to a tenant. {what}" in shown(
            ada, LIST
        )
        assert what not in shown(audrey, LIST)

    def test_it_is_searched_by_its_address(self, ada: Client) -> None:
        """By a part of the name."""
        red()
        assert "No tenant matches. Clear the search to see all tenants." in shown(ada, f"{LIST}?q=blue")
        assert "1 in total" in shown(ada, f"{LIST}?q=RE")


class TestCreating:
    """A tenant with its namespaces and queues."""

    def test_one_per_line(self, ada: Client) -> None:
        """Blanks and empty lines do not count."""
        response = ada.post(ADD, {**CHANGED, "reason": "new team"})
        made = Tenant.objects.get()
        assert response["Location"] == page_of(made)
        assert (made.name, made.namespaces, made.subtrees) == ("red", ["red", "red-dev"], ["root.red"])
        assert recorded("tenant.create").reason == "new team"

    @pytest.mark.parametrize(
        ("given", "field", "said"),
        [
            ({"name": ""}, "name", "This field is required."),
            ({"name": "a/b"}, "name", "A tenant name cannot contain a slash"),
            ({"name": "red"}, "name", "already exists"),
            ({"namespaces": "Not A Name"}, "namespaces", "Not A Name is not a valid namespace name."),
            ({"subtrees": "root..x"}, "subtrees", "root..x is not a valid queue path."),
            ({"reason": " "}, "reason", "Enter a reason."),
        ],
    )
    def test_what_can_not_be_is_said_at_its_field(
        self, ada: Client, given: dict[str, str], field: str, said: str
    ) -> None:
        """With what was typed still there."""
        red()
        response = ada.post(ADD, {"name": "blue", "namespaces": "blue", "reason": "typed reason", **given})
        assert (response.status_code, Tenant.objects.count()) == (422, 1)
        assert said in wrong(response, field)
        assert field == "reason" or "typed reason" in response.content.decode()


class TestOneTenant:
    """Its page leads to its people and queues, and changes what belongs to it."""

    def test_it_leads_to_people_and_queues(self, ada: Client, demo: Cluster) -> None:
        """A queue that no published tree has is marked."""
        red = Tenant.objects.create(name="red", namespaces=["red"], subtrees=["root.tenant-1", "root.gone"])
        bob = person("bob", edits=[red])
        add_mapping(group="leads", role="editor", tenant=red, actor=None, reason="why")
        html = ada.get(page_of(red)).content.decode()
        for address in (f"/people/users/{bob.pk}/", f"/clusters/{demo.name}/queues/root.tenant-1/", "?namespace=red"):
            assert f'{address}"' in html, address
        add = f"/people/users/add/?tenant={red.name}"
        assert f'href="{add}"' in html
        assert 'name="tenants" value="red" checked' in ada.get(add).content.decode()
        text = shown(ada, page_of(red))
        assert "root.gone not in a published tree" in text
        assert ("bob Editor" in text, "Groups that are mapped here: leads (Editor)" in text) == (True, True)

    def test_a_change_takes_effect_at_once(self, ada: Client) -> None:
        """The audit log has it before and after."""
        tenant = red()
        bob = person("bob", tenants=[tenant])
        response = send(ada, page_of(tenant), name="crimson", namespaces="red\nblue", subtrees="")
        assert response["Location"] == page_of(tenant)
        assert scope_of(bob, "view").namespaces == {"red", "blue"}
        assert recorded("tenant.change").details == {
            "name": ["red", "crimson"],
            "namespaces": [["red"], ["blue", "red"]],
            "subtrees": [["root.red"], []],
        }

    def test_who_was_overtaken_is_told_and_nothing_is_lost(self, ada: Client) -> None:
        """Sent once more, it is meant."""
        tenant = red()
        tag = seen(ada, page_of(tenant))
        send(ada, page_of(tenant), name="crimson")
        response = ada.post(page_of(tenant), {**CHANGED, "name": "scarlet", "seen": tag, "reason": "late"})
        assert response.status_code == 409
        text = text_of(response)
        assert ("Someone else changed this in the meantime." in text, "crimson" in text) == (True, True)
        assert 'value="scarlet"' in response.content.decode()
        assert Tenant.objects.get().name == "crimson"

    def test_auditors_read_and_change_nothing(self, audrey: Client) -> None:
        """They find no form."""
        tenant = red()
        html = audrey.get(page_of(tenant)).content.decode()
        assert ("root.red" in html, 'name="reason"' in html) == (True, False)
        assert audrey.post(page_of(tenant), {**CHANGED, "reason": "why"}).status_code == 403
        assert audrey.get(f"{page_of(tenant)}delete/").status_code == 403


class TestMembers:
    """An existing user becomes a member, and keeps what they are elsewhere."""

    def test_a_user_becomes_an_editor(self, ada: Client) -> None:
        """Or another role than before; on record."""
        tenant = red()
        bob = person("bob", tenants=[create_tenant(name="blue")])
        add = f"{page_of(tenant)}members/add/"
        assert f'href="{add}"' in ada.get(page_of(tenant)).content.decode()
        given = {"user": "bob", "role": "editor", "reason": "joins"}
        assert ada.post(add, given)["Location"] == page_of(tenant)
        assert set(bob.memberships.values_list("tenant__name", "role")) == {("blue", "tenant"), ("red", "editor")}
        ada.post(add, given | {"role": "tenant"})
        assert bob.memberships.get(tenant=tenant).role == "tenant"
        assert AuditEvent.objects.filter(verb="user.change", reason="joins").count() == 2

    def test_what_can_not_be_is_said_at_its_field(self, ada: Client) -> None:
        """Nobody of that name, no such role, no reason, and somebody whose tenants follow from groups."""
        add = f"{page_of(red())}members/add/"
        User(username="paula", identity="oidc https://id.example.com 7").save()
        for given, field in (
            ({"user": "nobody"}, "user"),
            ({"user": "paula"}, "user"),
            ({"role": "admin"}, "role"),
            ({"reason": " "}, "reason"),
        ):
            response = ada.post(add, {"user": "ada", "role": "tenant", "reason": "joins", **given})
            assert (response.status_code, bool(wrong(response, field))) == (422, True), given
        assert not Membership.objects.exists()


class TestDeleting:
    """The page says in numbers what goes with a tenant before it does."""

    def test_it_says_what_goes_with_it(self, ada: Client) -> None:
        """Memberships, mappings and channels; the people stay."""
        tenant = red()
        person("bob", tenants=[tenant])
        person("eve", edits=[tenant])
        add_mapping(group="leads", role="editor", tenant=tenant, actor=None, reason="why")
        text = shown(ada, f"{page_of(tenant)}delete/")
        assert "2 memberships. The users no longer see what belongs to the tenant. 1 group mapping 0 " in text
        assert send(ada, f"{page_of(tenant)}delete/")["Location"] == LIST
        assert (Tenant.objects.count(), Membership.objects.count()) == (0, 0)
        assert recorded("tenant.delete").details["members"] == {"bob": "tenant", "eve": "editor"}

    def test_what_came_meanwhile_is_shown_first(self, ada: Client) -> None:
        """Somebody who became a member since the page was opened."""
        tenant = red()
        tag = seen(ada, f"{page_of(tenant)}delete/")
        person("bob", tenants=[tenant])
        response = ada.post(f"{page_of(tenant)}delete/", {"seen": tag, "reason": "left"})
        assert (response.status_code, "1 membership." in text_of(response)) == (409, True)
        assert Tenant.objects.exists()

    def test_everything_that_goes_is_counted(self) -> None:
        """Whoever adds something that goes with a tenant adds it to the page."""
        goes = {
            each.related_model.__name__
            for each in Tenant._meta.related_objects
            if each.on_delete is not None and each.on_delete.__name__ == "CASCADE"
        }
        assert goes == {"Membership", "GroupMapping", "Channel"}
