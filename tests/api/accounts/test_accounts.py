"""Who there is, what is whose, and who did what."""

from datetime import timedelta
from typing import Any

import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, Tenant
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user, service_account
from tests.api.builders import NOW
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

AUDIT, TENANTS, USERS = "/api/v1/audit", "/api/v1/tenants", "/api/v1/users"


def found(client: APIClient, url: str, member: str, **query: Any) -> list[str]:
    """One member of each result."""
    response = client.get(url, query)
    assert response.status_code == 200, response.content
    return [row[member] for row in response.json()["results"]]


def test_what_anybody_changed_is_told(olga: APIClient) -> None:
    """Newest first, page by page, by who, what, to what and when."""
    AuditEvent.objects.all().delete()
    for minutes, (verb, target) in enumerate([("cluster.mode", "prod"), ("tree.publish", "prod-tree 2")]):
        with time_machine.travel(NOW + timedelta(minutes=minutes), tick=False):
            record(actor=None, verb=verb, target=target, reason="a test", details={"mode": "advise"})
    first = olga.get(AUDIT, {"limit": 1})
    (row,) = first.json()["results"]
    assert (row["verb"], row["actor"], row["reason"]) == ("tree.publish", "command line", "a test")
    assert (row["at"], row["details"]) == ("2026-01-05T12:01:00Z", {"mode": "advise"})
    second = olga.get(first.json()["next"]).json()
    assert ([row["verb"] for row in second["results"]], second["next"]) == (["cluster.mode"], None)
    by_any = [{"verb": "cluster.mode"}, {"target": "prod"}, {"until": "2026-01-05T12:01:00Z"}]
    assert [found(olga, AUDIT, "verb", **query) for query in by_any] == [["cluster.mode"]] * 3
    assert found(olga, AUDIT, "verb", actor="command line", since="2026-01-05T12:01:00Z") == ["tree.publish"]
    assert found(olga, AUDIT, "verb", actor="nobody") == []
    check(first, AUDIT, "get")


def test_a_time_that_holds_nothing_is_an_error(olga: APIClient) -> None:
    """As for decisions."""
    wrong = olga.get(AUDIT, {"since": "2026-01-05T12:01:00Z", "until": "2026-01-05T12:00:00Z"})
    assert errors(wrong) == [{"parameter": "until"}]


def test_tenants_are_told_to_those_whose_they_are(olga: APIClient, alice: APIClient, charlie: APIClient) -> None:
    """All to who sees everything, none to a stranger."""
    create_tenant(name="blue", namespaces=["canary-ns"])
    assert [found(client, TENANTS, "name") for client in (olga, alice, charlie)] == [["blue", "red"], ["red"], []]
    response = alice.get(TENANTS)
    assert response.json()["results"] == [{"name": "red", "namespaces": ["red"], "subtrees": ["root.red"]}]
    check(response, TENANTS, "get")


def test_users_are_told_with_their_roles(olga: APIClient, red: Tenant) -> None:
    """People and machines, the newest first."""
    create_user(username="erin", edits=[red])
    service_account(name="ci", role="admin")
    assert found(olga, USERS, "name") == ["ci", "erin", "olga"]
    assert (found(olga, USERS, "name", service="true"), found(olga, USERS, "name", tenant="red")) == (["ci"], ["erin"])
    assert found(olga, USERS, "name", role="operator", service="false") == ["olga"]
    first = olga.get(USERS, {"limit": 2}).json()
    assert first["results"][1]["memberships"] == [{"tenant": "red", "role": "editor"}]
    assert [row["name"] for row in olga.get(first["next"]).json()["results"]] == ["olga"]
    assert "password" not in first["results"][0]
    check(olga.get(USERS), USERS, "get")


def test_who_sees_a_part_reads_neither(alice: APIClient) -> None:
    """Neither names of others nor what they did."""
    assert [alice.get(url).status_code for url in (AUDIT, USERS)] == [404, 404]
