"""The project has one version, in pyproject.toml: everything that names a version names that one."""

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

import yaml

from scheduler_admin_client import __version__ as client_version
from tests.deploy.test_compose import BASE
from tests.deploy.test_docs import DOCUMENTS, name
from tests.deploy.test_upgrade import RELEASES

VERSION = tomllib.loads((BASE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CHANGELOG = (BASE / "CHANGELOG.md").read_text(encoding="utf-8")
NUMBER = r"(\d+\.\d+\.\d+)"
NAMED = re.compile(
    "|".join(
        (
            rf'scheduler-admin(?:-client|-image)?(?::|-|==|, tag: "){NUMBER}',  # image, files of a release, package
            rf"scheduler_admin_client-{NUMBER}",
            rf"(?:scheduler-admin(?:/queues)?@|rev: |tag `)v{NUMBER}",  # what Git's tags are named in
        )
    )
)
"""A version that a document gives to something of ours."""


def releases() -> list[tuple[tuple[int, ...], date]]:
    """Return the versions of the changelog with their dates, the newest first."""
    found = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", CHANGELOG, re.MULTILINE)
    return [(numbers(version), date.fromisoformat(day)) for version, day in found]


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as its numbers, by which versions are ordered."""
    return tuple(int(part) for part in version.split("."))


def versions_named(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield every version that a document gives to something of ours, with the document."""
    for path in paths:
        found = NAMED.findall(path.read_text(encoding="utf-8"))
        yield from ((name(path), version) for groups in found for version in groups if version)


def test_the_chart_has_the_version() -> None:
    """The chart, and the image that it installs by default, have the version of the project."""
    chart = yaml.safe_load((BASE / "deploy" / "chart" / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


def test_the_client_has_the_version() -> None:
    """Its distribution takes it from the package, and what says it at work is the same."""
    project = tomllib.loads((BASE / "scheduler_admin_client" / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "scheduler_admin_client.__version__"}
    assert client_version == VERSION


def test_the_image_is_labelled_with_the_version() -> None:
    """The label is in the stage that is the product."""
    product = (BASE / "Dockerfile").read_text(encoding="utf-8").split("\nFROM base AS product\n")[1]
    assert re.findall(r'org\.opencontainers\.image\.version="?([\w.]+)', product) == [VERSION]


def test_documents_name_the_version() -> None:
    """The examples of the documents can be copied as they are."""
    versions = list(versions_named([path for path in DOCUMENTS if path.name != "CHANGELOG.md"]))
    naming = {"guides/plan-and-apply-from-ci.md", "operations/install.md", "operations/support.md"}
    assert {document for document, _ in versions} == {f"docs/{one}" for one in naming}
    assert {version for _, version in versions} == {VERSION}


def test_the_newest_release_of_the_changelog_is_the_version() -> None:
    """Releases follow [Unreleased], the newest first, each with its date."""
    sections = re.findall(r"^## \[?([^\]\s]+)", CHANGELOG, re.MULTILINE)
    assert sections[:2] == ["Unreleased", VERSION]
    assert len(releases()) == len(sections) - 1
    assert all(newer > older for newer, older in pairwise(releases()))
    assert all(newer >= older for (_, newer), (_, older) in pairwise(releases()))


def test_every_release_before_has_a_database_to_upgrade() -> None:
    """An upgrade from each former version is tried, so its database is kept."""
    former = {version for version, _ in releases()[1:]}
    assert {numbers(dump.name.removesuffix(".sql.gz")) for dump in RELEASES.glob("*.sql.gz")} == former


def supported(software: str) -> list[str]:
    """Return the versions of a software that docs/operations/support.md says are tested."""
    text = (BASE / "docs" / "operations" / "support.md").read_text(encoding="utf-8")
    (cell,) = re.findall(rf"^\| {software} \| ([^|]+) \|", text, re.MULTILINE)
    return [one.strip() for one in cell.split(",")]


def pinned(module: str, package: str) -> str:
    """Return the minor version that the tests build of a Go module."""
    text = (BASE / "tests" / "controlplane" / module / "go.mod").read_text(encoding="utf-8")
    (version,) = re.findall(rf"{re.escape(package)} v(\d+\.\d+)\.", text)
    assert isinstance(version, str)
    return version


def test_only_what_is_tested_is_supported() -> None:
    """The programs that the tests build, and the Pythons that the client's distribution names."""
    assert supported("Kubernetes") == [pinned(module, "k8s.io/kubernetes") for module in ("kube", "kube-1.37")]
    assert supported("Helm") == [pinned("helm", "helm.sh/helm/v4")]
    client = tomllib.loads((BASE / "scheduler_admin_client" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(client["classifiers"]))
    assert supported("Python, command line") == pythons
    jobs = yaml.safe_load((BASE / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["client"]["strategy"]["matrix"]["python"] == pythons
    server = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (BASE / "pyproject.toml").read_text(encoding="utf-8")
    )
    assert supported("Python, server") == server == jobs["test"]["strategy"]["matrix"]["python"]
