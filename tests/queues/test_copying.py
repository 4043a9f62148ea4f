"""A queue is copied with all below it, under a name that is free; namespaces stay where they are."""

import pytest
from django.core.exceptions import ValidationError

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts import copies
from scheduler_admin.queues.drafts.copies import copy
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.models import Draft, DraftQueue
from tests.queues.test_draft_merging import edit, row, said

pytestmark = pytest.mark.django_db


def copied(draft: Draft, name: str, to: str, actor: User) -> DraftQueue:
    """The copy of a queue."""
    return copy(draft=draft, row=row(draft, name).pk, parent=row(draft, to).pk, actor=actor)[1]


def test_a_subtree_is_copied_with_its_settings(draft: Draft, ann: User) -> None:
    """As new queues, which the diff tells of; also what was typed and is wrong."""
    edit(draft, "api", "max/memory", "4Tb", "", ann)
    made = copied(draft, "prod", "lab", ann)
    assert (made.name, made.settings["preemption_policy"], made.origin) == ("prod", "fence", "")
    assert [one.path for one in state(draft).rows if one.added] == [
        "root.lab.prod",
        "root.lab.prod.api",
        "root.lab.prod.web",
    ]
    assert "root.lab.prod.web added: guaranteed cpu 10, guaranteed memory 1Gi, max cpu 20, delay 30s" in said(draft)
    assert draft.queues.get(parent=made, name="api").settings["max/memory"] == "4Tb"


def test_namespaces_are_not_copied(draft: Draft, ann: User) -> None:
    """One belongs to one leaf."""
    assert (
        copied(draft, "lab", "root", ann).settings.get("namespaces", ""),
        row(draft, "lab").settings.get("namespaces", ""),
    ) == ("", "lab")


def test_a_copy_beside_the_queue_gets_the_next_free_name(draft: Draft, ann: User) -> None:
    """Whatever the case of those that are there, and within 64 characters."""
    assert [copied(draft, "web", "prod", ann).name for _ in range(3)] == ["web-copy", "web-copy-2", "web-copy-3"]
    row(draft, "api").children.create(draft=draft, name="WEB")
    assert copied(draft, "web", "api", ann).name == "web-copy"
    long = row(draft, "api").children.create(draft=draft, name="x" * 64)
    assert copied(draft, long.name, "api", ann).name == "x" * 59 + "-copy"


def test_a_queue_is_copied_below_itself_once(draft: Draft, ann: User) -> None:
    """What it held before, not the copy of the copy."""
    made = copied(draft, "prod", "prod", ann)
    assert {one.name for one in made.children.all()} == {"api", "web"}


def test_neither_the_root_nor_too_much_is_copied(draft: Draft, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left behind."""
    with pytest.raises(ValidationError, match="root"):
        copied(draft, "root", "lab", ann)
    monkeypatch.setattr(copies, "MOST_QUEUES", 7)
    with pytest.raises(ValidationError, match="more than 7"):
        copied(draft, "prod", "lab", ann)
    assert draft.queues.count() == 5
    with pytest.raises(DraftQueue.DoesNotExist):
        copy(draft=draft, row=row(draft, "web").pk, parent=0, actor=ann)
