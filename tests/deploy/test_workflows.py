"""Workflows, the action, the component and the hook have the form that GitHub, GitLab and pre-commit document.

The schemas are those that these publish themselves; actionlint also knows expressions, contexts and permissions.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.client import test_ci as ci
from tests.controlplane import binaries
from tests.deploy import actionlint
from tests.deploy.test_compose import BASE
from tests.documentation.documents import name
from tests.waiting import PATIENCE_S

WORKFLOWS = sorted((BASE / ".github" / "workflows").glob("*.yml"))
OF_GUIDE = ci.BLOCKS[:2]
HEAD = ci.COMPONENT.split("\n---\n")[0]


def valid(schema: str, *files: Path) -> tuple[bool, str]:
    """Return whether files have the form that a schema asks for, and what is wrong."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    return done.returncode == 0, done.stdout + done.stderr


def written(folder: Path, document: Any, file: str = "document.yml") -> Path:
    """Return a file that has a document."""
    path = folder / file
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return path


def test_github_takes_the_workflows_and_the_action(tmp_path: Path) -> None:
    guides = [written(tmp_path, text, f"guide-{number}.yml") for number, text in enumerate(OF_GUIDE)]
    assert valid("github-workflows", *WORKFLOWS, *guides) == (True, "ok -- validation done\n")
    assert valid("github-actions", BASE / "action.yml") == (True, "ok -- validation done\n")


def test_github_takes_what_proposes_newer_actions() -> None:
    assert valid("dependabot", BASE / ".github" / "dependabot.yml") == (True, "ok -- validation done\n")


def test_gitlab_takes_the_component_and_the_guides_example(tmp_path: Path) -> None:
    component = written(tmp_path, ci.JOBS, "component.yml")
    assert valid("gitlab-ci", component, written(tmp_path, ci.GITLAB), written(tmp_path, HEAD, "head.yml"))[0]


def test_gitlab_would_not_take_another_action_of_an_environment(tmp_path: Path) -> None:
    """The schema is one that finds mistakes."""
    text = json.dumps(ci.JOBS).replace('"access"', '"look"')
    found, said = valid("gitlab-ci", written(tmp_path, text))
    assert (found, "environment" in said) == (False, True)


def test_pre_commit_takes_the_hook() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    subprocess.run(command, cwd=BASE, check=True, timeout=PATIENCE_S)


def test_workflows_may_only_read_unless_a_job_says_more() -> None:
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}


_PIN = re.compile(r"(?<=@)[0-9a-f]{40}  # (v\d+)\.\d+\.\d+$", re.MULTILINE)


def test_actions_of_others_are_pinned_by_commit() -> None:
    """A tag can be moved to other code; the comment says which version the commit is."""
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert text.count("uses: ") == len(_PIN.findall(text))
        for action, pin in re.findall(r"uses: (\S+)@(.*)", text):
            pins.setdefault(action, set()).add(pin)
    assert {action: pin for action, pin in pins.items() if len(pin) > 1} == {}


def by_version(workflow: str) -> str:
    """Return a workflow with versions of actions in place of commits: actionlint knows their inputs by these."""
    return _PIN.sub(r"\1", workflow)


def test_every_make_target_of_a_workflow_exists() -> None:
    targets = {line.split(":")[0] for line in (BASE / "Makefile").read_text(encoding="utf-8").splitlines()}
    steps = [
        step for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]
    ]
    made = {step["run"].split()[1] for step in steps if step.get("run", "").startswith("make ")}
    assert {"setup", "test", "test-long", "release"} == made
    assert made <= targets


@pytest.fixture(scope="session")
def built_actionlint() -> None:
    """What knows workflows as GitHub does."""
    binaries.provide("actionlint", actionlint.program().is_file, actionlint.build)


@pytest.mark.actionlint
@pytest.mark.usefixtures("built_actionlint")
@pytest.mark.parametrize(
    "text", [*map(Path.read_text, WORKFLOWS), *OF_GUIDE], ids=[*map(name, WORKFLOWS), "plan", "drift"]
)
def test_actionlint_finds_nothing(text: str) -> None:
    assert actionlint.mistakes(by_version(text)) == ""


@pytest.mark.actionlint
@pytest.mark.usefixtures("built_actionlint")
def test_actionlint_finds_an_input_that_a_pinned_action_does_not_have() -> None:
    text = WORKFLOWS[0].read_text(encoding="utf-8").replace("python-version:", "python:")
    assert 'input "python" is not defined in action "actions/setup-python@v6"' in actionlint.mistakes(by_version(text))


@pytest.mark.actionlint
@pytest.mark.usefixtures("built_actionlint")
def test_actionlint_finds_a_context_that_there_is_not() -> None:
    assert 'undefined variable "secret"' in actionlint.mistakes(OF_GUIDE[0].replace("secrets.", "secret."))
