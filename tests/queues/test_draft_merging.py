"""A draft whose base is no longer in force: merged, and what both changed is chosen, never lost."""

import pytest
from django.core.exceptions import ValidationError

from engine.formats.tree_json.diff import describe_change
from engine.model.queue_tree import Queue
from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.merge import choose, merge_draft
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.services.hierarchies import publish
from tests.builders import queue, tree
from tests.queues.conftest import TREE

pytestmark = pytest.mark.django_db


def row(draft: Draft, name: str) -> DraftQueue:
    """The queue of that name."""
    return draft.queues.get(name=name)


def edit(draft: Draft, name: str, setting: str, text: str, was: str, actor: User) -> Draft:
    """Type a setting into a queue."""
    return edits.edit(draft=draft, row=row(draft, name).pk, setting=setting, text=text, was=was, actor=actor)


def theirs(draft: Draft, but: tuple[str, ...] = (), **changed: Queue) -> Draft:
    """Somebody else publishes the tree of the base with these queues changed (``prod_web``) and without ``but``."""
    queues = {path: one for path, one in TREE.items() if path not in but}
    queues |= {name.replace("_", "."): one for name, one in changed.items()}
    publish(hierarchy=draft.hierarchy, tree=tree(queues), author=None, reason="theirs")
    return Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)


def said(draft: Draft) -> list[str]:
    """What the draft changes of its base, in words."""
    return [str(one) for change in state(draft).changes for one in describe_change(change)]


def test_changes_of_both_are_kept(draft: Draft, ann: User) -> None:
    """Also when mine renamed what they changed; afterwards only mine is left to publish."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    edits.rename(draft=draft, row=row(draft, "web").pk, name="www", was="web", actor=ann)
    draft = theirs(draft, prod_web=queue({"cpu": 11, "memory": "1Gi"}, max=20, delay_ms=30_000), new=queue(1))
    assert draft.outdated
    draft = merge_draft(draft=draft, actor=ann)
    assert (draft.conflicts, draft.outdated) == ([], False)
    assert said(draft) == ["root.prod.web moved to root.prod.www", "root.prod.www: max cpu 20 → 21"]
    revision = edits.publish_draft(draft=draft, version=draft.version, reason="merged", actor=ann)
    assert '"root.prod.www"' in revision.document
    assert '"root.new"' in revision.document


def test_one_setting_changed_by_both_waits_for_a_choice(draft: Draft, ann: User) -> None:
    """All three texts are there; it can't be published before."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    draft = theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30, delay_ms=30_000))
    draft = merge_draft(draft=draft, actor=ann)
    (conflict,) = draft.conflicts
    assert (conflict["queue"], conflict["setting"]) == ("root.prod.web", "max/cpu")
    assert (conflict["base"], conflict["theirs"], conflict["mine"]) == ("20", "30", "21")
    assert not state(draft).publishable
    with pytest.raises(ValidationError, match="Resolve the conflicts first"):
        edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=ann)
    draft = choose(draft=draft, queue="root.prod.web", setting="max/cpu", side="mine", actor=ann)
    assert said(draft) == ["root.prod.web: max cpu 30 → 21"]
    assert draft.conflicts == []


