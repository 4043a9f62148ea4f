"""What holds for the whole site, on its page and by REST: who changes it, and what is said of wrong input."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, GroupMapping, User
from scheduler_admin.accounts.selectors import site
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import create_user

pytestmark = pytest.mark.django_db
SITE, GROUPS = "/api/v1/site-settings", "/api/v1/group-mappings"


def browser(role: str) -> Client:
    """Somebody of this role."""
    client = Client()
    client.force_login(create_user(username=role, role=role))
    return client


def api(*scopes: str, role: str = User.Role.ADMIN) -> APIClient:
    """A token of somebody's."""
    _token, plaintext = create_token(user=create_user(username=f"api-{role}", role=role), name="ci", scopes=scopes)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {plaintext}")


def send(client: APIClient, method: str, address: str, body: Any, match: str = "") -> Any:
    """A request that writes, with a reason."""
    headers = {"If-Match": match} if match else {}
    return client.generic(
        method, f"{address}?reason=why", json.dumps(body), content_type="application/json", headers=headers
    )


class TestThePage:
    """By hand."""

    def test_an_admin_says_what_is_told(self) -> None:
        """On record, with the reason; the default is the queue."""
        assert site().preemptor == "queue"
        ada = browser("admin")
        assert ada.post("/site/", {"act": "tell", "preemptor": "none", "reason": "agreed"}).status_code == 302
        assert site().preemptor == "none"
        event = AuditEvent.objects.get(verb="site.change")
        assert (event.actor_name, event.reason, event.details) == (
            "admin",
            "agreed",
            {"preemptor": ["queue", "none"]},
        )
        page = ada.get("/site/").content.decode()
        assert '<option value="none" selected>' in page
        assert "agreed" in page

    @pytest.mark.parametrize(("preemptor", "reason"), [("everything", "why"), ("uid", " ")])
    def test_what_can_not_be_is_said_and_nothing_is_lost(self, preemptor: str, reason: str) -> None:
        """The form holds what was typed."""
        response = browser("admin").post("/site/", {"act": "tell", "preemptor": preemptor, "reason": reason})
        assert (response.status_code, site().preemptor) == (422, "queue")
        assert 'role="alert"' in response.content.decode()

    def test_who_needs_a_second_person_is_set(self) -> None:
        """Ticked or not, with a reason."""
        ada = browser("admin")
        assert (
            ada.post("/site/", {"act": "second", "second_for_admins": "on", "reason": "four eyes"}).status_code == 302
        )
        assert (site().second_for_admins, site().second_for_editors) == (True, False)
        assert ada.post("/site/", {"act": "second", "reason": ""}).status_code == 422
        assert ada.post("/site/", {"act": "second", "reason": "in haste"}).status_code == 302
        assert not site().second_for_admins

    def test_an_admin_says_whom_tenants_can_ask(self) -> None:
        """A contact, and links whose addresses can name the pod; the form shows what is stored."""
        ada = browser("admin")
        line = "Open a ticket https://tickets.example.com/new?about={namespace}/{pod}"
        sent = {"act": "support", "contact": " #gpu-help ", "links": f"{line}\n\nMail mailto:ops@example.com"}
        assert ada.post("/site/", {**sent, "reason": "new desk"}).status_code == 302
        assert site().support_contact == "#gpu-help"
        assert [one["label"] for one in site().support_links] == ["Open a ticket", "Mail"]
        page = ada.get("/site/").content.decode()
        assert line in page
        assert "new desk" in page

    @pytest.mark.parametrize(
        ("links", "wrong"),
        [
            ("https://example.com", "needs a label"),
            ("Ticket javascript:alert(1)", "must start with"),
            ("Ticket https://example.com/{user}", "unknown placeholder {user}"),
            ("Ticket https:///nowhere", "must start with"),
            ("\n".join(f"Link{n} https://example.com/{n}" for n in range(11)), "at most 10 links"),
        ],
    )
    def test_links_that_lead_nowhere_are_refused(self, links: str, wrong: str) -> None:
        """With what was typed still there."""
        response = browser("admin").post("/site/", {"act": "support", "links": links, "reason": "why"})
        assert (response.status_code, site().support_links) == (422, [])
        page = response.content.decode()
        assert wrong in page
        assert links.splitlines()[0] in page

    def test_an_admin_sets_the_links_to_other_tools(self) -> None:
        """Of pods and of nodes; the audit log has what was before, and the form shows what is stored."""
        ada = browser("admin")
        logs, node = "Logs https://logs.example.com/{pod}?from={from}", "Headlamp https://headlamp.example.com/{node}"
        sent = {"act": "tools", "pod_links": logs, "node_links": node}
        assert ada.post("/site/", {**sent, "reason": "logs at hand"}).status_code == 302
        assert ada.post("/site/", {**sent, "pod_links": "", "reason": "moved"}).status_code == 302
        assert site().node_links == [{"label": "Headlamp", "url": "https://headlamp.example.com/{node}"}]
        newest = AuditEvent.objects.filter(verb="site.change").first()
        assert newest is not None
        stored = [{"label": "Logs", "url": "https://logs.example.com/{pod}?from={from}"}]
        assert (newest.reason, newest.details) == ("moved", {"pod_links": [stored, []]})
        page = ada.get("/site/").content.decode()
        assert (node in page, f">\n{logs}<" in page) == (True, False)
        said = " ".join(re.sub(r"<[^>]+>", " ", page.partition('id="h-changes"')[2]).split())
        assert re.search(rf"Links of a pod ?: {re.escape(logs)} → –", said)

    @pytest.mark.parametrize(
        ("field", "line", "wrong"),
        [
            ("pod_links", "Mail mailto:ops@example.com", "must start with https:// or http://"),
            (
                "pod_links",
                "Logs https://example.com/{link}",
                "unknown placeholder {link}. Known placeholders: {cluster},",
            ),
            ("node_links", "Logs https://example.com/{pod}", "unknown placeholder {pod}"),
            ("node_links", "https://example.com/{node}", "needs a label"),
        ],
    )
    def test_links_to_other_tools_are_refused_at_their_field(self, field: str, line: str, wrong: str) -> None:
        """Which names the error, and still holds what was typed."""
        response = browser("admin").post("/site/", {"act": "tools", field: line, "reason": "why"})
        assert (response.status_code, site().pod_links, site().node_links) == (422, [], [])
        page = response.content.decode()
        error = page.partition(f'id="e-tools-{field}"')[2].partition("</p>")[0]
        assert wrong in error
        control = page.partition(f'name="{field}"')[2].partition("</textarea>")[0]
        assert (f"e-tools-{field}" in control, line in control) == (True, True)

    def test_operators_and_auditors_read_it(self) -> None:
        """Without a button; tenants find nothing."""
        for role in ("operator", "auditor"):
            client = browser(role)
            page = client.get("/site/").content.decode()
            assert ("Approval before publishing" in page, 'name="act"' in page) == (True, False)
            assert client.post("/site/", {"act": "tell", "preemptor": "name", "reason": "why"}).status_code == 403
        assert browser("tenant").get("/site/").status_code == 404


