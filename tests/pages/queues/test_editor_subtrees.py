"""Who edits a subtree: the draft's page shows and changes what is below its top, and nothing else."""

import json
import re

import pytest
from django.test import Client

from engine.model.queue_tree import Queue as Settings
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.services.hierarchies import tree_of
from tests.pages.conftest import client_of
from tests.pages.queues.drafts import SCRIPT, edited, page, publish_another, row, send, started, texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def eve(demo: Cluster) -> Client:
    """Editor of tenant-1, tenant of tenant-2."""
    first, second = (
        Tenant.objects.create(name=name, subtrees=[f"root.{name}"], namespaces=[]) for name in ("tenant-1", "tenant-2")
    )
    return client_of(create_user(username="eve", tenants=[second], edits=[first]))


@pytest.fixture
def draft(eve: Client, demo: Cluster) -> Draft:
    """Eve's, nothing changed yet."""
    return started(demo, by="eve")


def in_force(cluster: Cluster, path: str) -> Settings:
    """A queue of the tree in force."""
    return tree_of(Revision.objects.get(hierarchy=cluster.hierarchy_id, number=2))[path]


def test_she_starts_a_draft_and_publishes_it(eve: Client, demo: Cluster) -> None:
    """From the link in the navigation to the tree in force, and back to the queues."""
    assert 'href="/clusters/demo/editor/"' in eve.get("/clusters/demo/queues/").content.decode()
    html = eve.get("/clusters/demo/editor/").content.decode()
    field = re.search(
        r'<input id="f(\d+)-delay"[^>]* aria-label="training, preemption delay"[^>]* value="([^"]*)"', html
    )
    assert field is not None
    changed = {"row": field[1], "delay": "1m", "was:delay": field[2]}
    assert eve.post("/clusters/demo/drafts/new-1/edit/", changed).status_code == 302
    draft = Draft.objects.get()
    done = send(eve, draft, "publish", {"version": 2, "reason": "patience"})
    assert (done.status_code, done.url) == (302, "/clusters/demo/queues/")
    assert in_force(demo, "root.tenant-1.training").delay_ms == 60_000


def test_her_page_shows_her_tenants_queues_alone(eve: Client, draft: Draft) -> None:
    """Of the fields, those below the tops that are hers to change; no namespaces, no revisions, no placement."""
    html = eve.get(page(draft, f"?queue={row(draft, 'training').pk}")).content.decode()
    for name, shown in (("tenant-1", True), ("training", True), ("tenant-2", True), ("queue-a", False)):
        assert (f'id="n{row(draft, name).pk}"' in html) is shown, name
    for name, editable in (("tenant-1", False), ("training", True), ("queue-1", False)):
        assert (f'id="f{row(draft, name).pk}-delay"' in html) is editable, name
    assert f'id="f{row(draft, "training").pk}-namespaces"' not in html
    assert "/revisions/" not in eve.get("/clusters/demo/editor/").content.decode()


@pytest.mark.parametrize(
    ("act", "name", "form", "status"),
    [
        ("edit", "tenant-1", {"delay": "1m", "was:delay": ""}, 422),
        ("edit", "queue-1", {"delay": "1m", "was:delay": ""}, 410),
        ("edit", "queue-a", {"delay": "1m", "was:delay": ""}, 410),
        ("edit", "training", {"namespaces": "theirs", "was:namespaces": ""}, 422),
        ("add", "root", {"name": "mine"}, 410),
        ("add", "tenant-2", {"name": "mine"}, 410),
        ("rename", "tenant-1", {"name": "mine", "was": "tenant-1"}, 422),
        ("delete", "tenant-1", {"version": 1}, 422),
        ("delete", "queue-a", {"version": 1}, 410),
    ],
)
def test_what_is_not_hers_stays(
    eve: Client, draft: Draft, act: str, name: str, form: dict[str, str], status: int
) -> None:
    """What she may not change answers like what is gone, and the top of her subtree says whose it is."""
    before = list(draft.queues.order_by("pk").values())
    response = send(eve, draft, act, {"row": row(draft, name).pk, **form}, script=True)
    assert response.status_code == status
    if name == "tenant-1":
        assert "root.tenant-1: Only users who can change the parent queue" in texts(
            json.loads(response.content)["html"]
        )
    assert list(draft.queues.order_by("pk").values()) == before


