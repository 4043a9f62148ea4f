"""What a user sees, and how a token's subtree and scopes narrow it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.scopes import Action, Scope, is_inside, scope_of

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


def test_a_token_may_no_more_than_its_user() -> None:
    """An auditor's token that may write trees writes none."""
    auditor = signed_in("tree:write", role=User.Role.AUDITOR)
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
