"""Other doors in a browser: signing in at a provider and out again, the site's page, and an editor's draft."""

import pytest

from scheduler_admin.accounts.models import GroupMapping, Tenant, User
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from tests.browser.conftest import Console, OpenPage
from tests.browser.sound import faults
from tests.doors.conftest import Provider, process, provider  # noqa: F401 - fixtures
from tests.pages import rows
from tests.pages.queues.drafts import edited, started

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tenant() -> Tenant:
    """Of a part of the fence example."""
    rows.everything()
    return Tenant.objects.create(name="tenant-1", subtrees=["root.tenant-1"], namespaces=["search"])


def test_somebody_comes_from_a_provider_and_goes(
    tenant: Tenant,
    provider: Provider,  # noqa: F811 - the fixture
    open_page: OpenPage,
) -> None:
    """There and back, as an editor; afterwards the page says that they are signed in there still."""
    GroupMapping.objects.create(group="leads", role="editor", tenant=tenant)
    provider.know("u1", "leads", preferred_username="erin")
    page = open_page("/sign-in/")
    page.goto("/clusters/demo/editor/")
    page.get_by_role("link", name="Sign in with").click()
    page.wait_for_url("**/clusters/demo/editor/")
    assert User.objects.get(username="erin").memberships.get().role == "editor"
    page.get_by_role("button", name="Account:").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/?left=1")
    assert faults(page) == {}
    assert page.get_by_role("link", name="Sign out there too").is_visible()


def test_the_sign_in_page_and_the_sites_are_sound_in_every_look(
    tenant: Tenant,
    provider: Provider,  # noqa: F811 - the fixture
    open_page: OpenPage,
    said: Console,
) -> None:
    """With a provider, with groups and with an error."""
    GroupMapping.objects.create(group="kubernetes:group:system:serviceaccounts:ci", role="editor", tenant=tenant)
    GroupMapping.objects.create(group="platform", role="operator")
    page = open_page("/site/")
    assert faults(page) == {}
    support = page.locator("form:has([value=support])")
    support.get_by_label("Links").fill("a line without an address")
    support.get_by_label("Reason").fill("whom to ask")
    support.get_by_role("button", name="Save").click()
    page.locator("#e-support-links").wait_for()
    said.expect_refusals()
    assert faults(page) == {}
    page.goto("/people/group-mappings/")
    assert faults(page) == {}
    page.context.clear_cookies()
    page.goto("/sign-in/")
    assert faults(page) == {}


def test_an_editors_draft_is_sound_in_every_look(tenant: Tenant, open_page: OpenPage) -> None:
    """With an error at a field; what is given from above is no field."""
    create_user(username="eve", password=rows.PASSWORD, edits=[tenant])
    cluster = Cluster.objects.get(name="demo")
    draft = started(cluster, by="eve")
    edited(draft, "training", "guaranteed/cpu", "400", by="eve")
    page = open_page(f"/clusters/demo/drafts/{draft.pk}/", who="eve")
    page.wait_for_selector("#prospect")
    assert "would total 560 cpu" in page.locator("#grid").inner_text()
    assert faults(page) == {}
