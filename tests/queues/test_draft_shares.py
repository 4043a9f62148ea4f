"""Percentages in drafts: kept as typed, followed where the queue above changes, published as they were shown."""

import pytest
from django.core.exceptions import ValidationError

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.merge import merge_draft
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.drafts.undo import undo
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy
from scheduler_admin.queues.services.hierarchies import publish, tree_of
from tests.builders import queue, tree
from tests.queues.conftest import TREE
from tests.queues.test_draft_terms import fresh, published, set_to, typed


def holding(hierarchy: Hierarchy, name: str = "prod", **amounts: int) -> None:
    """A cluster of the tree that was seen to hold this."""
    cluster, _made = Cluster.objects.get_or_create(name=name, hierarchy=hierarchy)
    ClusterStatus.objects.update_or_create(cluster=cluster, defaults={"capacity": amounts})


def again(hierarchy: Hierarchy, by: User) -> Draft:
    """A draft of what is in force by now."""
    hierarchy.refresh_from_db()
    return edits.start(hierarchy=hierarchy, name="again", author=by)


def guaranteed(draft: Draft, path: str) -> dict[str, int]:
    """What a queue of a draft is guaranteed, as it is shown."""
    shown = state(fresh(draft)).tree
    assert shown is not None
    return shown[path].guaranteed


class TestOfAQueue:
    """Of what the nearest queue above sets."""

    def test_it_is_shown_again_in_a_later_draft_and_follows(
        self, hierarchy: Hierarchy, draft: Draft, ann: User
    ) -> None:
        draft = typed(draft, "web", "guaranteed/cpu", "25%", ann)
        assert tree_of(published(draft, ann))["root.prod.web"].guaranteed["cpu"] == 10_000
        draft = again(hierarchy, ann)
        assert DraftQueue.objects.get(draft=draft, name="web").settings["guaranteed/cpu"] == "25%"
        assert not state(draft).differs
        draft = typed(draft, "prod", "guaranteed/cpu", "60", ann)
        assert tree_of(published(draft, ann))["root.prod.web"].guaranteed["cpu"] == 15_000

    def test_the_same_in_other_words_is_no_conflict(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        published(typed(draft, "web", "guaranteed/cpu", "25%", ann), ann)
        draft = typed(again(hierarchy, ann), "web", "guaranteed/cpu", "25.0 %", ann)
        hierarchy.refresh_from_db()
        assert hierarchy.current is not None
        other = again(hierarchy, ann)
        published(typed(other, "lab", "guaranteed/cpu", "6", ann), ann)
        assert merge_draft(draft=draft, actor=ann).conflicts == []


class TestOfTheCluster:
    """Of what it held when it was typed, or published, until that is chosen anew."""

    def test_what_was_approved_is_published_though_it_was_typed_before_the_cluster_was_read(
        self, hierarchy: Hierarchy, draft: Draft, ann: User, bob: User
    ) -> None:
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        holding(hierarchy, cpu=100_000)
        edits.approve(draft=draft, version=draft.version, actor=bob)
        holding(hierarchy, cpu=200_000)
        assert tree_of(published(fresh(draft), ann))["root.lab"].guaranteed == {"cpu": 7000}

    def test_it_stays_when_the_cluster_grows(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        holding(hierarchy, cpu=100_000)
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        holding(hierarchy, cpu=200_000)
        assert guaranteed(draft, "root.lab") == {"cpu": 7000}
        assert tree_of(published(draft, ann))["root.lab"].guaranteed == {"cpu": 7000}
        draft = again(hierarchy, ann)
        assert not state(draft).differs
        draft = typed(draft, "lab", "delay", "1m", ann)
        assert tree_of(published(draft, ann))["root.lab"].guaranteed == {"cpu": 7000}

    def test_what_it_holds_now_can_be_taken(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        holding(hierarchy, cpu=100_000)
        published(typed(draft, "lab", "guaranteed/cpu", "7%", ann), ann)
        holding(hierarchy, cpu=200_000)
        draft = set_to(again(hierarchy, ann), "capacity/cpu", "200", ann)
        assert [(one.field, one.resource, one.before, one.after) for one in state(fresh(draft)).beside] == [
            ("capacity", "cpu", "100", "200")
        ]
        assert guaranteed(draft, "root.lab") == {"cpu": 14_000}
        undone, _row = undo(draft=draft, actor=ann)
        assert not state(fresh(undone)).differs

    @pytest.mark.parametrize("text", ["150", "", "many"])
    def test_nothing_else_can(self, hierarchy: Hierarchy, draft: Draft, ann: User, text: str) -> None:
        holding(hierarchy, cpu=100_000)
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        with pytest.raises(ValidationError):
            set_to(draft, "capacity/cpu", text, ann)

    def test_undoing_the_percentage_leaves_nothing_behind(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        holding(hierarchy, cpu=100_000)
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        undone, _row = undo(draft=draft, actor=ann)
        assert (fresh(undone).capacity, state(fresh(undone)).differs) == ({}, False)

    def test_nothing_known_is_an_error_until_it_is(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        assert [note.field for note in state(fresh(draft)).errors] == ["guaranteed/cpu"]
        holding(hierarchy, cpu=100_000)
        assert not state(fresh(draft)).errors

    def test_clusters_that_differ_are_an_error_that_says_so(
        self, hierarchy: Hierarchy, draft: Draft, ann: User
    ) -> None:
        holding(hierarchy, cpu=100_000)
        holding(hierarchy, "stage", cpu=50_000)
        draft = typed(draft, "lab", "guaranteed/cpu", "7%", ann)
        assert "have different capacities" in state(fresh(draft)).errors[0].text

    def test_a_cluster_that_was_not_read_does_not_count(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        holding(hierarchy, cpu=100_000)
        Cluster.objects.create(name="new", hierarchy=hierarchy)
        holding(hierarchy, "empty")
        assert guaranteed(typed(draft, "lab", "guaranteed/cpu", "7%", ann), "root.lab") == {"cpu": 7000}

    def test_their_revision_brings_what_it_was_of(self, hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
        holding(hierarchy, cpu=100_000)
        other = typed(again(hierarchy, ann), "lab", "guaranteed/cpu", "7%", ann)
        published(other, ann)
        holding(hierarchy, cpu=200_000)
        draft = merge_draft(draft=fresh(typed(draft, "lab", "delay", "1m", ann)), actor=ann)
        assert (draft.conflicts, guaranteed(draft, "root.lab")) == ([], {"cpu": 7000})


def test_a_tree_that_somebody_publishes_without_them_is_merged(hierarchy: Hierarchy, draft: Draft, ann: User) -> None:
    """The percentage is mine, the queue above theirs."""
    draft = typed(draft, "web", "guaranteed/cpu", "50%", ann)
    changed = tree(TREE | {"prod": queue({"cpu": 30}, fence=True)})
    publish(hierarchy=hierarchy, tree=changed, author=None, reason="less")
    draft = merge_draft(draft=fresh(draft), actor=ann)
    assert guaranteed(draft, "root.prod.web")["cpu"] == 15_000
