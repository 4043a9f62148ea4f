"""The documentation site: complete, without dead links, and readable without any other server."""

import json
import re
from pathlib import Path

import pytest
import yaml

from scheduler_admin.site.documents import DOCUMENTS as OF_PAGES
from tests.api import document
from tests.documentation import site as building
from tests.documentation.broken_links import Page
from tests.documentation.documents import BASE, DOCS, DOCUMENTS, anchors, name, prose


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site. Broken links and pages outside the navigation would have raised."""
    return building.build(tmp_path_factory.mktemp("documentation"))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(site / building.page_of(path)) for path in DOCUMENTS}


def test_every_heading_has_the_anchor_that_git_servers_give_it(pages: dict[Path, Page]) -> None:
    """So a link leads to the same place here and there."""
    for path, page in pages.items():
        wanted = set(anchors(path.read_text(encoding="utf-8")))
        assert wanted - page.anchors == set(), name(path)


def test_every_link_of_the_product_leads_to_a_page_and_a_heading(site: Path, pages: dict[Path, Page]) -> None:
    """Those of pages, and those of alerts; a document also answers under its own name."""
    alerts = (BASE / "deploy" / "alerts.yaml").read_text(encoding="utf-8")
    rules = [rule for group in yaml.safe_load(alerts)["groups"] for rule in group["rules"]]
    runbooks = {rule["annotations"]["runbook_url"].removeprefix("DOCS_URL/") for rule in rules}
    for target in sorted({*OF_PAGES.values(), "README.md", *runbooks}):
        file, _, anchor = target.partition("#")
        assert not anchor or anchor in pages[DOCS / file].anchors, target
        moved = (site / "docs" / file / "index.html").read_text(encoding="utf-8")
        (address,) = re.findall(r'rel="canonical" href="([^"]+)"', moved)
        assert (site / "docs" / file / address / "index.html").samefile(site / building.page_of(DOCS / file)), target


def test_the_reference_shows_the_document_of_the_api(site: Path) -> None:
    assert json.loads((site / "static" / "openapi.json").read_text(encoding="utf-8")) == document.read()
    assert 'id="operations"' in (site / building.page_of(DOCS / "api-reference.md")).read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_server(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(https?:)?//|<link\b(?![^>]*canonical)[^>]*//")
    found = [path for path in site.rglob("*.html") if loads.search(path.read_text(encoding="utf-8"))]
    assert found == []
    assert "//" not in re.sub(r"/\*.*?\*/", "", (site / "static" / "site.css").read_text(encoding="utf-8"))


def test_the_search_finds_every_document(site: Path) -> None:
    found = json.loads((site / "search.json").read_text(encoding="utf-8"))
    places = {item["location"].partition("#")[0] for item in found["items"]}
    wanted = {f"{building.page_of(path).parent}/".removeprefix("./") for path in DOCUMENTS}
    assert wanted - places == set()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[There](docs/nothing.md)", "page does not exist"),
        ("[There](#nothing)", "anchor does not exist"),
    ],
)
def test_a_dead_link_stops_the_build(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "README.md").write_text(f"# Scheduler Admin\n\n{text}\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\ndocs_dir: source\nsite_dir: site\nnav: [README.md]\n")
    with pytest.raises(building.Broken, match=complaint):
        building.render(tmp_path)


def test_a_document_outside_the_navigation_stops_the_build() -> None:
    lost = DOCS / "lost.md"
    assert [*building.outside_navigation([lost])] == ["docs/lost.md is 0 times in the navigation of mkdocs.yml."]
    assert [*building.outside_navigation(DOCUMENTS)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_lists_are_written_as_git_servers_and_the_site_both_read_them(path: Path) -> None:
    """A list in a list, and code in one, is indented by four spaces; fewer would be a list of its own on the site."""
    lines = prose(path.read_text(encoding="utf-8")).splitlines()
    assert [line for line in lines if re.match(r" {1,3}(?:[-*] |\d+\. |```)", line)] == []


_NAMED = re.compile(r"(?<![\w/.])docs/[\w/-]+\.md(?:#[\w-]+)?")
_PLACES = (
    "engine",
    "scheduler_admin",
    "scheduler_admin_client",
    "simulator",
    "templates",
    "deploy",
    "benchmarks",
    "demo",
    ".github",
)
_KINDS = {".py", ".html", ".yml", ".yaml", ".json", ".txt"}
_FILES = ("Dockerfile", "docker-compose.yml", "action.yml", "Makefile", "pyproject.toml")


def test_every_document_that_a_source_names_is_there() -> None:
    """Comments and errors name documents by their path, some with a heading."""
    places = (path for place in _PLACES for path in (BASE / place).rglob("*") if path.suffix in _KINDS)
    texts = [path for path in places if "migrations" not in path.parts]
    named = dict[str, str]()
    for path in [*texts, *(BASE / file for file in _FILES)]:
        named |= dict.fromkeys(_NAMED.findall(path.read_text(encoding="utf-8")), name(path))
    assert len(named) > 10
    for target, source in named.items():
        file, _, anchor = target.partition("#")
        assert (BASE / file).is_file(), (source, target)
        assert not anchor or anchor in anchors((BASE / file).read_text(encoding="utf-8")), (source, target)
