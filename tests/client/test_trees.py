"""Plan, apply, lint, diff and export from the command line."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from tests.api.sending import queue_of
from tests.client.conftest import QUEUES, Run, own_form, token_of

RAISED = "root.red.batch: max cpu 10 → 12"


def test_a_plan_tells_what_changes_and_what_is_odd_and_exits_with_2(site: Cluster, run: Run, queues: Path) -> None:
    said = run("plan", "prod-tree", str(queues))
    assert (said.code, said.err) == (2, "")
    assert said.out.splitlines()[0] == RAISED
    assert "queues.yaml:10: warning: root.red.batch: It is the only leaf" in said.out
    assert "prod: warning: This cluster has not been read yet." in said.out
    assert "\x1b" not in said.out
    assert Revision.objects.count() == 1


def test_applying_it_puts_it_in_force_and_applying_it_again_changes_nothing(
    site: Cluster, run: Run, queues: Path
) -> None:
    first = run("apply", "prod-tree", str(queues), "--reason", "more for batch")
    assert (first.code, first.out.splitlines()) == (0, [RAISED, "prod-tree: revision 2 is now the published tree."])
    again = run("apply", "prod-tree", str(queues), "--reason", "more for batch")
    assert (again.code, again.out) == (0, "prod-tree: no changes.\n")
    assert Revision.objects.get(number=2).reason == "more for batch"
    planned = run("plan", "prod-tree", str(queues))
    assert (planned.code, planned.out.splitlines()[0]) == (0, "prod-tree: no changes.")


def test_what_was_planned_is_applied_only_while_nobody_else_was_quicker(site: Cluster, run: Run, queues: Path) -> None:
    etag = json.loads(run("plan", "prod-tree", str(queues), "--output", "json").out)["etag"]
    queues.write_text(QUEUES.replace("12", "11"))
    assert run("apply", "prod-tree", str(queues), "--reason", "another's", "--if-match", etag).code == 0
    queues.write_text(QUEUES)
    said = run("apply", "prod-tree", str(queues), "--reason", "late", "--if-match", etag)
    assert (said.code, said.out) == (1, "")
    assert said.err.splitlines()[0] == "This has changed since you read it. Read it again."


def test_a_misspelled_name_is_refused_with_the_one_that_was_meant(site: Cluster, run: Run, queues: Path) -> None:
    """It would become a tree that no cluster uses, and nobody would hear of it."""
    said = run("apply", "prod-treee", str(queues), "--reason", "more for batch")
    assert (said.code, said.out) == (1, "")
    assert (
        said.err
        == "The hierarchy prod-treee does not exist. Did you mean prod-tree? To create prod-treee, use --create.\n"
    )
    said = run("apply", "unlike", str(queues), "--reason", "more for batch")
    assert said.err == "The hierarchy unlike does not exist. To create it, use --create.\n"
    assert list(Hierarchy.objects.values_list("name", flat=True)) == ["prod-tree"]


def test_a_free_name_becomes_a_hierarchy_when_that_is_asked_for(site: Cluster, run: Run, queues: Path) -> None:
    assert run("apply", "new", str(queues), "--reason", "the first", "--create").code == 0
    assert run("diff", "new", str(queues)).code == 0


@pytest.fixture
def taking(site: Cluster, busy: Cluster, run: Run, tmp_path: Path) -> str:
    """A file that promises Test less, so that Prod takes one of its pods."""
    form = own_form(run, "main")
    queue_of(form, "root.test")["guaranteed"] = {"cpu": "2"}
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(form))
    return str(path)


def test_a_plan_tells_whom_it_would_preempt(run: Run, taking: str) -> None:
    said = run("plan", "main", taking)
    assert said.code == 2
    assert "east: warning: Preempts 1 pod, 1 because of the change." in said.out
    assert "1 pod of canary-ns/etl on n1 is preempted for root.prod." in said.out


def test_what_the_caller_rules_out_exits_with_3_and_is_not_put_in_force(run: Run, taking: str) -> None:
    said = run("plan", "main", taking, "--fail-on", "preemptions,unknown")
    assert said.code == 3
    assert "east: error: The change would preempt 1 pod in east." in said.out
    said = run("apply", "main", taking, "--reason", "why", "--fail-on", "preemptions")
    assert (said.code, said.out) == (3, "")
    assert "The change would preempt 1 pod in east." in said.err
    assert Revision.objects.filter(hierarchy__name="main").count() == 1
    assert run("plan", "main", taking, "--fail-on", "loops,unknown").code == 2


def test_junit_has_a_case_for_each_finding_and_each_cluster(site: Cluster, run: Run, queues: Path) -> None:
    said = run("plan", "prod-tree", str(queues), "--output", "junit", "--fail-on", "unknown")
    suites = ET.fromstring(said.out)
    cases = {(case.get("classname"), case.get("name")): case for case in suites.iter("testcase")}
    assert (said.code, suites.get("failures"), suites.get("tests")) == (3, "1", str(len(cases)))
    failure = cases["forecast", "prod"].find("failure")
    assert failure is not None
    assert "This cluster has not been read yet." in (failure.get("message") or "")
    assert cases["lint", "root.red.batch 10"].find("failure") is None


def test_people_and_junit_are_told_at_once(site: Cluster, run: Run, queues: Path) -> None:
    said = run("plan", "prod-tree", str(queues), "--junit", "plan.xml")
    assert said.out.splitlines()[0] == RAISED
    assert Path("plan.xml").read_text() == run("plan", "prod-tree", str(queues), "--output", "junit").out
    assert "cannot be written" in run("plan", "prod-tree", str(queues), "--junit", "no/plan.xml").err


def test_annotations_stand_at_their_lines(site: Cluster, run: Run, queues: Path) -> None:
    out = run("lint", "prod-tree", str(queues), "--output", "github", "--fail-on", "lint:warning").out
    assert "::error file=queues.yaml,line=10,title=lint root.red.batch::It is the only leaf" in out


def test_lint_passes_over_what_a_plan_would_change(site: Cluster, run: Run, queues: Path) -> None:
    said = run("lint", "prod-tree", str(queues))
    assert said.code == 0
    assert RAISED not in said.out
    assert "has not been read" not in said.out
    assert run("lint", "prod-tree", str(queues), "--fail-on", "lint:warning").code == 3


@pytest.mark.parametrize(
    ("document", "line", "sentence"),
    [
        ("a: [1", 1, ""),
        (QUEUES.replace("8Gi", "8Gb"), 12, "8Gb is not a valid amount"),
    ],
)
def test_what_is_wrong_with_a_document_is_told_at_its_line(
    site: Cluster, run: Run, queues: Path, document: str, line: int, sentence: str
) -> None:
    queues.write_text(document)
    for order in (["plan"], ["lint"], ["apply", "--reason", "why"]):
        said = run(*order[:1], "prod-tree", str(queues), *order[1:])
        assert said.code == 1, said
        assert f"queues.yaml:{line}: error:" in said.out + said.err
        assert sentence in said.out + said.err
    assert f"::error file=queues.yaml,line={line}," in run("plan", "prod-tree", "queues.yaml", "--output", "github").out


def test_what_is_exported_is_no_change(site: Cluster, run: Run, queues: Path) -> None:
    run("apply", "prod-tree", str(queues), "--reason", "why")
    for form in ("yunikorn", "kueue", "scheduler-admin", "json"):
        said = run("export", "prod-tree", "--format", form)
        assert (said.code, said.err) == (0, "")
        queues.write_text(said.out)
        if form != "kueue":  # which says of the root what ours leaves open
            assert run("diff", "prod-tree", str(queues)).code == 0, form
    assert run("export", "prod-tree").out == QUEUES  # in the format that the tree came from


def test_a_revision_is_held_against_the_tree_in_force(site: Cluster, run: Run, queues: Path) -> None:
    run("apply", "prod-tree", str(queues), "--reason", "why")
    said = run("diff", "prod-tree", "1")
    assert (said.code, said.out) == (2, "root.red.batch: max cpu 12 → 10\n")


def test_two_revisions_are_held_against_each_other(site: Cluster, run: Run, queues: Path) -> None:
    run("apply", "prod-tree", str(queues), "--reason", "why")
    assert run("diff", "prod-tree", "1", "2") == (2, f"{RAISED}\n", "")
    assert run("diff", "prod-tree", "2", "1") == (2, "root.red.batch: max cpu 12 → 10\n", "")
    assert run("diff", "prod-tree", "2", "2") == (0, "", "")
    assert run("diff", "prod-tree", "2", "7").code == 1
    said = run("diff", "prod-tree", str(queues), "1")
    assert (said.code, "both must be revision numbers" in said.err) == (1, True)


@pytest.mark.usefixtures("site")
def test_errors_are_a_sentence_without_the_token(run: Run, queues: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", "sa_wrong-and-secret")
    wrong = run("plan", "prod-tree", str(queues))
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", token_of("reader", "read"))
    reading = run("plan", "prod-tree", str(queues))
    unknown = run("export", "nowhere")
    monkeypatch.setenv("SCHEDULER_ADMIN_URL", "http://127.0.0.1:9")
    away = run("export", "prod-tree")
    for said in (wrong, reading, unknown, away):
        assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
        assert "sa_" not in said.err
    assert "tree:plan" in reading.err
    assert "http://127.0.0.1:9 cannot be reached: [Errno 111] Connection refused." in away.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "prod-tree", "nowhere.yaml"],
        ["apply", "prod-tree", "queues.yaml"],
        ["plan"],
        ["fly"],
        ["plan", "prod-tree", "queues.yaml", "--fail-on", "x"],
    ],
)
def test_wrong_use_exits_with_1(site: Cluster, run: Run, queues: Path, arguments: list[str]) -> None:
    said = run(*arguments)
    assert (said.code, said.out) == (1, "")
    assert said.err


def test_a_token_is_read_from_a_file_and_wanted(
    site: Cluster, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text(token_of("reader", "read") + "\n")
    monkeypatch.delenv("SCHEDULER_ADMIN_TOKEN")
    assert run("--token-file", str(path), "export", "prod-tree").code == 0
    assert run("export", "prod-tree").code == 1


def test_the_api_answers_in_the_language_of_the_environment(
    site: Cluster, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scheduler_admin_client.site.LANGUAGE", "zh-CN")
    said: Any = run("export", "nowhere")
    assert not said.err.isascii()


def test_pods_that_would_be_in_no_queue_are_told_and_have_to_be_allowed(
    site: Cluster, busy: Cluster, run: Run, tmp_path: Path
) -> None:
    form = own_form(run, "main")
    queue_of(form, "root.test")["path"] = "root.trial"
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(form))
    told = "east: warning: 4 running pods would belong to no queue."
    assert told in run("plan", "main", str(file)).out
    assert run("plan", "main", str(file), "--fail-on", "orphans").code == 3
    refused = run("apply", "main", str(file), "--reason", "a name")
    assert (refused.code, "root.test: 4 running pods would belong to no queue." in refused.err) == (1, True)
    assert run("apply", "main", str(file), "--reason", "a name", "--allow-orphans").code == 0
