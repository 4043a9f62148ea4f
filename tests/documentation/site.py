"""Builds the documentation site into var/documentation/site: ``make docs``.

Zensical makes pages of the documents where they lie in the repository, as mkdocs.yml says. What it does not check is
checked here: links to other files, and documents that the navigation lacks. Every page also answers under the name of
its document (``docs/concepts.md``). So a link to a document on a Git server, such as those of pages and alerts, leads
to the site if its beginning is replaced.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import yaml

from scheduler_admin.site import typeface
from tests.api import document
from tests.documentation.broken_links import broken_links
from tests.documentation.documents import BASE, DOCUMENTS, links, name

FOLDER = BASE / "var" / "documentation"
CONFIGURATION = BASE / "mkdocs.yml"
_ASSETS = Path(__file__).parent / "assets"
_REDIRECT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>Moved</title>
<link rel="canonical" href="{address}">
<script>location.replace("{address}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={address}"></noscript>
<p><a href="{address}">The document is here.</a></p>
</html>
"""


_COLORS = re.compile(r"\x1b\[[\d;]*m")


class Broken(Exception):  # noqa: N818 - it is the site that is broken
    """What is wrong with the site, a line for each."""


def build(into: Path) -> Path:
    """Build the site in a folder, which is emptied first, and return the site's own folder. Raises Broken."""
    shutil.rmtree(into, ignore_errors=True)
    _stage(into / "source")
    shutil.copy(CONFIGURATION, into)
    site = render(into)
    for path in DOCUMENTS:
        _redirect(site, path)
    if found := [*outside_navigation(DOCUMENTS), *broken_links(site)]:
        raise Broken("\n".join(found))
    return site


def render(folder: Path) -> Path:
    """Make pages of a folder with a configuration and its sources, and return theirs. Raises Broken."""
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(_COLORS.sub("", done.stdout + done.stderr.partition("Traceback")[0]))
    return folder / "site"


def page_of(path: Path) -> Path:
    """Return where the page of a document is within the site."""
    place = path.relative_to(BASE)
    return place.parent / "index.html" if place.name == "README.md" else place.with_suffix("") / "index.html"


def _linked() -> Iterator[Path]:
    """Yield the files that documents link to and that are none themselves, such as pictures and manifests."""
    found = {target for path in DOCUMENTS for target in links(path) if target.is_file()}
    yield from sorted(found - {*DOCUMENTS})


def _stage(source: Path) -> None:
    """Put everything that the site is made of into one folder, in the places that it has in the repository."""
    for path in (*DOCUMENTS, *_linked()):
        target = source / path.relative_to(BASE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    static = source / "static"
    static.mkdir(exist_ok=True)
    for path in (*_ASSETS.iterdir(), BASE / "static" / "app.css", BASE / "static" / "favicon.svg", *_packaged()):
        shutil.copy(path, static)
    (static / "openapi.json").write_text(json.dumps(document.read()), encoding="utf-8")


def _packaged() -> Iterator[Path]:
    """Yield files out of installed packages: Swagger UI, as the product's own page has it, and the typeface."""
    spec = find_spec("drf_spectacular_sidecar")
    assert spec is not None
    assert spec.origin is not None
    swagger = Path(spec.origin).parent / "static" / "drf_spectacular_sidecar" / "swagger-ui-dist"
    yield from (swagger / "swagger-ui.css", swagger / "swagger-ui-bundle.js")
    yield typeface.typeface_folder(BASE / "var") / typeface.FILE


def _redirect(site: Path, path: Path) -> None:
    """Let the page of a document answer under the document's own name too; web servers open a folder's index.html."""
    place = site / path.relative_to(BASE)
    place.mkdir()
    address = os.path.relpath((site / page_of(path)).parent, place) + "/"
    (place / "index.html").write_text(_REDIRECT.format(address=address), encoding="utf-8")


def outside_navigation(documents: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each document that has no place in the navigation, or several."""
    text = CONFIGURATION.read_text(encoding="utf-8").replace("!!python/object/apply:", "!").replace("!ENV", "")
    listed = [*_pages(yaml.load(text, _Plain)["nav"])]
    for path in documents:
        if (times := listed.count(name(path))) != 1:
            yield f"{name(path)} is {times} times in the navigation of mkdocs.yml."


class _Plain(yaml.SafeLoader):
    """Reads the configuration without what its tags would make."""


_Plain.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


def _pages(nav: object) -> Iterator[str]:
    """Yield the documents of a part of the navigation."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list):
        for one in nav:
            yield from _pages(one)
    elif isinstance(nav, dict):
        for one in nav.values():
            yield from _pages(one)


def main() -> int:
    """Build the site and say where it is, or what is wrong with it."""
    try:
        site = build(FOLDER)
    except Broken as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"The documentation is in {name(site)}. To read it: python3 -m http.server -d {name(site)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
