"""Where the site wants it, nothing is published that only its author has looked at."""

import pytest
from django.core.exceptions import ValidationError

from scheduler_admin.accounts.models import ApiToken, AuditEvent, Membership, Tenant, User
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.edits import StaleError
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.services.hierarchies import publish, roll_back
from tests.builders import queue, tree
from tests.pages.queues.drafts import row
from tests.worker.conftest import TREE, add_cluster

pytestmark = pytest.mark.django_db
WIDER = tree({"prod": queue("8"), "test": queue("2")})


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create(username="ada", role=User.Role.ADMIN)


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create(username="bob", role=User.Role.ADMIN)


@pytest.fixture
def first(db: None) -> Revision:
    """In force; from now on admins need a second person."""
    hierarchy = add_cluster(mode="observe").hierarchy
    assert hierarchy is not None
    assert hierarchy.current is not None
    change_site(second_for_admins=True, reason="four eyes")
    return hierarchy.current


@pytest.fixture
def draft(ada: User, first: Revision) -> Draft:
    """Ada's, with one change in it."""
    draft = edits.start(hierarchy=first.hierarchy, name="wider", author=ada)
    return change(draft, ada, "8")


def change(draft: Draft, by: User, cores: str) -> Draft:
    was = row(draft, "prod").settings.get("guaranteed/cpu", "")
    return edits.edit(draft=draft, row=row(draft, "prod").pk, setting="guaranteed/cpu", text=cores, was=was, actor=by)


def published(draft: Draft, by: User) -> Revision:
    return edits.publish_draft(draft=draft, version=draft.version, reason="room", actor=by)


def test_nobody_publishes_alone(draft: Draft, ada: User) -> None:
    with pytest.raises(ValidationError, match="second person"):
        published(draft, ada)
    edits.approve(draft=draft, version=draft.version, actor=ada)
    with pytest.raises(ValidationError, match="second person"):
        published(draft, ada)
    assert Revision.objects.count() == 1


def test_what_somebody_else_approved_is_published(draft: Draft, ada: User, bob: User) -> None:
    edits.approve(draft=draft, version=draft.version, actor=bob)
    assert published(draft, ada).number == 2
    assert AuditEvent.objects.get(verb="draft.approve").actor_name == "bob"


def test_a_change_takes_the_approval_back(draft: Draft, ada: User, bob: User) -> None:
    edits.approve(draft=draft, version=draft.version, actor=bob)
    changed = change(draft, ada, "9")
    assert not changed.approved
    with pytest.raises(ValidationError, match="second person"):
        published(changed, ada)


def test_nobody_approves_what_they_have_not_read(draft: Draft, ada: User, bob: User) -> None:
    read = draft.version
    change(draft, ada, "9")
    with pytest.raises(StaleError):
        edits.approve(draft=draft, version=read, actor=bob)


@pytest.fixture
def eve(db: None) -> User:
    """Changes what is below Test, and sees nothing else."""
    eve = User.objects.create(username="eve")
    tenant = Tenant.objects.create(name="test", subtrees=["root.test"])
    Membership.objects.create(user=eve, tenant=tenant, role=Membership.Role.EDITOR)
    return eve


def test_nobody_approves_what_is_not_theirs_to_change(draft: Draft, ada: User, eve: User) -> None:
    """An editor of one subtree is no second person for another."""
    with pytest.raises(ValidationError):
        edits.approve(draft=draft, version=draft.version, actor=eve)
    with pytest.raises(ValidationError, match="second person"):
        published(draft, ada)


def test_nobody_approves_what_can_not_be_read(draft: Draft, ada: User, bob: User) -> None:
    changed = change(draft, ada, "some")
    with pytest.raises(ValidationError, match="some"):
        edits.approve(draft=changed, version=changed.version, actor=bob)


def test_what_others_typed_wrong_is_not_told_to_who_does_not_see_it(draft: Draft, ada: User, eve: User) -> None:
    changed = change(draft, ada, "canary")
    for act in (published, lambda draft, by: edits.approve(draft=draft, version=draft.version, actor=by)):
        with pytest.raises(ValidationError, match="Draft wider has errors") as refused:
            act(changed, eve)
        assert "canary" not in str(refused.value)


def test_a_whole_tree_is_not_published_past_it(first: Revision, ada: User) -> None:
    with pytest.raises(ValidationError, match="must approve this in a draft first"):
        publish(hierarchy=first.hierarchy, tree=WIDER, author=ada, reason="by script")
    assert publish(hierarchy=first.hierarchy, tree=TREE, author=ada, reason="the same").pk == first.pk


def test_a_token_for_a_subtree_does_not_go_past_it(first: Revision, ada: User) -> None:
    """Whoever made it is an admin all the same."""
    ada.token = ApiToken(user=ada, scopes=[ApiToken.Scope.WRITE], subtree="root")
    with pytest.raises(ValidationError, match="must approve this in a draft first"):
        publish(hierarchy=first.hierarchy, tree=WIDER, author=ada, reason="by script")


def test_going_back_is_in_haste_and_needs_nobody(draft: Draft, first: Revision, ada: User, bob: User) -> None:
    edits.approve(draft=draft, version=draft.version, actor=bob)
    published(draft, ada)
    assert roll_back(to=first, author=ada, reason="it went wrong").number == 3


def test_where_nobody_wants_it_nobody_has_to(draft: Draft, ada: User) -> None:
    change_site(second_for_admins=False, second_for_editors=True, reason="editors alone")
    assert published(draft, ada).number == 2
