"""A queue that is renamed or moved stays itself: it says what it was called, and those who have it follow."""

import pytest
from django.core.exceptions import ValidationError

from engine.formats.tree_json.diff import ChangeKind
from scheduler_admin.accounts.former_paths import renames
from scheduler_admin.accounts.models import ApiToken, AuditEvent, FormerPath, Membership, Tenant, User, WorkloadIdentity
from scheduler_admin.accounts.scopes import EVERYTHING, scope_of, scope_of_tenant
from scheduler_admin.queues.drafts import copies, edits, merge, undo
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.selectors.queues import revisions
from scheduler_admin.queues.selectors.revisions import difference
from scheduler_admin.queues.services.hierarchies import publish, roll_back, tree_of
from scheduler_admin.queues.services.restore import restorable, restore
from tests.builders import queue, tree
from tests.queues.conftest import TREE

pytestmark = pytest.mark.django_db


def row(draft: Draft, name: str) -> DraftQueue:
    """The queue of that name."""
    return draft.queues.get(name=name)


def rename(draft: Draft, was: str, name: str, actor: User) -> Draft:
    """Call a queue something else."""
    return edits.rename(draft=draft, row=row(draft, was).pk, name=name, was=was, actor=actor)


def move(draft: Draft, name: str, parent: str, actor: User) -> Draft:
    """Put a queue below another."""
    own = row(draft, name)
    to = row(draft, parent).pk
    return edits.move(draft=draft, row=own.pk, parent=to, was=own.parent_id or 0, actor=actor)


def put(draft: Draft, actor: User) -> Revision:
    """Publish it."""
    return edits.publish_draft(draft=draft, version=draft.version, reason="why", actor=actor)


@pytest.fixture
def renamed(draft: Draft, ann: User) -> Revision:
    """Prod is called Live."""
    return put(rename(draft, "prod", "live", ann), ann)


class TestDrafts:
    """What a queue was called is a setting like any other, which renaming and moving set."""

    def test_renaming_keeps_the_path_of_the_queue_and_of_none_below_it(self, draft: Draft, ann: User) -> None:
        draft = rename(draft, "prod", "live", ann)
        kept = {one.name: text for one in draft.queues.all() if (text := one.settings.get("former_paths"))}
        assert kept == {"live": "root.prod"}
        assert [(one.kind, one.path, one.former) for one in state(draft).changes] == [
            (ChangeKind.MOVED, "root.live", "root.prod")
        ]

    def test_names_in_between_that_were_never_in_force_are_not_kept(self, draft: Draft, ann: User) -> None:
        draft = rename(rename(draft, "prod", "live", ann), "live", "alive", ann)
        assert row(draft, "alive").settings.get("former_paths", "") == "root.prod"

    def test_renaming_back_leaves_nothing(self, draft: Draft, ann: User) -> None:
        draft = rename(rename(draft, "prod", "live", ann), "live", "prod", ann)
        assert row(draft, "prod").settings.get("former_paths", "") == ""
        assert state(draft).changes == ()

    def test_moving_keeps_it_and_undoing_takes_it_back(self, draft: Draft, ann: User) -> None:
        draft = move(draft, "lab", "prod", ann)
        assert row(draft, "lab").settings.get("former_paths", "") == "root.lab"
        draft, _what = undo.undo(draft=draft, actor=ann)
        assert row(draft, "lab").settings.get("former_paths", "") == ""

    def test_a_path_is_kept_by_the_queue_that_had_it_last(self, renamed: Revision, ann: User) -> None:
        draft = edits.start(hierarchy=renamed.hierarchy, name="again", author=ann)
        draft, _made = edits.add(draft=draft, parent=row(draft, "root").pk, name="prod", actor=ann)
        later = put(draft, ann)
        draft = edits.start(hierarchy=later.hierarchy, name="once more", author=ann)
        draft = rename(draft, "prod", "second", ann)
        kept = {one.name: text for one in draft.queues.all() if (text := one.settings.get("former_paths"))}
        assert kept == {"second": "root.prod"}

    def test_it_can_be_taken_away(self, draft: Draft, ann: User) -> None:
        draft = rename(draft, "prod", "live", ann)
        typed = {"setting": "former_paths", "text": "", "was": "root.prod"}
        draft = edits.edit(draft=draft, row=row(draft, "live").pk, actor=ann, **typed)
        assert tree_of(put(draft, ann)).former_paths == {}

    def test_what_is_no_path_is_an_error_there(self, draft: Draft, ann: User) -> None:
        typed = {"setting": "former_paths", "text": "training", "was": ""}
        draft = edits.edit(draft=draft, row=row(draft, "lab").pk, actor=ann, **typed)
        assert [(note.path, note.field) for note in state(draft).errors] == [("root.lab", "former_paths/0")]

    def test_a_copy_has_none(self, renamed: Revision, ann: User) -> None:
        draft = edits.start(hierarchy=renamed.hierarchy, name="copy", author=ann)
        top, live = row(draft, "root"), row(draft, "live")
        draft, made = copies.copy(draft=draft, row=live.pk, parent=top.pk, actor=ann)
        assert "former_paths" not in made.settings


