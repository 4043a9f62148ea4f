"""Decisions from the command line."""

import json
from datetime import timedelta

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin_client import site as http
from tests.api.builders import NOW, decision, red_pod
from tests.client.conftest import Run


def test_decisions_are_listed_newest_first_page_after_page(
    site: Cluster, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LARGEST_PAGE", 2)
    for number in range(5):
        at = NOW - timedelta(minutes=number)
        decision(site, ask=red_pod(f"train-{number}"), victims=(red_pod(f"etl-{number}"),), first_seen=at)
    said = run("history", "prod", "--limit", "4", "--queue", "root.red")
    assert (said.code, said.err) == (0, "")
    assert [line.split("  ")[3] for line in said.out.splitlines()] == [f"red/train-{number}" for number in range(4)]
    assert "preempt" in said.out
    assert "1 victim" in said.out
    found = [json.loads(line) for line in run("history", "prod", "--output", "json").out.splitlines()]
    assert [row["pending_pod"]["name"] for row in found] == [f"train-{number}" for number in range(5)]


def test_a_filter_that_can_not_be_right_is_told_by_the_api(site: Cluster, run: Run) -> None:
    said = run("history", "prod", "--outcome", "evict", "--since", "soon")
    assert (said.code, said.out) == (1, "")
    assert "outcome: error: " in said.err
    assert "since: error: " in said.err
