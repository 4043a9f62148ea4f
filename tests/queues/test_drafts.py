"""A draft holds what people type, tells what is wrong with it, and becomes a revision only when nothing is."""

import pytest
from django.core.exceptions import ValidationError

from engine.formats.tree_json.canonical import encode_tree
from engine.formats.tree_json.diff import describe_change
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import QueueTree, Settings
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.edits import Cell, StaleError
from scheduler_admin.queues.drafts.selectors import DraftState, state
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.undo import undo
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import OutdatedError, publish, roll_back, tree_of
from tests.builders import queue, tree
from tests.queues.conftest import TREE

pytestmark = pytest.mark.django_db


def row(draft: Draft, name: str) -> DraftQueue:
    """The queue of that name."""
    return draft.queues.get(name=name)


def said(draft: Draft) -> list[str]:
    """What the draft changes, in words."""
    return [str(one) for change in state(draft).changes for one in describe_change(change)]


def wrong(draft: Draft) -> list[str]:
    """Where which error stands."""
    return [f"{note.path} {note.field}: {note.text}" for note in state(draft).errors]


def edit(draft: Draft, name: str, setting: str, text: str, actor: User, was: str = "") -> Draft:
    """Type a setting into a queue."""
    return edits.edit(draft=draft, row=row(draft, name).pk, setting=setting, text=text, was=was, actor=actor)


def paths(shown: DraftState) -> list[str]:
    """The queues in their order."""
    return [one.path for one in shown.rows]


def test_a_new_draft_changes_nothing(draft: Draft) -> None:
    """It is the revision in force, queue by queue, and can't be published as it is."""
    shown = state(draft)
    assert paths(shown) == ["root", "root.lab", "root.prod", "root.prod.api", "root.prod.web"]
    assert shown.tree is not None
    assert encode_tree(shown.tree) == encode_tree(tree(TREE))
    assert (shown.changes, shown.errors, shown.publishable) == ((), (), False)
    with pytest.raises(ValidationError, match="has no changes yet"):
        edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=draft.author)


def test_there_is_nothing_to_draft_before_the_first_revision(ann: User) -> None:
    """The way in is an import."""
    with pytest.raises(ValidationError, match="Import a queue tree first"):
        edits.start(hierarchy=Hierarchy.objects.create(name="empty"), name="x", author=ann)


def test_what_is_typed_stands_in_the_diff(draft: Draft, ann: User) -> None:
    """As it will be published."""
    draft = edit(draft, "web", "guaranteed/cpu", "12500m", ann, was="10")
    draft = edit(draft, "web", "max/nvidia.com/gpu", "2", ann)
    draft = edit(draft, "prod", "preemption_policy", "", ann, was="fence")
    assert said(draft) == [
        "root.prod: preemption policy fence removed",
        "root.prod.web: guaranteed cpu 10 → 12500m",
        "root.prod.web: max nvidia.com/gpu set to 2",
    ]


def test_a_mistyped_amount_is_kept_and_told_at_its_field(draft: Draft, ann: User) -> None:
    """It can't be published, and nothing typed is lost."""
    draft = edit(draft, "web", "max/memory", "128Gb", ann)
    assert wrong(draft) == ["root.prod.web max/memory: 128Gb is not a valid amount. Did you mean 128Gi or 128G?"]
    assert row(draft, "web").settings["max/memory"] == "128Gb"
    with pytest.raises(ValidationError, match="128Gb is not a valid amount"):
        edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=ann)


def test_a_guarantee_above_the_max_is_told_at_its_field(draft: Draft, ann: User) -> None:
    """A tree that contradicts itself is no tree to publish either."""
    draft = edit(draft, "web", "guaranteed/cpu", "21", ann, was="10")
    assert wrong(draft)[0].startswith("root.prod.web guaranteed/cpu: The guarantee of 21 cpu is above the max")
    with pytest.raises(Exception, match="above the max"):
        edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=ann)
    assert Revision.objects.count() == 1


def test_queues_are_added_renamed_moved_and_deleted(draft: Draft, ann: User) -> None:
    """Those below go along; a moved queue is known as the same."""
    draft, _new = edits.add(draft=draft, parent=row(draft, "lab").pk, name="vision", actor=ann)
    draft = edits.rename(draft=draft, row=row(draft, "prod").pk, name="live", was="prod", actor=ann)
    live, lab, root = row(draft, "live"), row(draft, "lab"), row(draft, "root")
    draft = edits.move(draft=draft, row=live.pk, parent=lab.pk, was=root.pk, actor=ann)
    draft = edits.delete(draft=draft, row=row(draft, "api").pk, version=draft.version, actor=ann)
    assert paths(state(draft)) == ["root", "root.lab", "root.lab.live", "root.lab.live.web", "root.lab.vision"]
    assert said(draft) == ["root.prod moved to root.lab.live", "root.lab.vision added", "root.prod.api removed"]


