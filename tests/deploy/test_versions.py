"""The project has one version, in pyproject.toml: everything that names a version names that one."""

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

import yaml

from tests.deploy.test_compose import BASE
from tests.deploy.test_docs import DOCUMENTS, name
from tests.deploy.test_upgrade import RELEASES

VERSION = tomllib.loads((BASE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CHANGELOG = (BASE / "CHANGELOG.md").read_text(encoding="utf-8")
IMAGE_TAG = re.compile(r'scheduler-admin(?::|, tag: ")(\d[\w.-]*)')
"""The tag of our image, as workflows name it and as the values of the chart do."""


def releases() -> list[tuple[tuple[int, ...], date]]:
    """Return the versions of the changelog with their dates, the newest first."""
    found = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", CHANGELOG, re.MULTILINE)
    return [(numbers(version), date.fromisoformat(day)) for version, day in found]


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as its numbers, by which versions are ordered."""
    return tuple(int(part) for part in version.split("."))


def image_tags(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield every tag that a document gives to our image, with the document."""
    for path in paths:
        yield from ((name(path), tag) for tag in IMAGE_TAG.findall(path.read_text(encoding="utf-8")))


def test_the_chart_has_the_version() -> None:
    """The chart, and the image that it installs by default, have the version of the project."""
    chart = yaml.safe_load((BASE / "deploy" / "chart" / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


def test_documents_name_images_of_the_version() -> None:
    """The examples of the documents can be copied as they are."""
    tags = list(image_tags([path for path in DOCUMENTS if path.name != "CHANGELOG.md"]))
    assert {document for document, _ in tags} == {"docs/guides/plan-and-apply-from-ci.md", "docs/operations/install.md"}
    assert {tag for _, tag in tags} == {VERSION}


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
