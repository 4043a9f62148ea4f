"""A tree is put in force: by whom, onto what, and once."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.services import create_hierarchy, tree_of
from tests.api import builders
from tests.api.builders import NOW, RED
from tests.api.conftest import client_of
from tests.api.sending import NEW, PROD, SMALL, YAML, own_form, plan, put, queue_of


@pytest.fixture
def slower(cluster: Cluster, ada: APIClient) -> Any:
    """The tree in force with one delay changed."""
    form = own_form(ada)
    queue_of(form, RED)["delay"] = "6s"
    return form


@pytest.fixture
def tag(cluster: Cluster, ada: APIClient) -> str:
    """The ETag of the tree in force."""
    return str(ada.get(PROD)["ETag"])


def revisions() -> list[int]:
    """The numbers of all there are."""
    return sorted(Revision.objects.filter(hierarchy__name="prod-tree").values_list("number", flat=True))


class TestPublishing:
    """What is sent is in force, with its reason, on record."""

    def test_a_changed_tree_is_the_next_revision(self, ada: APIClient, slower: Any, tag: str) -> None:
        response = put(ada, slower, match=tag, reason="slower batch")
        assert (response.status_code, response["ETag"]) == (200, ada.get(PROD)["ETag"])
        assert (response.json()["changed"], response.json()["revision"]) == (True, 2)
        revision = Hierarchy.objects.get(name="prod-tree").current
        assert revision is not None
        assert (revision.number, revision.author_name, revision.reason) == (2, "ada", "slower batch")
        assert tree_of(revision)[RED].delay_ms == 6000
        event = AuditEvent.objects.filter(verb="tree.publish").first()
        assert event is not None
        assert (event.actor_name, event.reason) == ("ada", "slower batch")

    def test_the_same_tree_again_changes_nothing(self, ada: APIClient, slower: Any, tag: str) -> None:
        first = put(ada, slower, match=tag)
        audited = AuditEvent.objects.count()
        again = put(ada, slower, match=first["ETag"])
        assert (again.status_code, again["ETag"]) == (200, first["ETag"])
        assert again.json() | {"lint": [], "forecast": []} == {
            "changed": False,
            "revision": 2,
            "diff": [],
            "lint": [],
            "forecast": [],
        }
        assert (revisions(), AuditEvent.objects.count()) == ([1, 2], audited)

    def test_the_order_of_queues_is_no_change(self, ada: APIClient, tag: str) -> None:
        form = own_form(ada)
        form["queues"].reverse()
        assert put(ada, form, match=tag).json()["changed"] is False

    def test_a_new_hierarchy_is_made_with_its_first_tree(self, ada: APIClient, db: None) -> None:
        response = put(ada, YAML, NEW)
        assert (response.status_code, response.json()["revision"]) == (201, 1)
        assert ada.get(NEW)["ETag"] == response["ETag"]
        assert AuditEvent.objects.filter(verb="hierarchy.create", target="new", actor_name="ada").exists()

    def test_a_hierarchy_without_a_tree_gets_its_first(self, ada: APIClient, db: None) -> None:
        create_hierarchy(name="new", actor=None)
        assert put(ada, SMALL, NEW, none_match="*").status_code == 201

    def test_a_name_that_is_too_long_makes_nothing(self, ada: APIClient, db: None) -> None:
        response = put(ada, SMALL, f"/api/v1/hierarchies/{'x' * 64}/tree")
        assert (response.status_code, response["Content-Type"]) == (422, "application/problem+json")
        assert "63" in response.json()["errors"][0]["detail"]
        assert not Hierarchy.objects.exists()

    def test_what_is_not_said_of_the_policy_stays(self, ada: APIClient, tag: str) -> None:
        form = own_form(ada)
        first = put(ada, form | {"parameters": {"last_resort": "never"}}, match=tag)
        assert first.json()["changed"] is True
        put(ada, {"queues": form["queues"]}, match=first["ETag"])
        assert ada.get(PROD).json()["parameters"] == {"last_resort": "never"}

    def test_a_dry_run_writes_nothing(self, ada: APIClient, slower: Any, tag: str) -> None:
        audited = AuditEvent.objects.count()
        planned = plan(ada, slower)
        new = plan(ada, SMALL, NEW)
        assert (planned.status_code, planned["ETag"], planned.json()["revision"]) == (200, tag, 2)
        assert (new.status_code, "ETag" in new, new.json()["revision"]) == (200, False, 1)
        assert (revisions(), AuditEvent.objects.count()) == ([1], audited)
        assert not Hierarchy.objects.filter(name="new").exists()

    def test_a_dry_run_says_what_publishing_says(self, ada: APIClient, slower: Any, tag: str) -> None:
        assert plan(ada, slower).json() == put(ada, slower, match=tag).json()


class TestPreconditions:
    """Nobody overwrites what they have not read."""

    def test_of_two_changes_of_one_tree_the_second_is_told_so(self, ada: APIClient, slower: Any, tag: str) -> None:
        first = put(ada, slower, match=tag)
        queue_of(slower, RED)["delay"] = "7s"
        second = put(ada, slower, match=tag)
        assert (second.status_code, second["ETag"]) == (412, first["ETag"])
        assert second["Content-Type"] == "application/problem+json"
        assert revisions() == [1, 2]
        assert put(ada, slower, match=second["ETag"]).status_code == 200

    def test_a_change_in_between_is_not_overwritten(
        self, ada: APIClient, slower: Any, tag: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Somebody publishes after the condition was looked at: it is looked at again where it is written."""
        other = client_of(builders.user("eve", role=User.Role.ADMIN), scopes=["tree:write"])
        theirs = {**slower, "parameters": {"last_resort": "never"}}

        def check(*_args: Any, **_kwargs: Any) -> None:
            monkeypatch.undo()
            assert put(other, theirs, match=tag).status_code == 200

        monkeypatch.setattr("scheduler_admin.api.trees.preconditions.check", check)
        late = put(ada, slower, match=tag)
        assert (late.status_code, late["ETag"]) == (412, ada.get(PROD)["ETag"])
        assert revisions() == [1, 2]

    def test_a_change_says_of_what(self, ada: APIClient, slower: Any) -> None:
        response = put(ada, slower)
        assert (response.status_code, response["Content-Type"]) == (428, "application/problem+json")
        assert "If-Match" in response.json()["detail"]
        assert revisions() == [1]

    def test_a_dry_run_need_not(self, ada: APIClient, slower: Any, tag: str) -> None:
        assert plan(ada, slower).status_code == 200
        assert plan(ada, slower, match='"other"').status_code == 412
        assert plan(ada, slower, match=tag).status_code == 200

    @pytest.mark.parametrize("match", ['"other"', "W/{tag}", "{tag}x"])
    def test_only_the_very_tag_matches(self, ada: APIClient, slower: Any, tag: str, match: str) -> None:
        assert put(ada, slower, match=match.format(tag=tag)).status_code == 412

    @pytest.mark.parametrize("match", ["*", '"other", {tag}'])
    def test_any_and_one_of_several_match(self, ada: APIClient, slower: Any, tag: str, match: str) -> None:
        assert put(ada, slower, match=match.format(tag=tag)).status_code == 200

    def test_a_first_tree_does_not_overwrite_another(self, ada: APIClient, db: None) -> None:
        assert put(ada, SMALL, NEW, match="*").status_code == 412
        assert put(ada, SMALL, NEW, none_match="*").status_code == 201
        assert put(ada, SMALL, NEW, none_match="*").status_code == 412
        assert put(ada, SMALL, NEW).status_code == 428


