"""The page of a cluster's own copy of the tree: how it stands to ours, what may be done about it, and by whom."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from engine.cluster.sync.copies import ClusterCopy as Seen
from engine.cluster.sync.copies import CopyEffect, SchedulerAnswer
from engine.formats.tree_json.diff import describe_change
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.observation import SETTLES, keep, keep_effect
from scheduler_admin.sync.services import copy_of
from tests.pages import rows
from tests.sync.builders import TEXT, changed

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/copy/"
AT = datetime(2026, 1, 5, 10, 2, tzinfo=UTC)


@pytest.fixture
def demo() -> Cluster:
    """In step with revision 1, as the worker stored it."""
    revision, _notes = import_tree(hierarchy="demo", text=TEXT, author=None, reason="as it was")
    made = rows.cluster("demo", revision)
    see(made, TEXT, version="1")
    return made


def see(cluster: Cluster, text: str, version: str = "2", writer: str = "kubectl-edit") -> None:
    """The worker has looked."""
    seen = Seen(namespace="yunikorn", text=text, version=f"uid/{version}", writer=writer, written_at=AT)
    keep(copy=copy_of(cluster), seen=seen, now=AT)


def publish(text: str) -> None:
    import_tree(hierarchy="demo", text=text, author=None, reason="changed")


def text(answer: Any, status: int = 200) -> str:
    assert answer.status_code == status, answer
    html: str = answer.content.decode()
    return html


def form(cluster: Cluster, **more: str) -> dict[str, str]:
    """What the page's form sends."""
    cluster.hierarchy.refresh_from_db()
    shown = {"revision": str(cluster.hierarchy.current_id), "version": copy_of(cluster).version}
    return {"act": "write", "reason": "as agreed", **shown, **more}


def test_it_is_found_from_the_revisions(ada: Client, demo: Cluster) -> None:
    assert PAGE in text(ada.get("/clusters/demo/revisions/"))


def test_in_step_there_is_nothing_to_write(ada: Client, demo: Cluster) -> None:
    html = text(ada.get(PAGE))
    assert "The cluster’s configuration matches revision 1." in html
    assert "yunikorn/yunikorn-configs" in html
    assert 'id="write"' not in html


def test_a_revision_that_is_newer_can_be_written(ada: Client, demo: Cluster) -> None:
    """With what that changes, in words and as text; nothing has to be confirmed."""
    publish(changed())
    html = text(ada.get(PAGE))
    assert "Revision 2 is not in the cluster’s configuration yet" in html
    for shown in ("What writing revision 2 would change", "-              guaranteed", "Write revision 2"):
        assert shown in html
    assert 'name="overwrite"' not in html
    assert "Write requested." in text(ada.post(PAGE, form(demo), follow=True))
    made = Writing.objects.get()
    assert (made.state, made.text, made.by_name) == ("in-progress", changed(), "ada")
    html = text(ada.get(PAGE))
    assert "in progress" in html
    assert 'id="write"' not in html


def test_drift_is_told_with_who_and_when_and_has_to_be_confirmed(ada: Client, demo: Cluster) -> None:
    see(demo, changed(cpu="2"))
    html = text(ada.get(PAGE))
    assert "kubectl-edit changed the cluster’s configuration at" in html
    assert "Changes made by others in the cluster" in html
    assert "Overwrite the changes that kubectl-edit made at" in html
    assert "Confirm that" in text(ada.post(PAGE, form(demo)), 422)
    assert not Writing.objects.exists()
    ada.post(PAGE, form(demo, overwrite="on"))
    assert Writing.objects.get().before == changed(cpu="2")


def test_drift_is_a_notice_on_the_page_of_all_clusters(ada: Client, otto: Client, demo: Cluster) -> None:
    """What is only newer here is none."""
    rows.status(demo)
    publish(changed(cpu="8"))
    assert "the cluster’s configuration was changed" not in text(ada.get("/clusters/"))
    see(demo, changed(cpu="2"))
    assert "the cluster’s configuration was changed by kubectl-edit at" in text(otto.get("/clusters/"))


def test_what_changed_since_it_was_shown_is_shown_anew_and_the_reason_is_kept(ada: Client, demo: Cluster) -> None:
    publish(changed())
    sent = form(demo)
    see(demo, changed(cpu="2"))
    html = text(ada.post(PAGE, sent), 412)
    assert "changed in the meantime. Check what would be written now." in html
    assert 'value="as agreed"' in html
    assert not Writing.objects.exists()


def test_a_copy_that_is_no_tree_is_told_line_by_line(ada: Client, demo: Cluster) -> None:
    see(demo, "partitions:\n  - name: default\n    queues: 5\n")
    html = text(ada.get(PAGE))
    assert "It can no longer be read as a queue tree." in html
    assert "Line 3" in html
    assert 'id="write"' not in html


def test_where_there_is_none_it_is_said_what_was_looked_for(ada: Client, demo: Cluster) -> None:
    keep(copy=copy_of(demo), seen=None, now=AT)
    assert "has no ConfigMap <code>yunikorn-configs</code>" in text(ada.get(PAGE))
    Copy.objects.all().delete()
    assert "The cluster’s configuration has not been checked yet." in text(ada.get(PAGE))