@pytest.mark.parametrize("name", ["", "a b", "a.b", "x" * 65, "Root", "LAB", "prod"])
def test_a_name_that_can_not_be_is_refused_where_it_is_given(draft: Draft, ann: User, name: str) -> None:
    """Not allowed, or taken there already, in any case."""
    root = row(draft, "root")
    with pytest.raises(ValidationError):
        edits.add(draft=draft, parent=root.pk, name=name, actor=ann)
    if name != "prod":
        with pytest.raises(ValidationError):
            edits.rename(draft=draft, row=row(draft, "prod").pk, name=name, was="prod", actor=ann)


def test_the_root_stays_and_nothing_moves_below_itself(draft: Draft, ann: User) -> None:
    """A tree remains a tree."""
    root, prod, web = (row(draft, name) for name in ("root", "prod", "web"))
    for act in (
        lambda: edits.delete(draft=draft, row=root.pk, version=draft.version, actor=ann),
        lambda: edits.rename(draft=draft, row=root.pk, name="top", was="root", actor=ann),
        lambda: edits.move(draft=draft, row=prod.pk, parent=web.pk, was=root.pk, actor=ann),
        lambda: edits.move(draft=draft, row=prod.pk, parent=prod.pk, was=root.pk, actor=ann),
    ):
        with pytest.raises(ValidationError):
            act()


@pytest.mark.parametrize("setting", ["", "max", "max/", "queue", "delay/cpu", "draft_id", "pk"])
def test_only_settings_of_queues_can_be_set(draft: Draft, ann: User, setting: str) -> None:
    """Nothing else of the row."""
    with pytest.raises(ValidationError):
        edit(draft, "web", setting, "1", ann)


def test_a_published_draft_is_the_next_revision_and_gone(draft: Draft, ann: User) -> None:
    """With who and why; the audit has it."""
    draft = edit(draft, "lab", "guaranteed/cpu", "6", ann, was="5")
    revision = edits.publish_draft(draft=draft, version=draft.version, reason=" more for lab ", actor=ann)
    assert (revision.number, revision.author_name, revision.reason) == (2, "ann", "more for lab")
    assert tree_of(revision)["root.lab"].guaranteed == {"cpu": 6000}
    assert Hierarchy.objects.get().current == revision
    assert not Draft.objects.exists()
    assert AuditEvent.objects.filter(verb="tree.publish", reason="more for lab").count() == 1


def test_publishing_asks_for_a_reason(draft: Draft, ann: User) -> None:
    """Nothing is published without; the draft stays."""
    draft = edit(draft, "lab", "guaranteed/cpu", "6", ann, was="5")
    with pytest.raises(ValidationError):
        edits.publish_draft(draft=draft, version=draft.version, reason="  ", actor=ann)
    assert (Revision.objects.count(), Draft.objects.count()) == (1, 1)


# Two people


def test_two_people_type_into_different_fields_of_one_draft(draft: Draft, ann: User, bob: User) -> None:
    """Both stay, though neither saw the other's."""
    edit(draft, "web", "guaranteed/cpu", "11", ann, was="10")
    draft = edit(draft, "web", "max/cpu", "21", bob, was="20")
    assert said(draft) == ["root.prod.web: guaranteed cpu 10 → 11", "root.prod.web: max cpu 20 → 21"]
    assert (draft.version, draft.changed_by) == (3, "bob")


def test_two_people_type_into_one_field(draft: Draft, ann: User, bob: User) -> None:
    """The second is told what it says by now, and decides; typing the same is no conflict."""
    edit(draft, "web", "max/cpu", "21", ann, was="20")
    with pytest.raises(ConflictError) as conflict:
        edit(draft, "web", "max/cpu", "22", bob, was="20")
    assert conflict.value.now == "21"
    edit(draft, "web", "max/cpu", "21", bob, was="20")
    draft = edit(draft, "web", "max/cpu", "22", bob, was="21")
    assert said(draft) == ["root.prod.web: max cpu 20 → 22"]


def test_names_and_places_that_changed_meanwhile_are_told(draft: Draft, ann: User, bob: User) -> None:
    """Neither is overwritten unseen."""
    root, lab, prod = (row(draft, name) for name in ("root", "lab", "prod"))
    edits.rename(draft=draft, row=prod.pk, name="live", was="prod", actor=ann)
    with pytest.raises(ConflictError, match="live"):
        edits.rename(draft=draft, row=prod.pk, name="production", was="prod", actor=bob)
    edits.move(draft=draft, row=prod.pk, parent=lab.pk, was=root.pk, actor=ann)
    with pytest.raises(ConflictError, match="lab"):
        edits.move(draft=draft, row=prod.pk, parent=row(draft, "api").pk, was=root.pk, actor=bob)


def test_a_subtree_that_somebody_changed_is_not_deleted_unseen(draft: Draft, ann: User, bob: User) -> None:
    """However deep the change is."""
    seen = draft.version
    edit(draft, "web", "max/cpu", "21", ann, was="20")
    with pytest.raises(ConflictError, match="web"):
        edits.delete(draft=draft, row=row(draft, "prod").pk, version=seen, actor=bob)
    draft = edits.delete(draft=draft, row=row(draft, "lab").pk, version=seen, actor=bob)
    assert row(draft, "web")


