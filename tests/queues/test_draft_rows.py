"""What a process keeps of a draft's queues is what the database holds, whatever was done and taken back."""

import pytest
from django.db import transaction

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.draft_rows import rows_of
from scheduler_admin.queues.draft_storing import said
from scheduler_admin.queues.draft_undoing import redo, undo
from scheduler_admin.queues.models import Draft, Hierarchy
from tests.queues.test_draft_merging import edit
from tests.queues.test_undoing import ACTS

pytestmark = pytest.mark.django_db(transaction=True)


def assert_same(draft: Draft) -> None:
    """The rows that are kept say what those of the database do."""
    kept = {row.pk: (row.changed_in, said(row)) for row in rows_of(draft)}
    assert kept == {row.pk: (row.changed_in, said(row)) for row in draft.queues.all()}


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
        rows_of(draft)
        transaction.set_rollback(True)
    edit(draft, "web", "max/cpu", "25", "20", ann)
    assert_same(draft)


def test_a_draft_of_the_same_number_is_another(hierarchy: Hierarchy, draft: Draft) -> None:
    """As where a database was restored: what was kept of the one that had its number is not told of it."""
    rows_of(draft)
    other = Draft(pk=draft.pk, hierarchy=hierarchy, base=draft.base, name="restored")
    Draft.objects.filter(pk=draft.pk).delete()
    other.save()
    assert rows_of(other) == []
