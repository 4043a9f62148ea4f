"""Pods that would belong to no queue: told before a tree is put in force, which then takes a word."""

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.models import Draft
from tests.api.conftest import busy  # noqa: F401 - a fixture
from tests.pages.markup import squeezed

TOLD = "4 running pods would belong to no queue."


@pytest.fixture
def draft(busy: Cluster) -> Draft:  # noqa: F811
    """Without Test, whose pods run."""
    admin = User.objects.create_user("ann", role=User.Role.ADMIN)
    assert busy.hierarchy is not None
    made = edits.start(hierarchy=busy.hierarchy, name="less", author=admin)
    row = made.queues.get(name="test")
    return edits.delete(draft=made, row=row.pk, version=made.version, actor=admin)


@pytest.fixture
def ann(client: Client, draft: Draft) -> Client:
    """Whose draft it is."""
    client.force_login(draft.author)
    return client


def test_the_forecast_of_a_draft_counts_them_by_queue(ann: Client, draft: Draft) -> None:
    parts = ann.get(f"/clusters/east/drafts/{draft.pk}/forecast/").json()["parts"]
    assert TOLD in parts["forecast"]
    assert "root.test: 4 running, 0 pending" in squeezed(parts["forecast"])
    assert TOLD in parts["publish"]
    assert 'name="allow_orphans" required' in parts["publish"]


def test_a_draft_is_published_with_a_word_only(ann: Client, draft: Draft) -> None:
    form = {"version": draft.version, "reason": "less"}
    where = f"/clusters/east/drafts/{draft.pk}/publish/"
    refused = ann.post(where, form)
    page = refused.content.decode()
    assert refused.status_code == 409
    assert "Some pods would belong to no queue. Confirm that below" in page
    assert TOLD in page
    assert 'name="allow_orphans"' in page
    assert "\nless</textarea>" in page
    assert ann.post(where, {**form, "allow_orphans": "on"}).status_code == 302


def test_going_back_is_asked_the_same(ann: Client, draft: Draft, busy: Cluster) -> None:  # noqa: F811
    edits.publish_draft(draft=draft, version=draft.version, reason="less", actor=draft.author, allow_orphans=True)
    again = edits.start(hierarchy=busy.hierarchy, name="other", author=draft.author)
    again, _row = edits.add(draft=again, parent=again.queues.get(name="root").pk, name="test", actor=draft.author)
    made = edits.publish_draft(draft=again, version=again.version, reason="again", actor=draft.author)
    form = {"onto": made.pk, "reason": "back"}
    refused = ann.post("/clusters/east/revisions/2/back/", form)
    assert refused.status_code == 409
    assert TOLD in refused.content.decode()
    told = ann.get("/clusters/east/revisions/2/forecast/").json()["parts"]
    assert TOLD in told["prospect"]
    assert TOLD in told["orphans-allowed"]
    assert ann.post("/clusters/east/revisions/2/back/", {**form, "allow_orphans": "on"}).status_code == 302


def test_a_former_path_is_shown_with_its_queue(ann: Client, draft: Draft, busy: Cluster) -> None:  # noqa: F811
    again = edits.start(hierarchy=busy.hierarchy, name="other", author=draft.author)
    row = again.queues.get(name="test")
    again = edits.rename(draft=again, row=row.pk, name="trial", was="test", actor=draft.author)
    assert TOLD not in ann.get(f"/clusters/east/drafts/{again.pk}/forecast/").json()["parts"]["forecast"]
    edits.publish_draft(draft=again, version=again.version, reason="a name", actor=draft.author)
    page = ann.get("/clusters/east/queues/root.trial/").content.decode()
    assert "Former paths" in page
    assert "root.test" in page
