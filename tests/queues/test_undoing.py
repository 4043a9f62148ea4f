"""Every act is taken back and done again, as it was; what somebody else changed since is not overwritten."""

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts import edits, storage
from scheduler_admin.queues.drafts.copies import copy
from scheduler_admin.queues.drafts.merge import choose, merge_draft
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.undo import OvertakenError, next_act, redo, undo
from scheduler_admin.queues.models import Draft, DraftQueue
from tests.builders import queue
from tests.queues.test_draft_merging import edit, row, said, theirs

pytestmark = pytest.mark.django_db


def add(draft: Draft, below: str, name: str, actor: User) -> Draft:
    """A queue below another."""
    return edits.add(draft=draft, parent=row(draft, below).pk, name=name, actor=actor)[0]


def rename(draft: Draft, name: str, to: str, actor: User) -> Draft:
    """Give a queue another name."""
    return edits.rename(draft=draft, row=row(draft, name).pk, name=to, was=name, actor=actor)


def move(draft: Draft, name: str, to: str, actor: User) -> Draft:
    """Put a queue below another."""
    one = row(draft, name)
    return edits.move(draft=draft, row=one.pk, parent=row(draft, to).pk, was=one.parent_id or 0, actor=actor)


def delete(draft: Draft, name: str, actor: User) -> Draft:
    """Take a queue away with all below it."""
    draft.refresh_from_db()
    return edits.delete(draft=draft, row=row(draft, name).pk, version=draft.version, actor=actor)


def copied(draft: Draft, name: str, to: str, actor: User) -> Draft:
    """Copy a queue with all below it."""
    return copy(draft=draft, row=row(draft, name).pk, parent=row(draft, to).pk, actor=actor)[0]


def everything(draft: Draft) -> list[dict[str, object]]:
    """All that the draft says, in the queues' order, with their keys."""
    draft = Draft.objects.get(pk=draft.pk)
    return [{"base": draft.base_id, "conflicts": draft.conflicts}] + [
        {"pk": one.pk} | storage.said(one) for one in draft.queues.all()
    ]


ACTS: dict[str, Callable[[Draft, User], Draft]] = {
    "edit": lambda draft, who: edit(draft, "web", "max/cpu", "30", "20", who),
    "add": lambda draft, who: add(draft, "lab", "vision", who),
    "rename": lambda draft, who: rename(draft, "web", "www", who),
    "move": lambda draft, who: move(draft, "web", "lab", who),
    "delete": lambda draft, who: delete(draft, "prod", who),
    "copy": lambda draft, who: copied(draft, "prod", "lab", who),
}


@pytest.mark.parametrize("kind", ACTS)
def test_every_act_is_undone_and_redone(draft: Draft, ann: User, kind: str) -> None:
    """To the same queues under the same keys; what the draft changes of its base is nothing again."""
    before = everything(draft)
    ACTS[kind](draft, ann)
    after = everything(draft)
    assert before != after
    for _ in range(2):
        undone, _row = undo(draft=draft, actor=ann)
        assert (everything(draft), said(undone)) == (before, [])
        redo(draft=draft, actor=ann)
        assert everything(draft) == after


def test_acts_are_undone_one_after_the_other(draft: Draft, ann: User) -> None:
    """Through a delete, and what came before it; at the end nothing is left to undo."""
    states = [everything(draft)]
    for act in (
        lambda draft, who: rename(draft, "api", "rest", who),
        *(ACTS[kind] for kind in ("edit", "add", "delete")),
    ):
        act(draft, ann)
        states.append(everything(draft))
    for one in reversed(states[:-1]):
        undo(draft=draft, actor=ann)
        assert everything(draft) == one
    version = draft.version
    assert undo(draft=draft, actor=ann)[0].version > version
    for one in states[1:]:
        redo(draft=draft, actor=ann)
        assert everything(draft) == one


def test_merging_and_choosing_are_undone(draft: Draft, ann: User) -> None:
    """Then the draft is on the former revision again, with its own changes alone, and may be merged anew."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    edits.delete(draft=draft, row=row(draft, "lab").pk, version=2, actor=ann)
    draft = theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30), lab=queue(7, namespaces=("lab",)))
    states = [everything(draft)]
    draft = merge_draft(draft=draft, actor=ann)
    states.append(everything(draft))
    for conflict in list(draft.conflicts):
        choose(draft=draft, queue=conflict["queue"], setting=conflict["setting"], side="theirs", actor=ann)
        states.append(everything(draft))
    assert len(states) == 4
    for one in reversed(states[:-1]):
        undo(draft=draft, actor=ann)
        assert everything(draft) == one
    for one in states[1:]:
        redo(draft=draft, actor=ann)
        assert everything(draft) == one


def test_each_undoes_their_own(draft: Draft, ann: User, bob: User) -> None:
    """What the other did in between stays."""
    edit(draft, "web", "delay", "1m", "30s", ann)
    edit(draft, "web", "max/memory", "4Gi", "", bob)
    edit(draft, "api", "delay", "2m", "", bob)
    draft, about = undo(draft=draft, actor=ann)
    assert about == row(draft, "web").pk
    assert said(draft) == ["root.prod.api: delay set to 2m", "root.prod.web: max memory set to 4Gi"]
    assert next_act(draft, ann, back=True) is None
    undo(draft=draft, actor=bob)
    assert said(draft) == ["root.prod.web: max memory set to 4Gi"]


def test_a_new_act_ends_what_could_be_redone(draft: Draft, ann: User, bob: User) -> None:
    """One's own; another's does not."""
    edit(draft, "web", "delay", "1m", "30s", ann)
    undo(draft=draft, actor=ann)
    edit(draft, "api", "delay", "2m", "", bob)
    assert next_act(draft, ann, back=False) is not None
    edit(draft, "lab", "delay", "2m", "", ann)
    assert next_act(draft, ann, back=False) is None
    redo(draft=draft, actor=ann)
    assert row(draft, "web").settings.get("delay", "") == "30s"


def test_what_another_typed_since_is_not_overwritten(draft: Draft, ann: User, bob: User) -> None:
    """Who and what is told; it can't be undone any more, and the act before it is the next."""
    edit(draft, "lab", "delay", "5m", "", ann)
    edit(draft, "web", "delay", "1m", "30s", ann)
    edit(draft, "web", "delay", "2m", "1m", bob)
    edit(draft, "web", "max/cpu", "21", "20", bob)
    with pytest.raises(OvertakenError) as refused:
        undo(draft=draft, actor=ann)
    assert (refused.value.by, refused.value.queue, refused.value.setting) == ("bob", "web", "delay")
    assert refused.value.now == "2m"
    assert row(draft, "web").settings.get("delay", "") == "2m"
    undo(draft=draft, actor=ann)
    assert row(draft, "lab").settings.get("delay", "") == ""