def test_queues_are_moved_within_her_subtree_alone(eve: Client, draft: Draft) -> None:
    """Neither out of it nor into it."""
    training, second = row(draft, "training"), row(draft, "queue-1")
    assert training.parent is not None
    out = {"row": training.pk, "parent": row(draft, "root").pk, "was": training.parent_id}
    into = {"row": second.pk, "parent": training.parent_id, "was": second.parent_id}
    within = {"row": training.pk, "parent": row(draft, "queue-b").pk, "was": training.parent_id}
    answers = [send(eve, draft, "move", form, script=True).status_code for form in (out, into, within)]
    assert answers == [410, 410, 200]


def test_promising_more_than_the_top_has_is_an_error_at_its_field(eve: Client, draft: Draft, demo: Cluster) -> None:
    """And keeps the draft back."""
    edited(draft, "training", "guaranteed/cpu", "400", by="eve")
    html = texts(eve.get(page(draft)).content.decode())
    assert "The guarantees below root.tenant-1 would total 560 cpu." in html
    refused = send(eve, draft, "publish", {"version": 2, "reason": "more"})
    assert (refused.status_code, Revision.objects.filter(hierarchy=demo.hierarchy).count()) == (422, 1)


def test_a_change_that_somebody_else_made_in_it_is_not_hers_to_publish(
    ada: Client, eve: Client, draft: Draft, demo: Cluster
) -> None:
    """Ada changed another's queue in Eve's draft: Eve can't, Ada can."""
    edited(draft, "queue-a", "delay", "7s")
    form = {"version": 2, "reason": "both"}
    assert send(eve, draft, "publish", form).status_code == 422
    assert send(ada, draft, "publish", form).status_code == 302


def test_others_drafts_are_as_if_they_were_not(ada: Client, eve: Client, demo: Cluster) -> None:
    """Neither in her list nor at their address; nor is hers anybody else's but the staff's."""
    theirs, hers = started(demo, "Secret plan"), started(demo, "Hers", by="eve")
    assert "Secret plan" not in eve.get("/clusters/demo/editor/").content.decode()
    assert eve.get(page(theirs)).status_code == 404
    assert send(eve, theirs, "discard", {}).status_code == 404
    assert ada.get(page(hers)).status_code == 200


def test_another_revision_is_merged_without_its_reason(eve: Client, draft: Draft, demo: Cluster) -> None:
    """Who published it and why is the staff's to read."""
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 1000})
    html = texts(eve.get(page(draft)).content.decode())
    assert "Revision 2 was published." in html
    assert "more for them" not in html
    assert send(eve, draft, "merge", {}).status_code == 302


def test_the_forecast_names_her_pods_alone(eve: Client, draft: Draft) -> None:
    """It is there, for a script as well."""
    answer = eve.get(page(draft, "forecast/"), headers=SCRIPT)
    assert answer.status_code == 200
    assert "queue-a" not in answer.content.decode()


def test_she_rolls_nothing_back(eve: Client, demo: Cluster) -> None:
    """A revision is the whole tree."""
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 1000})
    assert eve.get("/clusters/demo/revisions/").status_code == 404
    assert eve.post("/clusters/demo/revisions/1/back/", {"onto": "2", "reason": "back"}).status_code in (403, 404)
    assert Revision.objects.filter(hierarchy=demo.hierarchy).count() == 2


def test_an_operator_may_be_an_editor_too(demo: Cluster) -> None:
    """Sees the whole draft, and changes what is below the top."""
    top = Tenant.objects.create(name="tenant-1", subtrees=["root.tenant-1"])
    olga = client_of(create_user(username="olga", role=User.Role.OPERATOR, edits=[top]))
    draft = started(demo, by="olga")
    html = olga.get(page(draft)).content.decode()
    assert f'id="n{row(draft, "queue-a").pk}"' in html
    assert f'id="f{row(draft, "queue-a").pk}-delay"' not in html
    assert f'id="f{row(draft, "training").pk}-delay"' in html


def test_a_tenant_finds_no_editor(tess: Client, demo: Cluster) -> None:
    """Neither the link nor the page."""
    assert "/editor/" not in tess.get("/clusters/demo/queues/").content.decode()
    assert tess.get("/clusters/demo/editor/").status_code == 404
