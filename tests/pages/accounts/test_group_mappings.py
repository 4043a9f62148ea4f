"""The pages of group mappings: what groups of identity providers are here, and that an admin is always left."""

from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.doors import add_mapping, admit
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, User
from tests.pages.accounts.people import recorded, red, seen, send, shown, text_of, wrong

pytestmark = pytest.mark.django_db
LIST, ADD = "/people/group-mappings/", "/people/group-mappings/add/"


def mapped(role: str = "editor", tenant: Any = None, group: str = "leads") -> GroupMapping:
    """A mapping."""
    return add_mapping(group=group, role=role, tenant=tenant, actor=None, reason="why")


def page_of(mapping: GroupMapping) -> str:
    return f"{LIST}{mapping.pk}/"


def from_provider(name: str, *groups: str) -> User:
    """Somebody who signed in at the provider."""
    return admit(identity=f"oidc https://id.example.com {name}", name=name, groups=groups)


class TestTheList:
    """It says what each group is, and how many people have it."""

    def test_it_says_what_each_group_is(self, ada: Client, audrey: Client) -> None:
        """To those who change it, and to those who read it."""
        mapped("editor", red())
        mapped("auditor", group="watchers")
        from_provider("paula", "leads")
        assert "leads Editor red 1 Delete" in shown(ada, LIST)
        assert "watchers Auditor – 0" in shown(audrey, LIST)
        assert "Delete" not in shown(audrey, LIST)

    def test_before_there_is_one_it_says_what_to_do(self, ada: Client, settings: Any) -> None:
        """Which depends on whether anybody could come in that way."""
        assert "To use single sign-on, set OIDC_ISSUER and the related settings" in shown(ada, LIST)
        settings.OIDC_ISSUER = "https://id.example.com"
        text = shown(ada, LIST)
        assert "Roles for groups from https://id.example.com" in text
        assert "Map a group to a role or a tenant. Its members can then sign in." in text

    def test_auditors_change_nothing(self, audrey: Client) -> None:
        """Nor do they find where."""
        one = mapped("auditor")
        assert [audrey.get(each).status_code for each in (ADD, page_of(one), f"{page_of(one)}delete/")] == [403] * 3


class TestAdding:
    """A group becomes something here, on record."""

    def test_a_group_becomes_an_editor(self, ada: Client) -> None:
        """Also those who are signed in already."""
        mapped("auditor", group="watchers")
        paula = from_provider("paula", "watchers", "leads")
        tenant = red()
        form = {"group": " leads ", "role": "editor", "tenant": "red", "reason": "their own"}
        assert ada.post(ADD, form)["Location"] == LIST
        assert str(GroupMapping.objects.get(tenant=tenant)) == "leads: editor red"
        assert paula.memberships.get().role == "editor"
        assert AuditEvent.objects.get(verb="mapping.add", reason="their own").actor_name == "ada"

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"role": "editor", "tenant": ""}, "tenant"),
            ({"role": "admin", "tenant": "red"}, "tenant"),
            ({"role": "king", "tenant": ""}, "role"),
            ({"role": "editor", "tenant": "nobody"}, "tenant"),
            ({"group": "  "}, "group"),
            ({"reason": ""}, "reason"),
        ],
    )
    def test_a_mapping_that_means_nothing_is_refused(self, ada: Client, given: dict[str, str], field: str) -> None:
        """At its field, with what was typed still there."""
        red()
        form = {"group": "leads", "role": "tenant", "tenant": "red", "reason": "why", **given}
        response = ada.post(ADD, form)
        assert (response.status_code, GroupMapping.objects.count()) == (422, 0)
        assert wrong(response, field)
        assert f'name="group" value="{form["group"]}"' in response.content.decode()

    def test_the_same_twice_is_refused(self, ada: Client) -> None:
        """Of a tenant, and of the whole site."""
        red()
        for form in ({"role": "tenant", "tenant": "red"}, {"role": "auditor", "tenant": ""}):
            sent = {"group": "leads", "reason": "why", **form}
            assert [ada.post(ADD, sent).status_code for _ in range(2)] == [302, 422]


class TestChanging:
    """What comes with a mapping changes at once, and never leaves the site without an admin."""

    def test_both_groups_are_looked_at_again(self, ada: Client) -> None:
        """The one that loses it, and the one that gets it."""
        one = mapped("operator")
        old, new = from_provider("paula", "leads"), from_provider("quinn", "leads", "others")
        assert send(ada, page_of(one), group="others", role="auditor", tenant="")["Location"] == LIST
        old.refresh_from_db()
        new.refresh_from_db()
        assert (old.role, new.role) == ("tenant", "auditor")
        assert recorded("mapping.change").details == {"group": ["leads", "others"], "role": ["operator", "auditor"]}

    def test_who_was_overtaken_is_told(self, ada: Client) -> None:
        """Nothing is lost."""
        one = mapped("operator")
        tag = seen(ada, page_of(one))
        send(ada, page_of(one), group="others", role="operator", tenant="")
        late = {"group": "mine", "role": "auditor", "tenant": "", "seen": tag, "reason": "late"}
        response = ada.post(page_of(one), late)
        assert (response.status_code, "Someone else changed this" in text_of(response)) == (409, True)
        assert 'value="mine"' in response.content.decode()
        assert GroupMapping.objects.get().group == "others"

    @pytest.mark.parametrize(("group", "role"), [("others", "admin"), ("leads", "operator")])
    def test_the_last_admin_stays_one(self, client: Client, group: str, role: str) -> None:
        """The field that would take it away says so, and nothing changed."""
        one = mapped("admin")
        paula = from_provider("paula", "leads")
        client.force_login(paula)
        response = send(client, page_of(one), group=group, role=role, tenant="")
        assert wrong(response, "group" if group != "leads" else "role") == (
            "Without this mapping, no active admin would be left. Make another user an admin first."
        )
        paula.refresh_from_db()
        assert (paula.role, GroupMapping.objects.get().group) == ("admin", "leads")


class TestDeleting:
    """What comes with a mapping alone is gone with it."""

    def test_it_says_for_how_many(self, ada: Client) -> None:
        """And then it is so."""
        one = mapped("operator")
        paula = from_provider("paula", "leads")
        page = f"{page_of(one)}delete/"
        assert "1 user in the group loses what comes with this mapping alone, at once." in shown(ada, page)
        assert send(ada, page)["Location"] == LIST
        paula.refresh_from_db()
        assert (paula.role, GroupMapping.objects.exists()) == ("tenant", False)
        assert recorded("mapping.remove").reason == "because"

    def test_the_last_admin_stays_one(self, client: Client) -> None:
        """Where all admins are admins by this mapping alone."""
        one = mapped("admin")
        paula = from_provider("paula", "leads")
        client.force_login(paula)
        response = send(client, f"{page_of(one)}delete/")
        assert "Without this mapping, no active admin would be left." in text_of(response)
        paula.refresh_from_db()
        assert (response.status_code, paula.role, GroupMapping.objects.count()) == (422, "admin", 1)