def test_adding_is_not_undone_once_another_put_something_there(draft: Draft, ann: User, bob: User) -> None:
    """Neither a setting nor a queue is lost."""
    add(draft, "lab", "vision", ann)
    edit(draft, "vision", "delay", "1m", "", bob)
    with pytest.raises(OvertakenError):
        undo(draft=draft, actor=ann)
    add(draft, "lab", "speech", ann)
    add(draft, "speech", "de", bob)
    with pytest.raises(OvertakenError) as refused:
        undo(draft=draft, actor=ann)
    assert (refused.value.queue, refused.value.by) == ("de", "bob")
    assert row(draft, "de").parent == row(draft, "speech")


def test_a_queue_comes_back_beside_another_of_its_name(draft: Draft, ann: User, bob: User) -> None:
    """That somebody added since: two of one name are an error to mend, as after a merge; neither is thrown away."""
    delete(draft, "web", ann)
    add(draft, "prod", "WEB", bob)
    draft, _row = undo(draft=draft, actor=ann)
    assert [note.text for note in state(draft).errors] == ["Queue root.prod.WEB is defined twice."]


def test_a_queue_does_not_come_back_where_its_parent_is_gone(draft: Draft, ann: User, bob: User) -> None:
    """Until that is back."""
    delete(draft, "api", ann)
    delete(draft, "prod", bob)
    with pytest.raises(DraftQueue.DoesNotExist):
        undo(draft=draft, actor=ann)
    undo(draft=draft, actor=bob)
    assert {one.name for one in draft.queues.all()} == {"root", "lab", "prod", "web"}


def test_a_move_is_not_undone_into_a_circle(draft: Draft, ann: User, bob: User) -> None:
    """The former parent lies below the queue by now."""
    move(draft, "web", "lab", ann)
    move(draft, "prod", "web", bob)
    with pytest.raises(ValidationError, match="can't be moved below itself"):
        undo(draft=draft, actor=ann)
    assert row(draft, "prod").parent == row(draft, "web")


def test_a_queue_comes_back_as_new_once_the_base_has_it_no_more(draft: Draft, ann: User, bob: User) -> None:
    """A merge in between took it from the base: it is the same queue of the draft all the same."""
    pk = row(draft, "lab").pk
    delete(draft, "lab", ann)
    draft = merge_draft(draft=theirs(draft, but=("lab",)), actor=bob)
    draft, _row = undo(draft=draft, actor=ann)
    assert (row(draft, "lab").pk, row(draft, "lab").origin) == (pk, "")
    assert said(draft) == ["root.lab added: guaranteed cpu 5, namespaces lab"]


def test_who_sees_a_part_is_not_told_of_the_rest(draft: Draft, bob: User) -> None:
    """A merge brings in all of the tree; what another changed there since is no business of theirs."""
    eve = User.objects.create_user("eve", role=User.Role.TENANT)
    draft = theirs(draft, lab=queue(9, namespaces=("lab",)))
    draft = merge_draft(draft=draft, actor=eve)
    edit(draft, "lab", "guaranteed/cpu", "12", "9", bob)
    with pytest.raises(ValidationError, match="someone else changed the same part of the draft"):
        undo(draft=draft, actor=eve)


def test_so_many_acts_are_kept(draft: Draft, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest goes; of the others nothing is lost."""
    monkeypatch.setattr(storage, "MOST_ACTS", 2)
    for was, text in (("30s", "1m"), ("1m", "2m"), ("2m", "3m")):
        edit(draft, "web", "delay", text, was, ann)
    for _ in range(3):
        draft, _row = undo(draft=draft, actor=ann)
    assert row(draft, "web").settings.get("delay", "") == "1m"


def test_a_clash_names_who_it_was_also_when_others_acted_since(draft: Draft, ann: User, bob: User) -> None:
    """As long as the act is kept."""
    edit(draft, "web", "delay", "1m", "30s", bob)
    edit(draft, "api", "delay", "1m", "", ann)
    with pytest.raises(ConflictError) as refused:
        edit(draft, "web", "delay", "2m", "30s", ann)
    assert refused.value.by == "bob"
    draft.acts.all().delete()
    with pytest.raises(ConflictError) as refused:
        edit(draft, "web", "delay", "2m", "30s", ann)
    assert refused.value.by == ""