class TestRevisions:
    """A rename is told as one."""

    def test_against_the_one_before_and_against_the_one_after(self, renamed: Revision) -> None:
        first = renamed.parent
        there = [(one.kind, one.path, one.former) for one in difference(first, renamed)]
        back = [(one.kind, one.path, one.former) for one in difference(renamed, first)]
        assert there == [(ChangeKind.MOVED, "root.live", "root.prod")]
        assert back == [(ChangeKind.MOVED, "root.prod", "root.live")]

    def test_the_queue_has_its_revisions_of_before(self, renamed: Revision, ann: User) -> None:
        found = revisions(ann, renamed, "root.live.web")
        assert [(one.number, queue and queue.path) for one, queue in found] == [
            (2, "root.live.web"),
            (1, "root.prod.web"),
        ]

    def test_going_back_keeps_the_name_that_was_in_between(self, renamed: Revision, ann: User) -> None:
        back = roll_back(to=renamed.hierarchy.revisions.get(number=1), author=ann, reason="back")
        assert tree_of(back).former_paths == {"root.live": "root.prod"}
        assert tree_of(back).now("root.live.web") == "root.prod.web"

    def test_it_is_no_queue_to_be_restored(self, renamed: Revision) -> None:
        first = renamed.hierarchy.revisions.get(number=1)
        assert restorable(first, EVERYTHING) == frozenset()

    def test_what_was_below_it_comes_back_below_it(self, renamed: Revision, ann: User) -> None:
        draft = edits.start(hierarchy=renamed.hierarchy, name="less", author=ann)
        less = put(edits.delete(draft=draft, row=row(draft, "api").pk, version=draft.version, actor=ann), ann)
        first = less.hierarchy.revisions.get(number=1)
        assert restorable(first, EVERYTHING) == {"root.prod.api"}
        back = restore(revision=first, path="root.prod.api", author=ann)
        assert [(one.kind, one.path) for one in state(back).changes] == [(ChangeKind.ADDED, "root.live.api")]


@pytest.fixture
def tenant(hierarchy: Hierarchy) -> Tenant:
    """Who has Prod."""
    return Tenant.objects.create(name="shop", namespaces=["shop"], subtrees=["root.prod"])


class TestRights:
    """Whoever was given a queue has it by its new path, and what happened under the old one."""

    def test_of_a_tenant_and_its_people_follow(self, tenant: Tenant, draft: Draft, ann: User) -> None:
        person = User.objects.create_user("tim")
        Membership.objects.create(user=person, tenant=tenant, role=Membership.Role.TENANT)
        put(rename(draft, "prod", "live", ann), ann)
        tenant.refresh_from_db()
        assert tenant.subtrees == ["root.live"]
        assert scope_of_tenant(tenant).before(renames()).subtrees == {"root.live", "root.prod"}
        found = scope_of(User.objects.get(pk=person.pk), "view")
        assert found.has_path("root.live.web")
        assert found.has_path("root.prod.web")
        assert not found.has_path("root.lab")
        assert AuditEvent.objects.get(verb="tenant.follow").details["before"] == ["root.prod"]

    def test_of_an_editor_are_no_wider_than_the_queue(self, tenant: Tenant, draft: Draft, ann: User) -> None:
        person = User.objects.create_user("tim")
        Membership.objects.create(user=person, tenant=tenant, role=Membership.Role.EDITOR)
        put(rename(draft, "prod", "live", ann), ann)
        assert scope_of(User.objects.get(pk=person.pk), "edit").subtrees == {"root.live"}

    def test_of_a_token_follow(self, draft: Draft, ann: User) -> None:
        token = ApiToken.objects.create(user=ann, name="ci", scopes=["read"], subtree="root.prod.web", digest="d")
        put(rename(draft, "prod", "live", ann), ann)
        token.refresh_from_db()
        assert token.subtree == "root.live.web"

    def test_of_a_workload_identity_follow(self, draft: Draft, ann: User) -> None:
        given = {"name": "queues", "issuer": "https://ci.example.com", "audience": "us", "claims": {"sub": "repo:main"}}
        identity = WorkloadIdentity.objects.create(user=ann, scopes=["read"], subtree="root.prod.web", **given)
        put(rename(draft, "prod", "live", ann), ann)
        identity.refresh_from_db()
        assert identity.subtree == "root.live.web"
        assert AuditEvent.objects.get(verb="workload.follow").target == "queues"

    def test_to_the_former_path_end_where_another_queue_gets_it(self, tenant: Tenant, renamed: Revision) -> None:
        shape = {"live": queue({"cpu": 40}, former_paths=("root.prod",)), "prod": queue()}
        publish(hierarchy=renamed.hierarchy, tree=tree(shape), author=None, reason="another")
        tenant.refresh_from_db()
        assert scope_of_tenant(tenant).before(renames()).subtrees == {"root.live"}
        assert not FormerPath.objects.exists()

    def test_stay_where_another_hierarchy_has_the_path(self, tenant: Tenant, draft: Draft, ann: User) -> None:
        other = Hierarchy.objects.create(name="other")
        publish(hierarchy=other, tree=tree(TREE), author=None, reason="first")
        put(rename(draft, "prod", "live", ann), ann)
        tenant.refresh_from_db()
        assert tenant.subtrees == ["root.live", "root.prod"]

    def test_follow_back(self, tenant: Tenant, renamed: Revision, ann: User) -> None:
        roll_back(to=renamed.hierarchy.revisions.get(number=1), author=ann, reason="back")
        tenant.refresh_from_db()
        assert tenant.subtrees == ["root.prod"]


