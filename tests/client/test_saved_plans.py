"""A saved plan: apply publishes what was planned over the tree that it was planned for, and nothing else."""

import json
from pathlib import Path

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from tests.api.sending import queue_of
from tests.client.conftest import QUEUES, Run, own_form

APPLY = ("apply", "prod-tree", "queues.yaml", "--plan", "plan.json", "--reason", "why")


@pytest.fixture
def saved(site: Cluster, run: Run, queues: Path) -> Path:
    """plan.json of queues.yaml in the working directory."""
    said = run("plan", "prod-tree", "queues.yaml", "--out", "plan.json")
    assert said.code == 2
    assert said.out.endswith("Saved the plan. To publish it and nothing else, use apply with --plan plan.json.\n")
    return Path("plan.json")


def test_a_plan_is_published(run: Run, saved: Path) -> None:
    said = run(*APPLY)
    assert (said.code, said.err) == (0, "")
    assert Revision.objects.get(number=2).reason == "why"


def test_a_tree_that_was_published_meanwhile_is_not_overwritten(run: Run, saved: Path) -> None:
    Path("other.yaml").write_text(QUEUES.replace("12", "11"))
    run("apply", "prod-tree", "other.yaml", "--reason", "another's")
    said = run(*APPLY)
    assert (said.code, said.out) == (1, "")
    assert said.err.endswith("Another tree was published meanwhile. Plan again.\n")
    assert Revision.objects.count() == 2


def test_a_document_that_was_changed_since_is_not_published(run: Run, saved: Path) -> None:
    Path("queues.yaml").write_text(QUEUES.replace("12", "13"))
    assert run(*APPLY) == (1, "", "The document is not the one that was planned. Plan again.\n")
    Path("queues.yaml").write_text(QUEUES)
    assert run(*APPLY, "--subtree", "root.red").err == "The document is not the one that was planned. Plan again.\n"
    assert Revision.objects.count() == 1


def test_a_plan_of_another_tree_is_not_published(site: Cluster, run: Run, saved: Path, live_server: object) -> None:
    said = run("apply", "other", "queues.yaml", "--plan", "plan.json", "--reason", "why", "--create")
    assert (said.code, said.err) == (1, f"The plan is for prod-tree at {live_server}. Plan again.\n")
    assert list(Hierarchy.objects.values_list("name", flat=True)) == ["prod-tree"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"scheduler_admin_plan": 2}', '{"scheduler_admin_plan": 1}'])
def test_what_is_no_plan_is_refused(run: Run, saved: Path, text: str) -> None:
    saved.write_text(text)
    assert run(*APPLY).err == "plan.json is not a plan of this version of scheduler-admin.\n"
    saved.unlink()
    assert run(*APPLY).err == "plan.json cannot be read: No such file or directory.\n"


def test_a_plan_and_another_etag_contradict_each_other(run: Run, saved: Path) -> None:
    said = run(*APPLY, "--if-match", "other")
    assert (said.code, "Use --plan or --if-match, not both." in said.err) == (1, True)


def test_what_is_ruled_out_leaves_no_plan_not_even_an_older_one(run: Run, saved: Path) -> None:
    said = run("plan", "prod-tree", "queues.yaml", "--out", "plan.json", "--fail-on", "unknown")
    assert (said.code, saved.exists()) == (3, False)


def test_a_new_hierarchy_is_planned_with_a_warning_and_created_only_on_demand(
    site: Cluster, run: Run, queues: Path
) -> None:
    said = run("plan", "prod-treee", "queues.yaml", "--out", "plan.json")
    assert said.code == 2
    assert "queues.yaml: warning: The hierarchy prod-treee does not exist. Did you mean prod-tree?" in said.out
    assert "no cluster uses this hierarchy" in said.out
    apply = ("apply", "prod-treee", "queues.yaml", "--plan", "plan.json", "--reason", "the first")
    assert run(*apply).code == 1
    assert run(*apply, "--create").code == 0


def test_a_hierarchy_that_nobody_uses_counts_as_unknown(site: Cluster, run: Run, queues: Path) -> None:
    said = run("plan", "lonely", "queues.yaml", "--fail-on", "unknown")
    assert said.code == 3
    assert "queues.yaml: error: No cluster uses this hierarchy, so preemptions can't be forecast." in said.out
    assert run("plan", "lonely", "queues.yaml", "--fail-on", "preemptions").code == 2


def test_a_plan_counts_changes_preemptions_and_pods_without_a_queue(
    site: Cluster, busy: Cluster, run: Run, tmp_path: Path
) -> None:
    form = own_form(run, "main")
    queue_of(form, "root.test")["path"] = "root.trial"
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(form))
    said = run("plan", "main", str(file), "--out", str(tmp_path / "plan.json"))
    numbers = json.loads((tmp_path / "plan.json").read_text())["summary"]
    changes = numbers["changes"]
    assert {**numbers, "changes": 0} == {
        "changed": True,
        "changes": 0,
        "caused_evictions": 0,
        "orphans": 4,
        "clusters": 1,
        "clusters_without_forecast": 0,
    }
    assert f"main: {changes} change" in said.out
    assert "0 pods preempted because of it, 4 pods without a queue." in said.out
    assert json.loads(run("plan", "main", str(file), "--output", "json").out)["summary"] == numbers