def test_a_draft_that_changed_since_it_was_read_is_not_published(draft: Draft, ann: User, bob: User) -> None:
    """What is published is what the publisher has seen."""
    seen = edit(draft, "web", "max/cpu", "21", ann, was="20").version
    edit(draft, "web", "delay", "1m", bob, was="30s")
    with pytest.raises(StaleError):
        edits.publish_draft(draft=draft, version=seen, reason="why", actor=ann)


def test_a_draft_on_a_former_revision_is_not_published(draft: Draft, hierarchy: Hierarchy, ann: User) -> None:
    """It would undo the other one."""
    draft = edit(draft, "web", "max/cpu", "21", ann, was="20")
    publish(hierarchy=hierarchy, tree=tree(TREE | {"new": queue(1)}), author=None, reason="other")
    with pytest.raises(OutdatedError) as outdated:
        edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=ann)
    assert outdated.value.current is not None
    assert outdated.value.current.number == 2


# Revisions


def test_publishing_what_is_in_force_changes_nothing(hierarchy: Hierarchy) -> None:
    """No revision, no entry in the audit log."""
    again = publish(hierarchy=hierarchy, tree=tree(TREE), author=None, reason="again")
    assert again == hierarchy.current
    assert (Revision.objects.count(), AuditEvent.objects.count()) == (1, 1)


def test_publishing_onto_another_revision_than_the_one_in_force_is_refused(hierarchy: Hierarchy) -> None:
    """The lost update of two pipelines."""
    seen = hierarchy.current_id
    publish(hierarchy=hierarchy, tree=tree({"a": queue(1)}), author=None, reason="one", onto=seen)
    with pytest.raises(OutdatedError):
        publish(hierarchy=hierarchy, tree=tree({"b": queue(1)}), author=None, reason="other", onto=seen)


def test_rolling_back_restores_the_canonical_bytes(hierarchy: Hierarchy) -> None:
    """As a new revision; and rolling that back, the ones before."""
    first = hierarchy.current
    assert first is not None
    second = publish(hierarchy=hierarchy, tree=tree({"a": queue(1)}), author=None, reason="other")
    third = roll_back(to=first, author=None, reason="back")
    fourth = roll_back(to=second, author=None, reason="forth")
    assert (third.number, third.document, third.source) == (3, first.document, first.source)
    assert (fourth.number, fourth.document) == (4, second.document)


def test_an_invalid_tree_is_published_by_no_way(hierarchy: Hierarchy) -> None:
    """Not a tree that contradicts itself, not a policy that this version can't decide by."""
    from engine.model.notes import ImportFailure  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import Terms  # noqa: PLC0415

    with pytest.raises(ImportFailure):
        publish(hierarchy=hierarchy, tree=tree({"a": queue(2, max=1)}), author=None, reason="r")
    for terms in (Terms("no-such"), Terms("fence", "design", {"no": 1})):
        with pytest.raises(ValidationError):
            publish(hierarchy=hierarchy, tree=tree({"a": queue(2)}), author=None, reason="r", terms=terms)
    assert Revision.objects.count() == 1


def test_rules_and_templates_stay_with_their_queues(hierarchy: Hierarchy, ann: User) -> None:
    """Also of a queue that is moved: a draft loses nothing that it does not show as a field."""
    template = Settings(guaranteed={"cpu": 1_000})
    shape = tree(TREE | {"prod": queue({"cpu": 40}, template=template), "lab": queue(template=Settings())})
    ruled = QueueTree(shape.queues.values(), [Rule(name=RuleName.USER, create=True)])
    publish(hierarchy=hierarchy, tree=ruled, author=None, reason="with rules")
    draft = edits.start(hierarchy=hierarchy, name="x", author=ann)
    assert state(draft).changes == ()
    lab, prod = row(draft, "lab"), row(draft, "prod")
    draft = edits.move(draft=draft, row=lab.pk, parent=prod.pk, was=lab.parent_id or 0, actor=ann)
    edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=ann)
    hierarchy.refresh_from_db()
    assert hierarchy.current is not None
    after = tree_of(hierarchy.current)
    assert (after["root.prod"].template, after["root.prod.lab"].template) == (template, Settings())
    assert after.placement == ruled.placement


def test_many_cells_are_one_act_or_none(draft: Draft) -> None:
    """What one cell may not say keeps the others from being stored; what all may say is undone at once."""
    api, web = row(draft, "api"), row(draft, "web")
    wanted = [Cell(one.pk, "priority_offset", "7", "") for one in (api, web)]
    with pytest.raises(ValidationError):
        edits.edit_cells(draft=draft, cells=[*wanted, Cell(api.pk, "no such setting", "7", "")], actor=draft.author)
    with pytest.raises(ConflictError):
        edits.edit_cells(draft=draft, cells=[*wanted, Cell(web.pk, "delay", "1s", "5s")], actor=draft.author)
    assert state(draft).changes == ()
    now = edits.edit_cells(draft=draft, cells=wanted, actor=draft.author)
    assert now.version == draft.version + 1
    assert len(state(now).changes) == 2
    undo(draft=now, actor=draft.author)
    assert state(now).changes == ()