class TestEditors:
    """Who changes a subtree can't draw other people's pods into it."""

    @pytest.fixture
    def tim(self, tenant: Tenant) -> User:
        """An editor of Prod."""
        person = User.objects.create_user("tim")
        Membership.objects.create(user=person, tenant=tenant, role=Membership.Role.EDITOR)
        return person

    def test_rename_their_queues(self, draft: Draft, hierarchy: Hierarchy, tim: User) -> None:
        own = edits.start(hierarchy=hierarchy, name="tim's", author=tim)
        made = put(rename(own, "web", "www", tim), tim)
        assert tree_of(made)["root.prod.www"].former_paths == ("root.prod.web",)

    def test_type_no_former_paths(self, hierarchy: Hierarchy, tim: User) -> None:
        own = edits.start(hierarchy=hierarchy, name="tim's", author=tim)
        typed = {"setting": "former_paths", "text": "root.secret", "was": ""}
        with pytest.raises(ValidationError, match="You can't add former paths"):
            edits.edit(draft=own, row=row(own, "web").pk, actor=tim, **typed)

    def test_publish_none_from_outside(self, hierarchy: Hierarchy, tim: User) -> None:
        own = edits.start(hierarchy=hierarchy, name="tim's", author=tim)
        own.queues.filter(name="web").update(settings={"former_paths": "root.secret"})
        own.queues.filter(name="web").update(changed_in=own.version + 1)
        with pytest.raises(ValidationError, match="You can't add former paths"):
            put(own, tim)


class TestMerging:
    """Two people: one renames a queue, another changes it meanwhile."""

    def test_what_was_changed_of_it_is_changed_under_its_new_name(
        self, draft: Draft, hierarchy: Hierarchy, ann: User, bob: User
    ) -> None:
        theirs = edits.start(hierarchy=hierarchy, name="bob's", author=bob)
        typed = {"setting": "max/cpu", "text": "30", "was": "20"}
        draft = edits.edit(draft=draft, row=row(draft, "web").pk, actor=ann, **typed)
        put(rename(theirs, "prod", "live", bob), bob)
        merged = merge.merge_draft(draft=draft, actor=ann)
        assert merged.conflicts == []
        assert [(one.kind, one.path) for one in state(merged).changes] == [(ChangeKind.CHANGED, "root.live.web")]
        made = tree_of(put(merged, ann))
        assert made["root.live.web"].max["cpu"] == 30_000
        assert made.former_paths == {"root.prod": "root.live"}

    def test_two_names_are_a_conflict_about_the_queue_of_now(
        self, draft: Draft, hierarchy: Hierarchy, ann: User, bob: User
    ) -> None:
        theirs = edits.start(hierarchy=hierarchy, name="bob's", author=bob)
        draft = rename(draft, "lab", "bench", ann)
        put(rename(theirs, "lab", "desk", bob), bob)
        merged = merge.merge_draft(draft=draft, actor=ann)
        assert [(one["queue"], one["setting"], one["theirs"], one["mine"]) for one in merged.conflicts] == [
            ("root.desk", "name", "desk", "bench")
        ]
        assert row(merged, "bench").settings.get("former_paths", "") == "root.lab, root.desk"
        merged = merge.choose(draft=merged, queue="root.desk", setting="name", side="theirs", actor=ann)
        assert row(merged, "desk").settings.get("former_paths", "") == "root.lab"
