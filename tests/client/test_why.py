"""Why one pod was preempted, or waits, from the command line and by REST."""

import json
from typing import Any

import pytest

from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.translation import text
from tests.client.conftest import Run
from tests.pages import moments, rows

VICTIM, WORKER = "search/embed-batch-7f9c-x8v2d", "vision/vision-train-0042-worker-3"


@pytest.fixture
def decided(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Training took pods of queue-b; the environment has an admin's token."""
    made = rows.cluster("demo")
    rows.status(made)
    for row in moments.decide(made):
        if row.outcome == "preempt":
            moments.carried_out(row)
    monkeypatch.setenv("SCHEDULER_ADMIN_URL", live_server.url)
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", create_token(user=rows.user(), name="ci")[1])
    return made


def test_a_victim_is_told_why_by_the_sentence_of_its_page(decided: Cluster, run: Run, client: Any) -> None:
    said = run("why", VICTIM, "--cluster", "demo")
    assert (said.code, said.err) == (0, "")
    client.force_login(rows.user("otto"))
    page = client.get(f"/pods/demo/{VICTIM}/").context["why"]
    sentence, *numbers = said.out.splitlines()
    assert sentence == text(page.sentence)
    assert "was evicted" in sentence
    assert any("root.tenant-1.queue-b: cpu" in line and "guarantee" in line for line in numbers)


def test_what_holds_a_decision_back_is_said_once(decided: Cluster, run: Run) -> None:
    made = rows.cluster("staging", rows.revision("staging"))
    rows.status(made)
    moments.decide(made, only=WORKER.partition("/")[2], hold="paused")
    for pod, verb in ((VICTIM, "would be evicted from gpu-04 because"), (WORKER, "would be evicted from gpu-04.")):
        said = run("why", pod, "--cluster", "staging").out
        assert verb in said
        assert "On hold: the cluster is paused." in said.splitlines()[1]
        assert said.lower().count("on hold") == 1


def test_an_ask_is_told_too(decided: Cluster, run: Run) -> None:
    found = json.loads(run("why", WORKER, "--cluster", "demo", "--output", "json").out)
    assert (found["cluster"], found["pod"]["pending"], found["pod"]["name"]) == ("demo", True, WORKER.partition("/")[2])
    assert found["pod"]["sentence"]


def test_a_tenant_learns_of_their_own_pods_alone(decided: Cluster, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tess = rows.tenant_user("tess", "root.tenant-1.queue-b", ("search",))
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", create_token(user=tess, name="mine")[1])
    mine = run("why", VICTIM, "--cluster", "demo")
    assert (mine.code, "vision-train" in mine.out) == (0, False)
    assert run("why", WORKER, "--cluster", "demo").code == 1


@pytest.mark.parametrize("pod", ["search/nobody", "embed-batch-7f9c-x8v2d", "search/"])
def test_a_pod_that_there_is_not_is_a_sentence(decided: Cluster, run: Run, pod: str) -> None:
    said = run("why", pod, "--cluster", "demo")
    assert (said.code, said.out) == (1, "")
    assert said.err
