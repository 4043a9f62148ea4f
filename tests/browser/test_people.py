"""The pages of people and access in a real browser: nothing for axe to find, and what is shown once can be copied."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.accounts.doors import add_mapping
from scheduler_admin.accounts.models import ApiToken, Tenant, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import change_user, create_user
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def numbers(live_server: Any) -> dict[str, int]:
    """Somebody of every kind, with tokens, a mapping, and changes that are on record."""
    ada = rows.user("ada")
    vision = create_tenant(name="vision", namespaces=["vision", "vision-dev"], subtrees=["root.vision"], actor=ada)
    bob = create_user(username="bob", password=rows.PASSWORD, tenants=[vision], email="bob@example.com", actor=ada)
    change_user(user=bob, actor=ada, role="operator", reason="helps on weekends")
    ci = create_user(username="ci", service=True, role="admin", actor=ada)
    token, _secret = create_token(user=ci, name="pipeline", scopes=["tree:plan", "tree:write"], subtree="root.vision")
    create_token(user=ada, name="laptop", lifetime=timedelta(days=365))
    mapping = add_mapping(group="vision-leads", role="editor", tenant=vision, actor=ada, reason="their own")
    return {"tenant": vision.pk, "user": bob.pk, "service": ci.pk, "token": token.pk, "mapping": mapping.pk}


@pytest.mark.parametrize(
    "path",
    [
        "/account/",
        "/account/password/",
        "/account/tokens/add/",
        "/people/audit-log/",
        "/people/audit-log/?verb=nothing&since=2026-01-05T12:00Z",
        "/people/group-mappings/",
        "/people/group-mappings/{mapping}/delete/",
        "/people/roles/",
        "/people/tenants/",
        "/people/tenants/{tenant}/",
        "/people/tenants/{tenant}/members/add/",
        "/people/tokens/",
        "/people/users/",
        "/people/users/{user}/",
        "/people/users/{service}/",
        "/people/users/{user}/delete/",
        "/tokens/{token}/revoke/",
    ],
)
def test_it_is_sound_in_every_look(open_page: OpenPage, numbers: dict[str, int], path: str) -> None:
    """With somebody of every kind."""
    assert faults(open_page(path.format(**numbers))) == {}


def test_a_time_that_is_far_away_has_its_year(open_page: OpenPage, numbers: dict[str, int]) -> None:
    """Or a token that expires in a year would seem to expire today."""
    page = open_page("/account/")
    page.wait_for_load_state()
    year = ApiToken.objects.get(name="laptop").expires_at.year  # type: ignore[union-attr]
    assert str(year) in page.get_by_role("row", name="laptop").inner_text()


def test_a_token_is_copied_where_it_is_shown(open_page: OpenPage, numbers: dict[str, int]) -> None:
    """The whole of it, and that is said; the page is as sound as others."""
    page = open_page("/account/tokens/add/")
    page.get_by_label("Name").fill("phone")
    page.get_by_role("button", name="Create token").click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    secret = page.locator("[data-secret]").first
    secret.get_by_role("button", name="Copy").click()
    expect(page.locator("#copied")).to_have_text("Copied Token")
    copied = page.evaluate("navigator.clipboard.readText()")
    page.context.clear_permissions()
    assert (copied, len(copied)) == (secret.locator("code").inner_text(), 46)
    assert ApiToken.objects.get(name="phone").prefix == copied[:12]
    assert faults(page) == {}


def test_people_come_in_without_a_script(open_page: OpenPage, numbers: dict[str, int]) -> None:
    """A user is added with a generated password, without JavaScript, which then signs them in."""
    page = open_page("/people/users/add/", java_script_enabled=False)
    page.get_by_label("Username").fill("carol")
    page.get_by_label("vision").first.check()
    page.get_by_label("Reason").fill("new colleague")
    page.get_by_role("button", name="Add user").click()
    fresh = page.locator("[data-secret] code").inner_text()
    assert not page.get_by_role("button", name="Copy").is_visible()
    carol = User.objects.get(username="carol")
    assert carol.check_password(fresh)
    assert list(carol.tenants.all()) == [Tenant.objects.get(name="vision")]
