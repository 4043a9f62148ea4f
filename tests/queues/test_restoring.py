"""A queue that was deleted comes back with all below it, as it was, in a draft."""

import msgspec
import pytest
from django.core.exceptions import ValidationError

from engine.model.queue_tree import Queue, QueueTree, Settings
from scheduler_admin.accounts.models import AuditEvent, Membership, Tenant, User
from scheduler_admin.accounts.scopes import EVERYTHING, scope_of
from scheduler_admin.queues.drafts.edits import publish_draft
from scheduler_admin.queues.drafts.merge import merge_draft
from scheduler_admin.queues.drafts.tree_document import queues_of
from scheduler_admin.queues.models import Draft, Hierarchy, Revision
from scheduler_admin.queues.services import restore as restoring
from scheduler_admin.queues.services.hierarchies import publish, tree_of
from scheduler_admin.queues.services.restore import restorable, restore
from tests.builders import queue, tree
from tests.queues.conftest import TREE

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(hierarchy: Hierarchy) -> Revision:
    """Of TREE; prod is gone since, with all below it."""
    put(hierarchy, {"lab": TREE["lab"]})
    return Revision.objects.get(number=1)


def put(hierarchy: Hierarchy, queues: dict[str, Queue]) -> Revision:
    """Put another tree in force."""
    return publish(hierarchy=hierarchy, tree=tree(queues), author=None, reason="another")


def paths(draft: Draft) -> list[str]:
    """All queues of a draft."""
    return sorted(one.path for one in queues_of(draft))


def published(draft: Draft, actor: User) -> QueueTree:
    """Publish it as it is."""
    return tree_of(publish_draft(draft=draft, version=draft.version, reason="back again", actor=actor))


def refusal(first: Revision, path: str, author: User) -> str:
    """Why it can't come back. No draft is left behind."""
    with pytest.raises(ValidationError) as refused:
        restore(revision=first, path=path, author=author)
    assert not Draft.objects.exists()
    return " ".join(refused.value.messages)


def editor(subtree: str) -> User:
    """Somebody who sees everything and changes one subtree below its top."""
    person = User.objects.create_user("eve", role=User.Role.AUDITOR)
    tenant = Tenant.objects.create(name="eves", subtrees=[subtree], namespaces=["lab"])
    Membership.objects.create(user=person, tenant=tenant, role=Membership.Role.EDITOR)
    return person


class TestWhatComesBack:
    """The subtree, to the letter, on the tree in force."""

    def test_a_queue_comes_back_with_all_below_it(self, first: Revision, ann: User) -> None:
        draft = restore(revision=first, path="root.prod", author=ann)
        assert (draft.name, draft.base.number, draft.author) == ("Restore prod from revision 1", 2, ann)
        assert paths(draft) == ["root", "root.lab", "root.prod", "root.prod.api", "root.prod.web"]
        assert published(draft, ann).queues == tree_of(first).queues

    def test_what_changed_elsewhere_stays_changed(self, hierarchy: Hierarchy, first: Revision, ann: User) -> None:
        put(hierarchy, {"lab": queue("7"), "new": queue("1")})
        found = published(restore(revision=first, path="root.prod", author=ann), ann)
        assert (found["root.lab"].guaranteed, "root.new" in found) == ({"cpu": 7000}, True)
        assert found["root.prod.web"] == tree_of(first)["root.prod.web"]

    def test_where_those_above_it_are_gone_the_topmost_comes_back(self, first: Revision, ann: User) -> None:
        assert "root.prod.api" in paths(restore(revision=first, path="root.prod.web", author=ann))

    def test_one_below_a_queue_that_is_there_comes_back_alone(self, hierarchy: Hierarchy, ann: User) -> None:
        put(hierarchy, {path: one for path, one in TREE.items() if path != "prod.web"})
        first = Revision.objects.get(number=1)
        assert restorable(first, EVERYTHING) == {"root.prod.web"}
        assert published(restore(revision=first, path="root.prod.web", author=ann), ann).queues == tree_of(first).queues

    def test_its_template_comes_along_through_a_merge_as_well(self, hierarchy: Hierarchy, ann: User) -> None:
        """Drafts change no template, and this queue's is not in the base."""
        template = Settings(max={"cpu": 4000})
        grown = msgspec.structs.replace(queue(), template=template, parent_declared=True)
        put(hierarchy, {"users": grown, "lab": queue()})
        put(hierarchy, {"lab": queue()})
        draft = restore(revision=Revision.objects.get(number=2), path="root.users", author=ann)
        put(hierarchy, {"lab": queue("2")})
        found = published(merge_draft(draft=draft, actor=ann), ann)
        assert (found["root.users"].template, found["root.lab"].guaranteed) == (template, {"cpu": 2000})

    def test_the_audit_log_tells_which_from_where(self, first: Revision, ann: User) -> None:
        restore(revision=first, path="root.prod.web", author=ann)
        event = AuditEvent.objects.get(verb="draft.restore")
        assert event.details == {"queue": "root.prod", "revision": 1}


class TestWhatDoesNot:
    """Each with its sentence, and without a draft."""

    def test_one_that_is_there_again(self, hierarchy: Hierarchy, first: Revision, ann: User) -> None:
        put(hierarchy, {"prod": queue("1")})
        assert refusal(first, "root.prod", ann) == "Queue root.prod already exists."
        assert refusal(first, "root", ann) == "Queue root already exists."

    def test_one_whose_name_is_taken_in_other_letters(self, hierarchy: Hierarchy, first: Revision, ann: User) -> None:
        """Names that differ by case alone are one name."""
        put(hierarchy, {"PROD": queue("1")})
        assert refusal(first, "root.prod.web", ann) == "Queue root.PROD already exists."

    @pytest.mark.parametrize("path", ["root.nosuch", "", "root.prod."])
    def test_one_that_never_was(self, first: Revision, ann: User, path: str) -> None:
        assert refusal(first, path, ann) == "Revision 1 does not contain this queue."

    def test_more_queues_than_a_tree_may_have(
        self, first: Revision, ann: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(restoring, "MOST_QUEUES", 4)
        assert refusal(first, "root.prod", ann) == "There are more than 4 queues."


class TestRights:
    """Who changes a subtree restores below its top."""

    def test_below_the_top(self, hierarchy: Hierarchy) -> None:
        put(hierarchy, {"prod": TREE["prod"], "prod.web": TREE["prod.web"]})
        first, eve = Revision.objects.get(number=1), editor("root.prod")
        assert restorable(first, scope_of(eve, "edit")) == {"root.prod.api"}
        draft = restore(revision=first, path="root.prod.api", author=eve)
        assert "root.prod.api" in published(draft, eve)

    def test_not_the_top_itself_nor_what_lies_outside(self, first: Revision) -> None:
        eve = editor("root.prod")
        assert restorable(first, scope_of(eve, "edit")) == frozenset()
        assert refusal(first, "root.prod.web", eve).startswith("root.prod: Only users who can change the parent queue")
        Tenant.objects.update(subtrees=["root.lab"])
        eve = User.objects.get(pk=eve.pk)
        assert refusal(first, "root.prod", eve) == "root.prod: This is outside the subtrees that you can change."

    def test_nothing_where_there_is_nothing_in_force(self, first: Revision) -> None:
        first.hierarchy.current = None
        assert restorable(first, EVERYTHING) == frozenset()
