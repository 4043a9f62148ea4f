"""The command line, in this process, against a real server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin_client.commands import main
from tests.api import builders
from tests.api.conftest import _noon, _plain_http, busy  # noqa: F401

QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: red
            properties: {preemption.policy: fence}
            resources: {guaranteed: {vcore: 8}}
            queues:
              - name: batch
                properties: {preemption.delay: 5s, scheduler-admin.io/namespaces: red}
                resources: {guaranteed: {vcore: 4, memory: 8Gi}, max: {vcore: 12}}
          - name: blue
            properties: {scheduler-admin.io/namespaces: canary-ns}
            resources: {guaranteed: {vcore: 2}}
"""
"""The tree of builders.cluster, but for one max."""


class Said(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


def token_of(name: str, *scopes: str, **limits: Any) -> str:
    """An admin's."""
    return create_token(user=builders.user(name, role=User.Role.ADMIN), name="ci", scopes=list(scopes), **limits)[1]


@pytest.fixture
def site(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Prod with its tree; the environment has its address and a token that may write trees."""
    made = builders.cluster()
    monkeypatch.setenv("SCHEDULER_ADMIN_URL", live_server.url)
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", token_of("ci", "tree:write"))
    return made


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command line."""

    def ran(*arguments: str) -> Said:
        capfd.readouterr()
        code = main(list(arguments))
        return Said(code, *capfd.readouterr())

    return ran


@pytest.fixture
def queues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """queues.yaml in the working directory, which raises one max."""
    monkeypatch.chdir(tmp_path)
    path = Path("queues.yaml")
    path.write_text(QUEUES)
    return path


def own_form(run: Run, hierarchy: str) -> Any:
    """The tree in force, to be changed."""
    return json.loads(run("export", hierarchy, "--format", "json").out)
