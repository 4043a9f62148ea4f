"""What a process keeps of a draft's queues is what the database holds, whatever was done and taken back."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.queues.drafts import kept
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.drafts.rows import rows_of
from scheduler_admin.queues.drafts.selectors import DraftState, state, states
from scheduler_admin.queues.drafts.storage import said
from scheduler_admin.queues.drafts.summaries import summaries
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.undo import redo, undo
from scheduler_admin.queues.models import Draft, Hierarchy
from tests.queues.test_draft_merging import edit
from tests.queues.test_undoing import ACTS

pytestmark = pytest.mark.django_db(transaction=True)


def assert_same(draft: Draft) -> None:
    """The rows that are kept say what those of the database do, and so does what was worked out of them."""
    known = {pk: (row.changed_in, said(row)) for pk, row in rows_of(draft).items()}
    assert known == {row.pk: (row.changed_in, said(row)) for row in draft.queues.all()}
    now = Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)
    assert told(state(now)) == told(state(now)) == told(next(states([now])))
    assert summed(now) == summed(now)
    assert summed(now) == (state(now).changes, state(now).beside, len(state(now).errors))


def summed(draft: Draft) -> object:
    """What a list says of a draft."""
    [found] = summaries([draft])
    return found.changes, found.beside, len(found.errors)


def told(found: DraftState) -> object:
    """What is said of each queue, and of the whole."""
    rows = [(row.path, said(row.placed.row), row.leaf, row.errors, row.change, row.queue) for row in found.rows]
    return rows, found.notes, found.changes, found.terms, found.beside, found.draft.version


@pytest.mark.parametrize("kind", ACTS)
def test_after_every_act_undone_and_redone(draft: Draft, ann: User, kind: str) -> None:
    assert_same(draft)
    ACTS[kind](draft, ann)
    assert_same(draft)
    undo(draft=draft, actor=ann)
    assert_same(draft)
    redo(draft=draft, actor=ann)
    assert_same(draft)


def test_what_was_never_committed_is_not_kept(draft: Draft, ann: User) -> None:
    """The next act counts to the same version again, so that nothing tells the two apart but what they say."""
    assert_same(draft)
    with transaction.atomic():
        edit(draft, "web", "max/cpu", "30", "20", ann)
        assert_same(draft)
        transaction.set_rollback(True)
    edit(draft, "web", "max/cpu", "25", "20", ann)
    assert_same(draft)


def test_what_the_cluster_holds_and_whether_it_acts_counts_as_it_is_now(draft: Draft, ann: User) -> None:
    """None of it is part of the draft, whose version stays the same."""
    edit(draft, "web", "max/cpu", "50%", "20", ann)
    cluster = Cluster.objects.create(name="acting", hierarchy=draft.hierarchy, mode=Cluster.Mode.OBSERVE)
    set_term(draft=draft, setting="dialect", text="yunikorn", was="design", actor=ann)
    assert_same(draft)
    ClusterStatus.objects.create(cluster=cluster, capacity={"cpu": 80_000})
    assert_same(draft)
    Cluster.objects.update(mode=Cluster.Mode.ENFORCE)
    assert_same(draft)


def test_a_draft_of_the_same_number_is_another(hierarchy: Hierarchy, draft: Draft) -> None:
    """As where a database was restored: what was kept of the one that had its number is not told of it."""
    rows_of(draft)
    other = Draft(pk=draft.pk, hierarchy=hierarchy, base=draft.base, name="restored")
    Draft.objects.filter(pk=draft.pk).delete()
    other.save()
    assert rows_of(other) == {}


def test_a_list_reads_the_queues_of_a_draft_once(draft: Draft, ann: User) -> None:
    edit(draft, "web", "max/cpu", "30", "20", ann)
    now = Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)
    first = summaries([now])
    with CaptureQueriesContext(connection) as queries:
        assert summaries([now]) == first
    assert not [query for query in queries if "queues_draftqueue" in query["sql"]]


def test_a_list_says_of_a_draft_what_lies_in_a_scope(draft: Draft, ann: User) -> None:
    edit(draft, "web", "max/cpu", "many", "20", ann)
    edit(draft, "lab", "max/cpu", "30", "", ann)
    now = Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)
    [found] = summaries([now])
    for subtree in ("root.prod", "root.lab"):
        scope = Scope(subtrees=frozenset({subtree}))
        part, whole = found.part(scope), state(now).part(scope)
        assert (part.changes, part.beside, len(part.errors)) == (whole.changes, whole.beside, len(whole.errors))


def test_what_is_kept_of_drafts_is_bounded_by_their_queues(
    draft: Draft, hierarchy: Hierarchy, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "KEPT_QUEUES", 8 * kept.KEPT_DRAFTS)
    assert kept.KeptDraft(5).size == 8
    assert kept.KeptDraft(20).size == 20
    assert kept.kept_of(draft) is kept.kept_of(Draft.objects.get(pk=draft.pk))
    assert kept.kept_of(draft) is not kept.kept_of(start(hierarchy=hierarchy, name="Another", author=ann))