def test_taking_theirs_drops_mine(draft: Draft, ann: User) -> None:
    """Nothing of it is left to publish."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    draft = theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30, delay_ms=30_000))
    draft = merge_draft(draft=draft, actor=ann)
    draft = choose(draft=draft, queue="root.prod.web", setting="max/cpu", side="theirs", actor=ann)
    assert said(draft) == []


def test_a_queue_that_they_removed_and_i_changed(draft: Draft, ann: User) -> None:
    """Mine stays as a new queue until theirs is taken."""
    edit(draft, "lab", "guaranteed/cpu", "6", "5", ann)
    draft = theirs(draft, but=("lab",))
    draft = merge_draft(draft=draft, actor=ann)
    assert said(draft) == ["root.lab added: guaranteed cpu 6, namespaces lab"]
    draft = choose(draft=draft, queue="root.lab", setting="", side="theirs", actor=ann)
    assert said(draft) == []


def test_a_queue_that_i_removed_and_they_changed(draft: Draft, ann: User) -> None:
    """It stays away until theirs is taken; then it is back as they have it."""
    edits.delete(draft=draft, row=row(draft, "lab").pk, version=draft.version, actor=ann)
    draft = theirs(draft, lab=queue(7, namespaces=("lab",)))
    draft = merge_draft(draft=draft, actor=ann)
    assert said(draft) == ["root.lab removed"]
    kept = choose(draft=draft, queue="root.lab", setting="", side="mine", actor=ann)
    assert said(kept) == ["root.lab removed"]


def test_taking_back_what_they_changed(draft: Draft, ann: User) -> None:
    """As they have it."""
    edits.delete(draft=draft, row=row(draft, "lab").pk, version=draft.version, actor=ann)
    draft = merge_draft(draft=theirs(draft, lab=queue(7, namespaces=("lab",))), actor=ann)
    draft = choose(draft=draft, queue="root.lab", setting="", side="theirs", actor=ann)
    assert said(draft) == []
    assert row(draft, "lab").settings["guaranteed/cpu"] == "7"


def test_a_queue_that_both_moved_goes_where_is_chosen(draft: Draft, ann: User) -> None:
    """It stays where I put it until theirs is taken."""
    edits.move(draft=draft, row=row(draft, "lab").pk, parent=row(draft, "api").pk, was=row(draft, "root").pk, actor=ann)
    moved = queue({"cpu": 5}, namespaces=("lab",), former_paths=("root.lab",))
    draft = merge_draft(draft=theirs(draft, but=("lab",), prod_lab=moved), actor=ann)
    assert [(one["queue"], one["setting"]) for one in draft.conflicts] == [("root.prod.lab", "parent")]
    assert row(draft, "lab").parent == row(draft, "api")
    draft = choose(draft=draft, queue="root.prod.lab", setting="parent", side="theirs", actor=ann)
    assert row(draft, "lab").parent == row(draft, "prod")
    assert said(draft) == []


def test_a_queue_is_not_put_below_itself_by_a_choice(draft: Draft, ann: User) -> None:
    """Where I moved below it what they moved it below."""
    lab, api, root = (row(draft, name).pk for name in ("lab", "api", "root"))
    edits.move(draft=draft, row=lab, parent=api, was=root, actor=ann)
    moved = queue({"cpu": 5}, namespaces=("lab",), former_paths=("root.lab",))
    draft = merge_draft(draft=theirs(draft, but=("lab",), prod_lab=moved), actor=ann)
    edits.move(draft=draft, row=lab, parent=root, was=api, actor=ann)
    edits.move(draft=draft, row=row(draft, "prod").pk, parent=lab, was=root, actor=ann)
    with pytest.raises(ValidationError, match="can't be moved below itself"):
        choose(draft=draft, queue="root.prod.lab", setting="parent", side="theirs", actor=ann)


def test_a_parent_that_i_removed_and_they_put_a_queue_below(draft: Draft, ann: User) -> None:
    """It stays for the sake of the queue below, until I insist."""
    edits.delete(draft=draft, row=row(draft, "lab").pk, version=draft.version, actor=ann)
    draft = merge_draft(draft=theirs(draft, lab_vision=queue(1)), actor=ann)
    assert row(draft, "vision").parent == row(draft, "lab")
    assert [one["queue"] for one in draft.conflicts] == ["root.lab"]
    draft = choose(draft=draft, queue="root.lab", setting="", side="mine", actor=ann)
    assert said(draft) == ["root.lab removed", "root.lab.vision removed"]


def test_what_is_no_conflict_any_more_is_left_alone(draft: Draft, ann: User) -> None:
    """Somebody else has chosen already."""
    assert choose(draft=draft, queue="root.lab", setting="max/cpu", side="theirs", actor=ann).version == draft.version


def test_a_new_queue_of_both_is_one_queue(draft: Draft, ann: User) -> None:
    """Merged setting by setting, as any other."""
    draft, _new = edits.add(draft=draft, parent=row(draft, "root").pk, name="new", actor=ann)
    edit(draft, "new", "delay", "5s", "", ann)
    draft = merge_draft(draft=theirs(draft, new=queue(1)), actor=ann)
    assert said(draft) == ["root.new: delay set to 5s"]


def test_a_new_name_that_they_took_as_well_is_an_error_to_mend(draft: Draft, ann: User) -> None:
    """Two queues of one name can't be published; neither is thrown away."""
    edits.rename(draft=draft, row=row(draft, "lab").pk, name="new", was="lab", actor=ann)
    draft = merge_draft(draft=theirs(draft, new=queue(1)), actor=ann)
    assert [note.text for note in state(draft).errors] == ["Queue root.new is defined twice."]


def test_what_both_changed_is_chosen_before_the_next_merge(draft: Draft, ann: User) -> None:
    """Else it would count as mine alone, unasked."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    draft = merge_draft(draft=theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30)), actor=ann)
    draft = theirs(draft, lab=queue(6, namespaces=("lab",)))
    with pytest.raises(ValidationError, match="Resolve the conflicts first"):
        merge_draft(draft=draft, actor=ann)
    draft = choose(draft=draft, queue="root.prod.web", setting="max/cpu", side="theirs", actor=ann)
    assert merge_draft(draft=draft, actor=ann).conflicts == []


def test_keeping_mine_keeps_what_it_says_by_now(draft: Draft, ann: User, bob: User) -> None:
    """What somebody typed after the merge is the draft's too."""
    edit(draft, "web", "max/cpu", "21", "20", ann)
    draft = merge_draft(draft=theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30)), actor=ann)
    edit(draft, "web", "max/cpu", "22", "21", bob)
    draft = choose(draft=draft, queue="root.prod.web", setting="max/cpu", side="mine", actor=ann)
    assert row(draft, "web").settings["max/cpu"] == "22"


