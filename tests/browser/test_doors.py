"""Other doors in a browser: signing in at a provider and out again, the site's page, and an editor's draft."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from scheduler_admin.accounts.models import GroupMapping, Tenant, User
from scheduler_admin.accounts.services import create_user
from scheduler_admin.clusters.models import Cluster
from tests.browser.explained import LOOKS, signed_in, sound
from tests.doors.conftest import Provider, process, provider  # noqa: F401 - fixtures
from tests.web import rows
from tests.web.drafts import edited, started

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tenant(monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """Of a part of the fence example."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    rows.everything()
    return Tenant.objects.create(name="tenant-1", subtrees=["root.tenant-1"], namespaces=["search"])


def test_somebody_comes_from_a_provider_and_goes(
    tenant: Tenant,
    provider: Provider,  # noqa: F811 - the fixture
    live_server: Any,
    chromium: Browser,
    said: list[str],
) -> None:
    """There and back, as an editor; afterwards the page says that they are signed in there still."""
    GroupMapping.objects.create(group="leads", role="editor", tenant=tenant)
    provider.know("u1", "leads", preferred_username="erin")
    page = chromium.new_context(base_url=live_server.url).new_page()
    page.on("console", lambda message: message.type in {"error", "warning"} and said.append(message.text))
    page.complaints = said  # type: ignore[attr-defined]
    page.goto("/clusters/demo/editor/")
    page.get_by_role("link", name="Sign in at").click()
    page.wait_for_url("**/clusters/demo/editor/")
    assert User.objects.get(username="erin").memberships.get().role == "editor"
    page.get_by_role("button", name="Account:").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/?left=1")
    sound(page)
    assert page.get_by_role("link", name="Sign out there too").is_visible()
    page.context.close()


def test_the_sign_in_page_and_the_sites_are_sound_in_every_look(
    tenant: Tenant,
    provider: Provider,  # noqa: F811 - the fixture
    live_server: Any,
    chromium: Browser,
) -> None:
    """With a provider, with groups and with an error."""
    rows.user()
    GroupMapping.objects.create(group="kubernetes:group:system:serviceaccounts:ci", role="editor", tenant=tenant)
    GroupMapping.objects.create(group="platform", role="operator")
    for scheme, width in LOOKS:
        page = signed_in(chromium, live_server.url, "ada", scheme, width)
        page.goto(f"{live_server.url}/site/")
        sound(page)
        page.get_by_text("Add a group").click()
        page.get_by_role("textbox", name="Group", exact=True).fill("leads")
        page.get_by_role("combobox", name="Role").select_option("editor")
        page.locator("#fold-map").get_by_label("Why").fill("their own")
        page.get_by_role("button", name="Add the group").click()
        assert page.locator("#e-map").inner_text() == "Say at which tenant."
        page.complaints.clear()  # type: ignore[attr-defined]  # that the answer was 422
        sound(page)
        page.context.clear_cookies()
        page.goto(f"{live_server.url}/sign-in/")
        sound(page)


def test_an_editors_draft_is_sound_in_every_look(tenant: Tenant, live_server: Any, chromium: Browser) -> None:
    """With an error at a field; what is given from above is no field."""
    create_user(username="eve", password=rows.PASSWORD, edits=[tenant])
    cluster = Cluster.objects.get(name="demo")
    draft = started(cluster, by="eve")
    edited(draft, "training", "guaranteed/cpu", "400", by="eve")
    for scheme, width in LOOKS:
        page = signed_in(chromium, live_server.url, "eve", scheme, width)
        page.goto(f"{live_server.url}/clusters/demo/drafts/{draft.pk}/")
        page.wait_for_selector("#prospect")
        assert "560 cpu would be guaranteed together" in page.locator("#grid").inner_text()
        sound(page)