class TestRights:
    """Who may, by role and by token."""

    @pytest.mark.parametrize(
        ("scopes", "planning", "writing"),
        [
            (["read"], 403, 403),
            (["tree:plan"], 200, 403),
            (["tree:write"], 200, 200),
        ],
    )
    def test_a_token_does_what_its_scopes_say(
        self, ada: APIClient, slower: Any, scopes: list[str], planning: int, writing: int
    ) -> None:
        ci = client_of(User.objects.get(username="ada"), scopes=scopes)
        assert (plan(ci, slower).status_code, put(ci, slower, match="*").status_code) == (planning, writing)

    def test_a_missing_scope_is_named(self, ada: APIClient, slower: Any) -> None:
        ci = client_of(User.objects.get(username="ada"), scopes=["tree:plan"])
        response = put(ci, slower, match="*")
        assert response["WWW-Authenticate"] == 'Bearer realm="api", error="insufficient_scope", scope="tree:write"'
        assert response["Content-Type"] == "application/problem+json"
        assert "tree:write" in response.json()["detail"]

    @pytest.mark.parametrize("role", [User.Role.OPERATOR, User.Role.AUDITOR])
    def test_only_admins_change_trees(self, slower: Any, role: str) -> None:
        someone = client_of(builders.user("someone", role=role), scopes=["tree:write"])
        assert (plan(someone, slower).status_code, put(someone, slower, match="*").status_code) == (403, 403)
        assert put(someone, SMALL, NEW).status_code == 404
        assert revisions() == [1]

    def test_tenants_and_strangers_change_none(self, slower: Any, red: Any) -> None:
        tenant = client_of(builders.user("tom", red), scopes=["tree:write"])
        stranger = client_of(builders.user("sam"), scopes=["tree:write"])
        assert (put(tenant, slower, match="*").status_code, put(stranger, slower, match="*").status_code) == (403, 404)

    def test_an_expired_token_changes_nothing(self, ada: APIClient, slower: Any) -> None:
        ci = client_of(User.objects.get(username="ada"), scopes=["tree:write"], lifetime=timedelta(hours=1))
        with time_machine.travel(NOW + timedelta(hours=1), tick=False):
            assert put(ci, slower, match="*").status_code == 401
        assert revisions() == [1]

    def test_a_session_needs_its_csrf_token(self, ada: APIClient, slower: Any) -> None:
        browser = APIClient(enforce_csrf_checks=True)
        browser.force_login(User.objects.get(username="ada"))
        refused = put(browser, slower, match="*")
        assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
        browser.cookies["csrftoken"] = "a" * 32
        browser.credentials(HTTP_X_CSRFTOKEN="a" * 32)
        assert put(browser, slower, match="*").status_code == 200

    def test_a_reason_is_asked_for(self, ada: APIClient, slower: Any) -> None:
        for reason in ("", "   "):
            response = put(ada, slower, match="*", reason=reason)
            assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "reason")
        assert revisions() == [1]

    @pytest.mark.parametrize("query", [{"dry_run": "perhaps"}, {"force": "1"}, {"reason": "x" * 1001}])
    def test_parameters_that_cannot_be_are_errors(self, ada: APIClient, slower: Any, query: dict[str, str]) -> None:
        assert put(ada, slower, match="*", **query).status_code == 400
        assert revisions() == [1]
