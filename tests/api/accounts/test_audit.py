"""The audit log by REST: who did what."""

from datetime import timedelta
from typing import Any

import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.services.audit import record
from tests.api.builders import NOW
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

AUDIT = "/api/v1/audit"


def verbs(client: APIClient, **query: Any) -> list[str]:
    """What was done, by the query."""
    response = client.get(AUDIT, query)
    assert response.status_code == 200, response.content
    return [row["verb"] for row in response.json()["results"]]


def test_what_anybody_changed_is_told(olga: APIClient) -> None:
    """Newest first, page by page, by who, what, to what and when."""
    AuditEvent.objects.all().delete()
    for minutes, (verb, target) in enumerate([("cluster.mode", "prod"), ("tree.publish", "prod-tree 2")]):
        with time_machine.travel(NOW + timedelta(minutes=minutes), tick=False):
            record(actor=None, verb=verb, target=target, reason="a test", details={"mode": "advise"})
    first = olga.get(AUDIT, {"limit": 1})
    (row,) = first.json()["results"]
    assert (row["verb"], row["actor"], row["reason"]) == ("tree.publish", "command line", "a test")
    assert (row["occurred_at"], row["details"]) == ("2026-01-05T12:01:00Z", {"mode": "advise"})
    second = olga.get(first.json()["next"]).json()
    assert ([row["verb"] for row in second["results"]], second["next"]) == (["cluster.mode"], None)
    by_any = [{"verb": "cluster.mode"}, {"target": "prod"}, {"until": "2026-01-05T12:01:00Z"}]
    assert [verbs(olga, **query) for query in by_any] == [["cluster.mode"]] * 3
    assert verbs(olga, actor="command line", since="2026-01-05T12:01:00Z") == ["tree.publish"]
    assert verbs(olga, actor="nobody") == []
    check(first, AUDIT, "get")


def test_a_time_that_holds_nothing_is_an_error(olga: APIClient) -> None:
    """As for decisions."""
    wrong = olga.get(AUDIT, {"since": "2026-01-05T12:01:00Z", "until": "2026-01-05T12:00:00Z"})
    assert errors(wrong) == [{"parameter": "until"}]


def test_one_event_is_read_by_its_number(olga: APIClient, alice: APIClient) -> None:
    """By those who see everything."""
    event = record(actor=None, verb="cluster.mode", target="prod", reason="a test")
    response = olga.get(f"{AUDIT}/{event.pk}")
    assert (response.status_code, response.json()["target"]) == (200, "prod")
    check(response, f"{AUDIT}/{{id}}", "get")
    assert alice.get(f"{AUDIT}/{event.pk}").status_code == 404


def test_who_sees_a_part_reads_none_of_it(alice: APIClient) -> None:
    """Neither names of others nor what they did."""
    assert alice.get(AUDIT).status_code == 404
