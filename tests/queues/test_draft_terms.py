"""What a draft says beside its queues: by which policy it decides, with which parameters; and its templates."""

import pytest
from django.core.exceptions import ValidationError

from engine.model.queue_tree import Settings
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.merge import choose, merge_draft
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.tree_document import text_of
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import Terms, publish, terms_of, tree_of
from tests.builders import queue, tree
from tests.queues.conftest import TREE

FOREIGN = Terms("fence", "yunikorn", {})


def put(hierarchy: Hierarchy, terms: Terms, **queues: object) -> None:
    """Somebody publishes TREE, with other queues, decided otherwise."""
    hierarchy.refresh_from_db()
    publish(hierarchy=hierarchy, tree=tree(TREE | queues), author=None, reason="theirs", terms=terms)  # type: ignore[operator]


def fresh(draft: Draft) -> Draft:
    """As it is now."""
    return Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)


def set_to(draft: Draft, setting: str, text: str, by: User) -> Draft:
    """Choose it over what it says."""
    return set_term(draft=draft, setting=setting, text=text, was=text_of(fresh(draft), setting), actor=by)


def differs(draft: Draft) -> list[tuple[str, str, str, str]]:
    """What it changes beside its queues."""
    return [(one.field, one.resource, one.before, one.after) for one in state(draft).beside]


def published(draft: Draft, by: User) -> Revision:
    """The revision that it becomes."""
    return edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=by)


def typed(draft: Draft, name: str, setting: str, text: str, by: User) -> Draft:
    """Type a setting of a queue."""
    row = DraftQueue.objects.get(draft=draft, name=name)
    return edits.edit(draft=draft, row=row.pk, setting=setting, text=text, was=text_of(row, setting), actor=by)


class TestHowItDecides:
    """Policy, dialect and parameters are part of a draft, and are published with it."""

    def test_a_new_draft_says_what_its_revision_says(self, hierarchy: Hierarchy, ann: User) -> None:
        put(hierarchy, Terms("fence", "design", {"last_resort": "any", "check_delay": False}))
        draft = edits.start(hierarchy=hierarchy, name="x", author=ann)
        assert draft.parameters == {"last_resort": "any", "check_delay": "false"}
        assert not state(draft).differs

    def test_a_parameter_is_published_with_it(self, draft: Draft, ann: User) -> None:
        draft = set_to(draft, "parameters/last_resort", "any", ann)
        assert differs(draft) == [("parameters", "last_resort", "", "any")]
        assert state(draft).publishable
        assert terms_of(published(draft, ann)) == Terms("fence", "design", {"last_resort": "any"})

    def test_a_policy_brings_its_dialect(self, draft: Draft, ann: User) -> None:
        draft = set_to(draft, "policy", "priority", ann)
        assert differs(draft) == [("policy", "", "fence", "priority"), ("dialect", "", "design", "kube-scheduler")]
        assert terms_of(published(draft, ann)) == Terms("priority", "kube-scheduler", {})

    def test_what_another_policy_does_not_have_comes_back_with_its_own(self, draft: Draft, ann: User) -> None:
        draft = set_to(draft, "parameters/last_resort", "any", ann)
        draft = set_to(draft, "policy", "priority", ann)
        assert state(draft).terms.parameters == {}
        draft = set_to(draft, "policy", "fence", ann)
        assert state(draft).terms == Terms("fence", "design", {"last_resort": "any"})

    @pytest.mark.parametrize(
        ("setting", "text", "said"),
        [
            ("policy", "later", "This version does not support policy later."),
            ("dialect", "kube-scheduler", "The dialect of policy fence must be one of: design, yunikorn."),
            ("parameters/check_delay", "perhaps", "perhaps is not allowed. Allowed values: true, false."),
        ],
    )
    def test_what_can_not_be_is_an_error_at_its_field(
        self, draft: Draft, ann: User, setting: str, text: str, said: str
    ) -> None:
        draft = set_to(draft, setting, text, ann)
        assert [(note.field, note.text) for note in state(draft).errors] == [(setting, said)]
        with pytest.raises(ValidationError):
            published(draft, ann)

    @pytest.mark.parametrize("setting", ["parameters/speed", "base", "hierarchy", "name", "parameters"])
    def test_what_there_is_not_is_refused(self, draft: Draft, ann: User, setting: str) -> None:
        with pytest.raises(ValidationError, match="There is no setting"):
            set_term(draft=draft, setting=setting, text="9", was="", actor=ann)

    def test_what_only_explains_is_an_error_where_a_cluster_enforces(self, draft: Draft, ann: User) -> None:
        draft = set_to(draft, "dialect", "yunikorn", ann)
        assert not state(draft).errors
        Cluster.objects.create(name="prod", hierarchy=draft.hierarchy, mode="enforce")
        (note,) = state(draft).errors
        assert (note.field, note.message.params["name"]) == ("dialect", "prod")

    def test_nobody_overwrites_what_somebody_else_chose(self, draft: Draft, ann: User, bob: User) -> None:
        set_to(draft, "dialect", "yunikorn", bob)
        with pytest.raises(ConflictError) as conflict:
            set_term(draft=draft, setting="dialect", text="kube-scheduler", was="design", actor=ann)
        assert (conflict.value.now, conflict.value.by) == ("yunikorn", "bob")


