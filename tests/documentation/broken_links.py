"""Finds links of a folder of HTML pages that lead nowhere. Nothing is requested: other sites only need an address."""

from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCHEMES = {"https", "http", "mailto"}


class Page(HTMLParser):
    """The anchors of a page, and where its links, scripts, stylesheets and pictures lead."""

    def __init__(self, path: Path) -> None:
        """Read a page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what an element has of them."""
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        self.targets |= {value for key in ("href", "src") if (value := values.get(key)) is not None}


def broken_links(site: Path, *, without: frozenset[str] = frozenset({"404.html"})) -> Iterator[str]:
    """Yield a line for each link that leads nowhere, of all pages but some.

    Left out by default is the page of what is not found: it is shown under any address.
    """
    read = cache(Page)
    for path in sorted(site.rglob("*.html")):
        if path.name in without:
            continue
        for target in sorted(read(path).targets):
            if wrong := _wrong(site, path, target, read):
                yield f"{path.relative_to(site)}: {target!r} {wrong}"


def _wrong(site: Path, path: Path, target: str, read: Callable[[Path], Page]) -> str:
    """Return what is wrong with a link; empty if nothing is."""
    parts = urlsplit(target)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "" if parts.scheme in SCHEMES and "." in (parts.netloc or parts.path) else "is no address"
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if place.is_dir():
        place /= "index.html"
    if not place.is_relative_to(site.resolve()) or not place.is_file():
        return "has no file"
    if parts.fragment and place.suffix == ".html" and unquote(parts.fragment) not in read(place).anchors:
        return "has no such anchor"
    return ""
