"""The guide for pipelines, GitHub's action, GitLab's component and pre-commit's hook: each does what it is there for.

Their scripts run as they stand, in the shell that the platform uses, against a real server.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin_client.commands import cli
from tests.api.rest.test_docs import seen
from tests.client.conftest import QUEUES
from tests.waiting import PATIENCE_S

BASE = Path(__file__).resolve().parents[2]
TEXT = (BASE / "docs" / "guides" / "plan-and-apply-from-ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
GITHUB, DRIFT, GITLAB, PRE_COMMIT, *DECLARED = (each for block in BLOCKS for each in yaml.safe_load_all(block))
ACTION = yaml.safe_load((BASE / "action.yml").read_text(encoding="utf-8"))
COMPONENT = (BASE / "templates" / "queues.yml").read_text(encoding="utf-8")
HOOKS = yaml.safe_load((BASE / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


class Done(NamedTuple):
    """What a script left."""

    code: int
    log: str


def component(inputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the jobs of the component, with the values that GitLab puts into them."""
    head, jobs = COMPONENT.split("\n---\n")
    known = yaml.safe_load(head)["spec"]["inputs"]
    assert set(inputs) <= set(known)
    values = {name: inputs.get(name, one.get("default")) for name, one in known.items()}
    assert None not in values.values()
    found: dict[str, Any] = yaml.safe_load(
        re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: values[match[1]], jobs)
    )
    return found


JOBS = component(GITLAB["include"][0]["inputs"])


@pytest.fixture
def bash(tmp_path: Path, site: Cluster, queues: Path) -> Callable[..., Done]:
    """Return a function that runs a script where scheduler-admin is installed."""
    installed = tmp_path / "runner" / "scheduler-admin" / "bin"
    installed.mkdir(parents=True)
    program = installed / "scheduler-admin"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={BASE} exec {sys.executable} -m scheduler_admin_client "$@"\n')
    program.chmod(0o755)

    def run(script: str, *, options: tuple[str, ...] = ("-e",), **environment: str) -> Done:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", *options, "-c", script],
            env={**os.environ, "PATH": f"{installed}:{os.environ['PATH']}", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    return run


@pytest.fixture
def action(bash: Callable[..., Done], tmp_path: Path) -> Callable[..., Done]:
    """Return a function that runs the action as GitHub does: with its inputs, and files for what it reports."""

    def run(**given: str) -> Done:
        step = next(one for one in ACTION["runs"]["steps"] if one.get("id") == "run")
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | given
        inputs["reason"] = given.get("reason", "acme/trees abc")
        keys = {"site": os.environ["SCHEDULER_ADMIN_URL"], "token": os.environ["SCHEDULER_ADMIN_TOKEN"]}
        inputs |= {"hierarchy": "prod-tree", **keys, **given}
        environment = {name: inputs[re.findall(r"inputs\.([\w-]+)", value)[0]] for name, value in step["env"].items()}
        runner = {"RUNNER_TEMP": tmp_path / "runner", "GITHUB_OUTPUT": tmp_path / "output"}
        runner |= {"GITHUB_STEP_SUMMARY": tmp_path / "summary.md"}
        options = ("-e", "-o", "pipefail")
        return bash(step["run"], options=options, **environment, **{name: str(path) for name, path in runner.items()})

    return run


def test_the_action_plans_and_then_applies_that_plan(action: Callable[..., Done], tmp_path: Path) -> None:
    seen()
    planned = action(command="plan", **{"fail-on": "preemptions,orphans"})
    assert (planned.code, Revision.objects.count()) == (0, 1)
    assert "::warning file=queues.yaml,line=10," in planned.log
    assert (tmp_path / "output").read_text() == "changed=true\n"
    summary = (tmp_path / "summary.md").read_text()
    assert "### scheduler-admin plan prod-tree" in summary
    assert "root.red.batch: max cpu 10 → 12" in summary
    assert "::warning" not in summary
    assert json.loads(Path("plan.json").read_text())["hierarchy"] == "prod-tree"
    applied = action(command="apply", **{"fail-on": "preemptions,orphans"})
    assert (applied.code, Revision.objects.get(number=2).reason) == (0, "acme/trees abc")
    assert action(command="plan", **{"fail-on": "orphans"}).code == 0
    assert (tmp_path / "output").read_text().splitlines()[-1] == "changed=false"


def test_the_action_does_not_apply_over_another_tree(action: Callable[..., Done], bash: Callable[..., Done]) -> None:
    assert action(command="plan", **{"fail-on": "orphans"}).code == 0
    Path("other.yaml").write_text(QUEUES.replace("12", "11"))
    assert bash('scheduler-admin apply prod-tree other.yaml --reason "by hand"').code == 0
    applied = action(command="apply", **{"fail-on": "orphans"})
    assert (applied.code, "Another tree was published meanwhile." in applied.log) == (1, True)


def test_the_action_rules_out_what_nobody_knows_unless_it_is_told_otherwise(action: Callable[..., Done]) -> None:
    assert action(command="plan").code == 3
    assert action(command="apply").code == 3
    assert action(command="plan", hierarchy="prod-treee").code == 3
    assert Revision.objects.count() == 1


def test_the_action_creates_a_hierarchy_only_when_it_is_told_to(action: Callable[..., Done]) -> None:
    assert action(command="apply", hierarchy="new", **{"fail-on": "orphans"}).code == 1
    assert action(command="apply", hierarchy="new", create="true", **{"fail-on": "orphans"}).code == 0
    assert Hierarchy.objects.filter(name="new").exists()


def test_the_action_finds_drift(action: Callable[..., Done]) -> None:
    drifted = action(command="drift")
    assert (drifted.code, "::error file=queues.yaml::The published tree of prod-tree" in drifted.log) == (2, True)
    action(command="apply", **{"fail-on": "orphans"})
    assert action(command="drift").code == 0


def test_the_action_lints_and_refuses_other_commands(action: Callable[..., Done]) -> None:
    assert action(command="lint").code == 0
    assert action(command="lint", **{"fail-on": "lint:warning"}).code == 3
    assert action(command="fly").code == 1


def test_the_action_puts_no_input_into_its_scripts() -> None:
    """A name that has a command in it would be run."""
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]] == []