class TestMergingHowItDecides:
    """With a revision that came into force meanwhile, setting by setting."""

    def test_what_only_they_changed_comes_in(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        draft = set_to(draft, "parameters/last_resort", "any", ann)
        put(hierarchy, Terms("fence", "design", {"check_delay": False}))
        draft = merge_draft(draft=draft, actor=ann)
        assert (draft.conflicts, state(draft).terms.parameters) == ([], {"last_resort": "any", "check_delay": False})
        assert differs(draft) == [("parameters", "last_resort", "", "any")]

    @pytest.mark.parametrize(("side", "kept"), [("mine", "any"), ("theirs", "never")])
    def test_what_both_changed_is_chosen(
        self, hierarchy: Hierarchy, draft: Draft, ann: User, side: str, kept: str
    ) -> None:
        draft = set_to(draft, "parameters/last_resort", "any", ann)
        put(hierarchy, Terms("fence", "design", {"last_resort": "never"}))
        draft = merge_draft(draft=draft, actor=ann)
        assert [(one["queue"], one["setting"]) for one in draft.conflicts] == [("", "parameters/last_resort")]
        draft = choose(draft=draft, queue="", setting="parameters/last_resort", side=side, actor=ann)  # type: ignore[arg-type]
        assert (draft.conflicts, fresh(draft).parameters) == ([], {"last_resort": kept})


class TestTemplates:
    """What leaves that come into being below a queue are set to."""

    def test_it_is_typed_setting_by_setting(self, draft: Draft, ann: User) -> None:
        for setting, text in (("guaranteed/cpu", "1500m"), ("max/nvidia.com/gpu", "2"), ("delay", "10s")):
            draft = typed(draft, "prod", f"template/{setting}", text, ann)
        template = tree_of(published(draft, ann))["root.prod"].template
        assert template == Settings(guaranteed={"cpu": 1500}, max={"nvidia.com/gpu": 2}, delay_ms=10_000)

    def test_one_that_sets_nothing_is_one_all_the_same(self, draft: Draft, ann: User) -> None:
        draft = typed(draft, "prod", "template/own", "true", ann)
        assert tree_of(published(draft, ann))["root.prod"].template == Settings()

    def test_without_its_last_setting_there_is_none(self, hierarchy: Hierarchy, ann: User) -> None:
        put(hierarchy, Terms(), prod=queue(40, fence=True, template=Settings(delay_ms=1000, evict_uncontrolled=True)))
        draft = edits.start(hierarchy=hierarchy, name="x", author=ann)
        assert not state(draft).differs
        draft = typed(draft, "prod", "template/evict_uncontrolled", "", ann)
        draft = typed(draft, "prod", "template/delay", "", ann)
        assert tree_of(published(draft, ann))["root.prod"].template is None

    def test_a_mistyped_amount_is_an_error_at_its_field(self, draft: Draft, ann: User) -> None:
        draft = typed(draft, "prod", "template/max/cpu", "many", ann)
        (note,) = state(draft).errors
        assert (note.path, note.field, note.text) == ("root.prod", "template/max/cpu", "many is not a valid amount.")
        (change,) = state(draft).changes
        assert [(one.resource, one.after) for one in change.settings] == [("", "max cpu many")]

    def test_it_is_merged_setting_by_setting(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        draft = typed(draft, "prod", "template/max/cpu", "4", ann)
        put(hierarchy, Terms(), prod=queue(40, fence=True, template=Settings(delay_ms=1000, max={"cpu": 5000})))
        draft = merge_draft(draft=draft, actor=ann)
        assert [(one["setting"], one["theirs"], one["mine"]) for one in draft.conflicts] == [
            ("template/max/cpu", "5", "4")
        ]
        draft = choose(draft=draft, queue="root.prod", setting="template/max/cpu", side="theirs", actor=ann)
        prod = DraftQueue.objects.get(draft=draft, name="prod")
        assert (prod.settings["template/delay"], prod.settings["template/max/cpu"]) == ("1s", "5")

    @pytest.mark.parametrize("setting", ["template/namespaces", "template/parent_declared", "template/max", "template"])
    def test_it_has_no_setting_that_leaves_can_not_take_from_it(self, draft: Draft, ann: User, setting: str) -> None:
        row = DraftQueue.objects.get(draft=draft, name="prod")
        with pytest.raises(ValidationError, match="There is no setting"):
            edits.edit(draft=draft, row=row.pk, setting=setting, text="x", was="", actor=ann)
