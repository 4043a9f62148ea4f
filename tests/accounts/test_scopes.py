"""What a user sees, and how a token's subtree and scopes narrow it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.queue_paths import is_inside
from scheduler_admin.accounts.models import ApiToken, Tenant, User
from scheduler_admin.accounts.scopes import Action, Scope, scope_of
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user, set_memberships

PATHS = st.lists(st.sampled_from(["a", "ab", "b"]), max_size=3).map(lambda names: ".".join(["root", *names]))
NAMESPACES = st.sampled_from(["red", "blue"])
SCOPES = st.builds(
    Scope, everything=st.booleans(), namespaces=st.frozensets(NAMESPACES), subtrees=st.frozensets(PATHS, max_size=3)
)


@given(SCOPES, PATHS, PATHS)
def test_a_narrowed_scope_is_the_part_inside(scope: Scope, subtree: str, path: str) -> None:
    """Of the queues it holds just those inside the subtree."""
    assert scope.within(subtree).has_path(path) == (scope.has_path(path) and is_inside(path, subtree))


@given(SCOPES, PATHS, NAMESPACES, PATHS)
def test_a_narrowed_scope_adds_no_pods(scope: Scope, subtree: str, namespace: str, path: str) -> None:
    """A pod is only ever seen by who saw it before, and only while it runs inside the subtree."""
    narrow = scope.within(subtree)
    if narrow.has_pod(namespace, path):
        assert scope.has_pod(namespace, path)
        assert is_inside(path, subtree)


def test_a_subtree_is_no_prefix() -> None:
    """root.ab is not inside root.a."""
    assert not Scope(subtrees=frozenset({"root.a"})).has_path("root.ab")


def signed_in(*scopes: str, subtree: str = "", role: str = User.Role.ADMIN) -> User:
    """A user who signed in with a token of these scopes."""
    user = User(role=role)
    user.token = ApiToken(scopes=list(scopes), subtree=subtree)
    return user


@pytest.mark.parametrize(
    ("scopes", "may"),
    [
        (["read"], {"view"}),
        (["tree:plan"], {"view", "plan"}),
        (["tree:write"], {"view", "plan", "edit"}),
        (["cluster:connect"], {"view", "connect"}),
        (["read", "tree:write"], {"view", "plan", "edit"}),
        (["cluster:operate"], {"view", "operate", "configure"}),
        (["cluster:classes"], {"view", "classify"}),
        ([], set()),
    ],
)
def test_a_token_may_what_its_scopes_say(scopes: list[str], may: set[Action]) -> None:
    """Each includes reading; those who may change trees, or sign in to clusters, may not therefore operate them."""
    actions: tuple[Action, ...] = ("view", "operate", "configure", "plan", "edit", "connect", "classify")
    assert {action for action in actions if scope_of(signed_in(*scopes), action).everything} == may


@pytest.mark.django_db
def test_a_token_may_no_more_than_its_user() -> None:
    """An auditor's token that may write trees writes none."""
    auditor = signed_in("tree:write", role=User.Role.AUDITOR)
    auditor.save()
    assert scope_of(auditor, "view").everything
    assert scope_of(auditor, "edit") == Scope()


def test_a_tokens_subtree_narrows_every_action() -> None:
    """An admin's token for a subtree reads and writes there, and has not everything anywhere."""
    user = signed_in("tree:write", subtree="root.red")
    actions: tuple[Action, ...] = ("view", "plan", "edit")
    for action in actions:
        scope = scope_of(user, action)
        assert not scope.everything
        assert (scope.has_path("root.red.x"), scope.has_path("root.blue")) == (True, False)


@pytest.mark.django_db
class TestMemberships:
    """One person may be an editor of one tenant's subtrees, and no more than a tenant of another."""

    @pytest.fixture
    def eve(self) -> User:
        """Editor of red, tenant of blue."""
        red = create_tenant(name="red", subtrees=["root.red"], namespaces=["red"])
        blue = create_tenant(name="blue", subtrees=["root.blue"], namespaces=["blue"])
        return create_user(username="eve", tenants=[blue], edits=[red])

    def test_both_are_seen(self, eve: User) -> None:
        """An editor reads what a tenant reads."""
        scope = scope_of(eve, "view")
        assert (scope.subtrees, scope.namespaces) == ({"root.red", "root.blue"}, {"red", "blue"})

    def test_only_what_is_below_the_top_is_changed(self, eve: User) -> None:
        """The top itself is given from above; nothing else of anybody's, and nothing else is done."""
        for action in ("plan", "edit"):
            scope = scope_of(eve, action)
            may = [path for path in ("root", "root.red", "root.red.a", "root.blue.a") if scope.may_change(path)]
            assert may == ["root.red.a"]
        assert [scope_of(eve, action) for action in ("operate", "configure", "connect", "classify")] == [Scope()] * 4

    def test_a_subtree_within_another_is_given_by_nobody_else(self) -> None:
        """Only the outermost tops are."""
        tenant = create_tenant(name="red", subtrees=["root.red", "root.red.a"])
        scope = scope_of(create_user(username="eve", edits=[tenant]), "edit")
        assert (scope.given, scope.may_change("root.red.a")) == ({"root.red"}, True)

    def test_a_tokens_subtree_gives_no_top_away(self, eve: User) -> None:
        """A token for the subtree itself changes no more than its user."""
        eve.token = ApiToken(scopes=["tree:write"], subtree="root.red")
        assert not scope_of(eve, "edit").may_change("root.red")
        assert scope_of(eve, "edit").may_change("root.red.a")

    def test_a_role_is_taken_away_again(self, eve: User) -> None:
        """Memberships are set as a whole."""
        set_memberships(user=eve, roles={Tenant.objects.get(name="red"): "tenant"})
        eve = User.objects.get(pk=eve.pk)
        assert (scope_of(eve, "edit").subtrees, scope_of(eve, "view").subtrees) == (frozenset(), {"root.red"})