def test_keeping_what_was_deleted_after_the_merge(draft: Draft, ann: User) -> None:
    """The draft is without it by now, and stays so."""
    edit(draft, "lab", "guaranteed/cpu", "6", "5", ann)
    draft = merge_draft(draft=theirs(draft, but=("lab",)), actor=ann)
    draft = edits.delete(draft=draft, row=row(draft, "lab").pk, version=draft.version, actor=ann)
    draft = choose(draft=draft, queue="root.lab", setting="", side="mine", actor=ann)
    assert (draft.conflicts, said(draft)) == ([], [])


def test_a_queue_is_put_back_with_those_above_it(draft: Draft, ann: User) -> None:
    """They are gone without a question: nobody but me changed them."""
    edits.delete(draft=draft, row=row(draft, "prod").pk, version=draft.version, actor=ann)
    draft = merge_draft(draft=theirs(draft, prod_api=queue({"cpu": 11})), actor=ann)
    assert [one["queue"] for one in draft.conflicts] == ["root.prod.api"]
    draft = choose(draft=draft, queue="root.prod.api", setting="", side="theirs", actor=ann)
    assert said(draft) == ["root.prod.web removed"]


@pytest.mark.parametrize("first", ["root.prod", "root.prod.api"])
def test_queues_are_put_back_in_any_order(draft: Draft, ann: User, first: str) -> None:
    """Each is there once."""
    edits.delete(draft=draft, row=row(draft, "prod").pk, version=draft.version, actor=ann)
    draft = merge_draft(draft=theirs(draft, prod=queue({"cpu": 41}), prod_api=queue({"cpu": 11})), actor=ann)
    for one in sorted(draft.conflicts, key=lambda one: one["queue"] != first):
        draft = choose(draft=draft, queue=one["queue"], setting="", side="theirs", actor=ann)
    assert (draft.conflicts, said(draft)) == ([], ["root.prod.web removed"])


def test_two_new_queues_of_one_name_stay_two(draft: Draft, ann: User) -> None:
    """Each with what is below it, through a second merge too."""
    edits.rename(draft=draft, row=row(draft, "lab").pk, name="new", was="lab", actor=ann)
    draft = merge_draft(draft=theirs(draft, new_below=queue(1)), actor=ann)
    draft = merge_draft(draft=theirs(draft, but=("lab",), new_below=queue(2)), actor=ann)
    assert draft.queues.filter(name="new").count() == 2
    assert [note.text for note in state(draft).errors] == ["Queue root.new is defined twice."]


def test_new_queues_below_a_renamed_one_are_one_queue_with_theirs(draft: Draft, ann: User) -> None:
    """Below the same queue, whatever it is called by now."""
    edits.rename(draft=draft, row=row(draft, "lab").pk, name="labs", was="lab", actor=ann)
    draft, _new = edits.add(draft=draft, parent=row(draft, "labs").pk, name="vision", actor=ann)
    edit(draft, "vision", "delay", "5s", "", ann)
    draft = merge_draft(draft=theirs(draft, lab_vision=queue(1), labs_vision=queue(2)), actor=ann)
    assert draft.conflicts == []
    (mine,) = draft.queues.filter(origin="root.lab.vision")
    assert (mine.settings["delay"], mine.settings["guaranteed/cpu"]) == ("5s", "1")


def test_a_queue_deleted_and_added_again_is_the_same(draft: Draft, ann: User) -> None:
    """Their change of it comes in."""
    edits.delete(draft=draft, row=row(draft, "lab").pk, version=draft.version, actor=ann)
    draft, _new = edits.add(draft=draft, parent=row(draft, "root").pk, name="lab", actor=ann)
    draft = merge_draft(draft=theirs(draft, lab=queue({"cpu": 5, "memory": "1Gi"}, namespaces=("lab",))), actor=ann)
    assert draft.conflicts == []
    assert row(draft, "lab").settings["guaranteed/memory"] == "1Gi"


def test_what_others_both_changed_is_not_chosen_by_who_changes_another_subtree(draft: Draft, ann: User) -> None:
    edit(draft, "web", "max/cpu", "21", "20", ann)
    draft = theirs(draft, prod_web=queue({"cpu": 10, "memory": "1Gi"}, max=30, delay_ms=30_000))
    draft = merge_draft(draft=draft, actor=ann)
    eve = User.objects.create(username="eve")
    tenant = Tenant.objects.create(name="lab", subtrees=["root.lab"])
    Membership.objects.create(user=eve, tenant=tenant, role=Membership.Role.EDITOR)
    with pytest.raises(ValidationError, match="outside the subtrees that you can change"):
        choose(draft=draft, queue="root.prod.web", setting="max/cpu", side="theirs", actor=eve)
    draft.refresh_from_db()
    assert len(draft.conflicts) == 1
    assert row(draft, "web").settings["max/cpu"] == "21"
