"""What docs and the deployment files say, held against the code."""

import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command, get_commands

from engine.cluster.acting.lease import LEASE_NAME, LEASE_NAMESPACE
from engine.cluster.watching.tables import EVERY
from engine.model.decision import Interlock
from engine.observation.evictions import EVIDENCE, EvictionSource
from scheduler_admin.accounts.management.commands import create_user
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.decisions.models import Decision
from tests.documentation.documents import BASE, DOCUMENTS, links, name

CONCEPTS = (BASE / "docs" / "concepts.md").read_text(encoding="utf-8")
OPERATIONS = BASE / "docs" / "operations"
PEOPLE = (OPERATIONS / "people.md").read_text(encoding="utf-8")


def rows(file: str, heading: str) -> list[list[str]]:
    """Return the code words in the first column of the table under a heading of docs/operations, row by row."""
    text = (OPERATIONS / file).read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    firsts = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", first) for first in firsts]


def test_every_interlock_is_explained() -> None:
    """The table of safeguards holds every one that the engine knows."""
    assert {name for row in rows("safeguards.md", "Safeguards") for name in row} == {one.value for one in Interlock}


def test_every_source_is_explained() -> None:
    """What each of them leaves, and how far that tells, as the engine's own table has it."""
    section = CONCEPTS.split("| source | evidence |")[1].split("| source | condition |")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section[0].splitlines() if "| `" in line]
    schedulers = {re.findall(r"`([^`]+)`", cells[0])[0]: cells for cells in lines}
    assert schedulers.keys() == set(EVIDENCE)
    for source, evidence in EVIDENCE.items():
        _, _, asks, _, again = schedulers[source]
        assert (asks != "unreported", again != "not yet") == (evidence.names_preemptor, evidence.is_replayed), source


def test_a_decision_may_be_made_by_every_source() -> None:
    """Ours, and whatever is observed."""
    assert set(Decision.Source.values) == {"engine", *EvictionSource}
    assert set(Decision.EVICTORS) == set(EvictionSource) - set(EVIDENCE)


def test_every_service_is_explained() -> None:
    """The table of processes holds every service that starts by itself."""
    services = yaml.safe_load((BASE / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert {name for row in rows("install.md", "Processes") for name in row} == set(services) - {"simulator"}


def test_every_command_exists() -> None:
    """Each manage.py command that the docs tell people to run is there."""
    texts = [path.read_text(encoding="utf-8") for path in (BASE / "docs").rglob("*.md")]
    named = set(re.findall(r"manage\.py (\w+)", " ".join(texts)))
    assert {"import_queues", "add_cluster", "set_mode", "create_token"} <= named <= set(get_commands())


@pytest.mark.django_db
def test_the_people_of_the_example_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that create a tenant and users do, with passwords that are typed or piped in."""
    commands = re.findall(r"manage\.py (create_(?:tenant|user) .*)", PEOPLE)
    monkeypatch.setattr(create_user, "getpass", lambda _prompt: "correct horse battery")
    for command in commands:
        arguments, _redirected, _file = command.partition(" < ")
        monkeypatch.setattr(sys, "stdin", io.StringIO("staple battery horse\n"))
        call_command(*shlex.split(arguments), stdout=io.StringIO())
    members = Tenant.objects.get(name="red").memberships.order_by("user__username")
    assert list(members.values_list("user__username", "role")) == [("alice", "tenant"), ("erin", "editor")]
    assert User.objects.get(username="olga").role == User.Role.OPERATOR


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a document has its file."""
    for target in links(path):
        assert target.exists(), target


def test_the_index_lists_every_document() -> None:
    """docs/README.md links to each document, or to the README.md of its folder, which does."""
    index = BASE / "docs" / "README.md"
    listed = set(links(index))
    contents = {path for path in listed if path.name == "README.md" and path.parent != BASE}
    listed |= {path for page in contents for path in links(page) if path.parent == page.parent}
    assert set((BASE / "docs").rglob("*.md")) - {index} <= listed
    assert index in links(BASE / "README.md")


def test_every_picture_is_in_a_document() -> None:
    """No file in docs is left that nobody reads."""
    files = {path for path in (BASE / "docs").rglob("*") if path.is_file() and path.suffix != ".md"}
    assert files <= {path for document in DOCUMENTS for path in links(document)}


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    texts = [(BASE / "deploy" / name).read_text(encoding="utf-8") for name in ("observe.yaml", "rbac.yaml")]
    documents = [document for text in texts for document in yaml.safe_load_all(text)]
    return [
        {"role": document["metadata"]["name"], **rule} for document in documents for rule in document.get("rules", ())
    ]


def test_nothing_may_be_deleted(rules: list[dict[str, Any]]) -> None:
    """No role holds delete, a wildcard, or a secret; evictions are the only way that pods go."""
    verbs = {verb for rule in rules for verb in rule["verbs"]}
    resources = {resource for rule in rules for resource in rule["resources"]}
    assert verbs == {"get", "list", "watch", "create", "patch", "update"}
    assert "pods/eviction" in resources
    assert not resources & {"*", "secrets"}


def test_observing_writes_nothing(rules: list[dict[str, Any]]) -> None:
    """The role for observe and advise only reads."""
    observe = [rule for rule in rules if rule["role"] == "scheduler-admin-observe"]
    assert {verb for rule in observe for verb in rule["verbs"]} == {"get", "list", "watch"}


def test_observing_may_read_all_that_is_watched(rules: list[dict[str, Any]]) -> None:
    """Every kind that is followed, and no other, is granted with list and watch."""
    observe = [rule for rule in rules if rule["role"] == "scheduler-admin-observe" and "watch" in rule["verbs"]]
    granted = {(group, name) for rule in observe for group in rule["apiGroups"] for name in rule["resources"]}
    paths = [table.path.split("/") for table in EVERY]
    assert granted == {(parts[2] if parts[1] == "apis" else "", parts[-1]) for parts in paths}


def test_the_lease_of_the_role_is_the_engines() -> None:
    """The role is for the lease by its name, in its namespace."""
    (role,) = [
        document
        for document in yaml.safe_load_all((BASE / "deploy" / "rbac.yaml").read_text(encoding="utf-8"))
        if document["kind"] == "Role"
    ]
    assert role["metadata"]["namespace"] == LEASE_NAMESPACE
    assert [LEASE_NAME] in [rule.get("resourceNames") for rule in role["rules"]]


_SOURCE = re.compile(r"`((?:[a-z_]+/)+[a-zA-Z_.-]+\.(?:py|html))`")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_source_that_a_document_names_is_there(path: Path) -> None:
    """By its whole path, so that it can be copied; the file names that every app has are no paths."""
    named = set(_SOURCE.findall(path.read_text(encoding="utf-8"))) - {"api/urls.py"}
    assert [source for source in sorted(named) if not (BASE / source).is_file()] == []
