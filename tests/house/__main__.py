"""Prints what is wrong with names, words, pages and templates, and exits with 1 if anything is."""

import ast
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from tests.house.folders import crowded
from tests.house.forms import read_by_hand
from tests.house.templates import long_lines
from tests.house.texts import catalogue_findings, document_findings
from tests.house.words import Finding, banned, fragments, shared_names

FOLDERS = ("engine", "simulator")
ROOMS = ("engine", "scheduler_admin", "scheduler_admin_client", "simulator")
PAGES = ("scheduler_admin",)
"""Folders in which pages lie."""
TEMPLATES = Path("templates")
CATALOGUES = (
    Path("locale/zh_Hans/LC_MESSAGES/django.po"),
    Path("scheduler_admin_client/locale/zh_Hans/LC_MESSAGES/scheduler_admin_client.po"),
)
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "scheduler_admin_client")
SAME_EVERYWHERE = {
    "Costs": "what the victims on every node cost by a policy's criteria",
    "NodeCandidates": "what a policy would evict on every node",
    "Parameters": "what a revision may set for a policy",
    "_Judged": "a pending pod that a policy's tiers are worked out for",
    "_List": "a list of Kubernetes objects",
    "_Meta": "the metadata of a Kubernetes object",
    "_Review": "an object that the API server answers with its status",
    "_Spec": "the spec of a Kubernetes object",
    "_Status": "the status of a Kubernetes object",
}
"""Class names that mean the same in every package that has them -> what that is."""


def findings(folders: Iterable[str]) -> Iterator[Finding]:
    """Yield everything that is wrong in some folders, file by file."""
    places = map(Path, folders)
    paths = sorted(chain.from_iterable(one.rglob("*.py") if one.is_dir() else (one,) for one in places))
    sources = {path: path.read_text() for path in paths}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    for path, tree in trees.items():
        yield from fragments(path, tree)
        yield from banned(path, sources[path], tree)
    yield from shared_names(trees, SAME_EVERYWHERE)


def pages_that_read(folders: Iterable[str]) -> Iterator[Finding]:
    """Yield every place where a page reads what is sent by hand."""
    for path in sorted(chain.from_iterable(Path(one).rglob("*.py") for one in folders)):
        source = path.read_text()
        yield from read_by_hand(path, source, ast.parse(source))


def texts_for_people() -> Iterator[Finding]:
    """Yield everything that is hard to read in the message catalogue and in the documents."""
    yield from chain.from_iterable(map(catalogue_findings, CATALOGUES))
    for path in sorted(chain.from_iterable([*Path(one).rglob("*.md")] or [Path(one)] for one in DOCUMENTS)):
        yield from document_findings(path)


if __name__ == "__main__":
    named = findings(sys.argv[1:] or FOLDERS)
    laid_out = [*crowded(map(Path, ROOMS)), *pages_that_read(PAGES), *long_lines(TEMPLATES)]
    found = [*named, *laid_out, *texts_for_people()]
    for one in found:
        print(one)
    sys.exit(1 if found else 0)
