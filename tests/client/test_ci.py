"""The guide for pipelines: its workflows are YAML, and their commands do what they are there for."""

import re
import shlex
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin_client.commands import cli
from tests.api.rest.test_docs import seen
from tests.client.conftest import Run, Said

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "plan-and-apply-from-ci.md"
TEXT = GUIDE.read_text(encoding="utf-8")
GITHUB, GITLAB = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL))
COMMIT = {
    "GITHUB_REPOSITORY": "acme/trees",
    "GITHUB_SHA": "abc",
    "CI_PROJECT_PATH": "acme/trees",
    "CI_COMMIT_SHA": "abc",
}


def github(job: str) -> str:
    """The script of a job."""
    return "\n".join(step.get("run", "") for step in GITHUB["jobs"][job]["steps"])


def gitlab(job: str) -> str:
    """The script of a job."""
    return "\n".join(GITLAB[job]["script"])


def ran(script: str, run: Run) -> Said:
    """What the one command in a script leaves."""
    (command,) = re.findall(r"scheduler-admin (.*?)(?: \|\|.*| > .*)?$", script, re.MULTILINE)
    return run(*(Template(word).substitute(COMMIT) for word in shlex.split(command)))


@pytest.mark.parametrize("script_of", [github, gitlab])
def test_a_request_is_planned_and_main_is_applied(site: Cluster, run: Run, queues: Path, script_of: Any) -> None:
    seen()
    planned = ran(script_of("plan"), run)
    assert (planned.code, planned.err, Revision.objects.count()) == (2, "", 1)
    applied = ran(script_of("apply"), run)
    assert (applied.code, Revision.objects.get(number=2).reason) == (0, "acme/trees abc")
    assert ran(script_of("plan"), run).code == 0
    assert ran(script_of("apply"), run).code == 0


@pytest.mark.parametrize("script_of", [github, gitlab])
def test_what_nobody_knows_is_neither_green_nor_applied(site: Cluster, run: Run, queues: Path, script_of: Any) -> None:
    assert ran(script_of("plan"), run).code == 3
    assert ran(script_of("apply"), run).code == 3
    assert Revision.objects.count() == 1


def test_only_changes_are_let_through() -> None:
    """GitLab marks a plan that changes something; GitHub's shell takes its code for good."""
    assert GITLAB["plan"]["allow_failure"] == {"exit_codes": [2]}
    assert github("plan").splitlines()[-1] == 'test "$code" = 0 || test "$code" = 2'


def test_every_command_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+) [A-Z]", TEXT, re.MULTILINE)) == set(cli.commands)