class TestRest:
    """The same for programs."""

    def test_what_is_told_changes_under_its_etag(self) -> None:
        """Read, change, and be overtaken."""
        client = api("site:administer")
        tag = client.get(SITE)["ETag"]
        done = send(client, "PATCH", SITE, {"preemptor_visibility": "uid"}, tag)
        assert (done.status_code, done.json()["preemptor_visibility"], done["ETag"] != tag) == (200, "uid", True)
        assert send(client, "PATCH", SITE, {"preemptor_visibility": "name"}, tag).status_code == 412
        assert send(client, "PATCH", SITE, {"preemptor_visibility": "name"}).status_code == 428
        assert site().preemptor == "uid"

    def test_who_needs_a_second_person_changes_under_it_too(self) -> None:
        """Each by itself; what is not named stays."""
        client = api("site:administer")
        done = send(client, "PATCH", SITE, {"approval_required_for_editors": True}, client.get(SITE)["ETag"])
        assert done.json() == {
            "preemptor_visibility": "queue",
            "approval_required_for_editors": True,
            "approval_required_for_admins": False,
            "support_contact": "",
            "support_links": [],
            "pod_links": [],
            "node_links": [],
        }
        assert AuditEvent.objects.get(verb="site.change").details["second_for_editors"] == [False, True]

    def test_whom_tenants_can_ask_changes_under_it_too(self) -> None:
        """Checked as on the page."""
        client = api("site:administer")
        link = {"label": "Ticket", "url": "https://tickets.example.com/?about={pod}"}
        body = {"support_contact": "ops", "support_links": [link]}
        done = send(client, "PATCH", SITE, body, client.get(SITE)["ETag"])
        assert (done.status_code, done.json()["support_links"], site().support_contact) == (200, [link], "ops")
        wrong = {"support_links": [{"label": "Ticket", "url": "javascript:alert(1)"}]}
        refused = send(client, "PATCH", SITE, wrong, done["ETag"])
        assert (refused.status_code, "support_links" in refused.json()["errors"][0]["pointer"]) == (422, True)

    def test_links_to_other_tools_change_under_it_too(self) -> None:
        """Each list by itself, checked by its own rules."""
        client = api("site:administer")
        link = {"label": "Logs", "url": "https://logs.example.com/{namespace}/{pod}?from={from}&to={to}"}
        done = send(client, "PATCH", SITE, {"pod_links": [link]}, client.get(SITE)["ETag"])
        assert (done.status_code, done.json()["pod_links"], done.json()["node_links"]) == (200, [link], [])
        assert AuditEvent.objects.get(verb="site.change").details["pod_links"] == [[], [link]]
        refused = send(client, "PATCH", SITE, {"node_links": [link]}, done["ETag"])
        assert (refused.status_code, "node_links" in refused.json()["errors"][0]["pointer"]) == (422, True)
        assert site().node_links == []

    def test_groups_come_and_go(self) -> None:
        """With their numbers."""
        create_tenant(name="red")
        client = api("site:administer")
        made = send(client, "POST", GROUPS, {"group": "leads", "role": "editor", "tenant": "red"})
        ops = send(client, "POST", GROUPS, {"group": "kubernetes:group:ops", "role": "operator"})
        assert (made.status_code, ops.status_code, ops.json()["tenant"]) == (201, 201, None)
        assert [one["group"] for one in client.get(GROUPS).json()["results"]] == ["kubernetes:group:ops", "leads"]
        assert send(client, "DELETE", f"{GROUPS}/{made.json()['id']}", {}).status_code == 204
        assert GroupMapping.objects.count() == 1

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"group": "x", "role": "editor"}, "/tenant"),
            ({"group": "x", "role": "editor", "tenant": "nobody"}, "/tenant"),
            ({"group": "x", "role": "king"}, "/role"),
            ({"role": "admin"}, "/group"),
        ],
    )
    def test_errors_stand_at_their_place(self, body: dict[str, str], pointer: str) -> None:
        """As everywhere in the API."""
        response = send(api("site:administer"), "POST", GROUPS, body)
        assert (response.status_code, pointer in [one.get("pointer") for one in response.json()["errors"]]) == (
            422,
            True,
        )

    def test_it_takes_the_scope_and_the_role(self) -> None:
        """A token for trees changes no site, nor does an operator's."""
        refused = send(api("tree:write"), "PATCH", SITE, {"preemptor_visibility": "name"}, "*")
        assert (refused.status_code, "site:administer" in refused["WWW-Authenticate"]) == (403, True)
        operator = api("site:administer", role=User.Role.OPERATOR)
        assert send(operator, "PATCH", SITE, {"preemptor_visibility": "name"}, "*").status_code == 403
        assert operator.get(SITE).status_code == 200