def test_a_look_may_be_asked_for(ada: Client, demo: Cluster) -> None:
    before = copy_of(demo).due_at
    assert "within seconds" in text(ada.post(PAGE, {"act": "check"}, follow=True))
    assert copy_of(demo).due_at > before


def test_the_copy_may_be_taken_into_a_draft(ada: Client, demo: Cluster) -> None:
    """On the revision in force, with what others changed as its changes; nothing is published yet."""
    see(demo, changed(cpu="2"))
    assert "Create draft" in text(ada.get(PAGE))
    html = text(ada.post(PAGE, {"act": "create-draft"}, follow=True))
    assert "From the cluster’s configuration" in html
    (found,) = state(Draft.objects.get()).changes
    assert [str(one) for one in describe_change(found)] == ["root.prod: guaranteed cpu 4 → 2"]
    demo.hierarchy.refresh_from_db()
    assert demo.hierarchy.current.number == 1


def test_what_is_no_tree_is_not_taken(ada: Client, demo: Cluster) -> None:
    see(demo, "partitions: 5\n")
    assert "no draft can be created from it" in text(ada.post(PAGE, {"act": "create-draft"}), 422)
    assert not Draft.objects.exists()


def test_where_to_look_may_be_said(ada: Client, demo: Cluster) -> None:
    said = {"act": "set-namespace", "namespace": "batch", "reason": "it moved"}
    ada.post(PAGE, said)
    assert copy_of(demo).namespace == "batch"
    html = text(ada.post(PAGE, {**said, "namespace": "No Such!"}), 422)
    assert "Enter a valid namespace name" in html
    assert "No Such!" in html
    assert "Enter a reason." in text(ada.post(PAGE, {**said, "reason": ""}), 422)


def test_who_may_not_write_reads_it(otto: Client, audrey: Client, tess: Client, demo: Cluster) -> None:
    publish(changed())
    for reader in (otto, audrey):
        html = text(reader.get(PAGE))
        assert "Revision 2 is not in the cluster’s configuration yet" in html
        assert 'id="write"' not in html
        assert reader.post(PAGE, form(demo)).status_code == 403
    assert tess.get(PAGE).status_code == 404
    assert not Writing.objects.exists()


@pytest.mark.parametrize("wrong", [{}, {"act": "no such"}, {"act": "check", "reason": "\0"}])
def test_a_form_that_no_page_sends_is_a_bad_request(ada: Client, demo: Cluster, wrong: dict[str, str]) -> None:
    assert ada.post(PAGE, wrong).status_code == 400


def test_fields_that_others_answer_for_are_shown_before_they_are_taken_over(ada: Client, demo: Cluster) -> None:
    """Of the very version that they were found in."""
    publish(changed())
    ada.post(PAGE, form(demo))
    asked = Writing.objects.get()
    clash = {"object": "ClusterQueue research", "field": ".spec.resourceGroups", "message": 'conflict with "argocd"'}
    Writing.objects.update(state="needs-confirmation", clashes=[clash])
    html = text(ada.get(PAGE))
    for shown in ("ClusterQueue research", ".spec.resourceGroups", "argocd", "Take ownership of these fields"):
        assert shown in html
    ada.post(PAGE, form(demo, over=str(asked.pk)))
    assert Writing.objects.exclude(pk=asked.pk).get().confirmed == [clash]
    see(demo, TEXT + "# touched\n", version="3")
    Writing.objects.filter(state="in-progress").delete()
    ada.post(PAGE, form(demo, over=str(asked.pk)))
    assert Writing.objects.exclude(pk=asked.pk).get().confirmed == []


def test_what_the_scheduler_does_not_use_is_said_and_can_be_restored(ada: Client, demo: Cluster) -> None:
    """In its own words, by one button; the page Clusters leads there."""
    copy = copy_of(demo)
    keep_effect(copy=copy, answer=SchedulerAnswer(effect=CopyEffect.APPLIED), now=AT)
    see(demo, changed(), version="2")
    later = AT + SETTLES
    keep_effect(
        copy=copy_of(demo), answer=SchedulerAnswer(effect=CopyEffect.REJECTED, why="root queue must not"), now=later
    )
    shown = text(ada.get(PAGE))
    assert "YuniKorn does not use the cluster’s configuration." in shown
    assert "YuniKorn reports: root queue must not" in shown
    assert "its scheduler does not use the queue tree in the cluster’s configuration" in text(ada.get("/clusters/"))
    sent = {"act": "restore", "reason": "outage", "version": copy_of(demo).version}
    assert ada.post(PAGE, sent).status_code == 302
    assert (Writing.objects.get().text, Writing.objects.get().revision) == (TEXT, None)
    assert "previous configuration" in text(ada.get(PAGE))
    assert "Restore configuration" not in text(ada.get(PAGE))


def test_what_is_restored_is_refused_where_the_copy_moved_on(ada: Client, demo: Cluster) -> None:
    sent = {"act": "restore", "reason": "outage", "version": "another"}
    assert ada.post(PAGE, sent).status_code == 412