def test_the_workflows_of_the_guide_give_the_action_what_it_needs() -> None:
    steps = [step for one in (GITHUB, DRIFT) for job in one["jobs"].values() for step in job["steps"]]
    uses = [step["with"] for step in steps if "scheduler-admin@" in step.get("uses", "")]
    assert [one["command"] for one in uses] == ["plan", "apply", "drift"]
    needed = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert all(needed <= set(one) <= set(ACTION["inputs"]) for one in uses)
    secrets = [re.findall(r"secrets\.(\w+)", one["token"])[0] for one in uses]
    assert secrets == [f"SCHEDULER_ADMIN_{which}_TOKEN" for which in ("PLAN", "APPLY", "PLAN")]
    assert GITHUB["jobs"]["apply"]["environment"] == "production"


def script(job: str) -> str:
    """Return the commands of a job of the component."""
    return "\n".join(JOBS[f"{job} prod-tree"]["script"])


CI = {"CI_PROJECT_PATH": "acme/trees", "CI_COMMIT_SHA": "abc"}


def test_the_component_plans_and_then_applies_that_plan(bash: Callable[..., Done]) -> None:
    seen()
    lenient = {name: script(name).replace(",unknown", "") for name in ("plan", "apply", "drift")}
    assert bash(lenient["plan"], **CI).code == 2
    assert bash(lenient["drift"], **CI).code == 2
    assert Path("plan.xml").read_text().startswith("<?xml")
    assert Revision.objects.count() == 1
    assert bash(lenient["apply"], **CI).code == 0
    assert Revision.objects.get(number=2).reason == "acme/trees abc"
    assert bash(lenient["plan"], **CI).code == 0
    assert bash(lenient["drift"], **CI).code == 0


def test_the_component_rules_out_what_nobody_knows(bash: Callable[..., Done]) -> None:
    assert bash(script("plan"), **CI).code == 3
    assert bash(script("apply"), **CI).code == 1  # there is no plan
    assert Revision.objects.count() == 1


def test_the_component_lets_changes_through_and_drift_not() -> None:
    allowed = {name.partition(" ")[0]: job.get("allow_failure") for name, job in JOBS.items()}
    assert allowed == {"plan": {"exit_codes": [2]}, "apply": None, "drift": None}


def test_each_job_of_the_component_gets_the_token_of_its_environment() -> None:
    """GitLab hands a variable with a scope only to jobs of that environment; the guide names both scopes."""
    environments = {name.partition(" ")[0]: job["environment"] for name, job in JOBS.items()}
    assert environments["plan"] == environments["drift"] == {"name": "queues/plan", "action": "access"}
    assert environments["apply"] == {"name": "queues/production"}
    scopes = re.findall(r"\| the token with `([\w:]+)` \| `([\w/]+)`", TEXT)
    assert scopes == [("tree:plan", "queues/plan"), ("tree:write", "queues/production")]


def test_the_component_applies_after_its_plan_with_its_file() -> None:
    assert JOBS["apply prod-tree"]["needs"] == ["plan prod-tree"]
    assert "plan.json" in JOBS["plan prod-tree"]["artifacts"]["paths"]


def test_the_hook_checks_the_document(bash: Callable[..., Done]) -> None:
    """pre-commit adds the arguments of the repository and the files."""
    (hook,) = HOOKS
    (used,) = PRE_COMMIT["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    assert hook["additional_dependencies"] == ["./scheduler_admin_client"]
    assert re.search(hook["files"], "trees/queues.yaml")
    command = " ".join([hook["entry"], *used["args"], "queues.yaml"])
    assert bash(command).code == 3
    assert bash(command.replace("lint:warning", "lint:error")).code == 0


def test_every_command_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+) [A-Z]", TEXT, re.MULTILINE)) == set(cli.commands)
