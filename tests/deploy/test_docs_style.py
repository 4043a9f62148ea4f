"""The style page shows components that there are: its classes, properties, files and template tags."""

import re
from html.parser import HTMLParser

from django.template.engine import Engine

from tests.deploy.test_compose import BASE

PAGE = (BASE / "docs" / "style.html").read_text(encoding="utf-8")
STYLESHEET = (BASE / "static" / "app.css").read_text(encoding="utf-8")
OWN = {"swatches", "source", "sample"}
"""What the page has for itself."""


class _Reader(HTMLParser):
    """Collects the classes of a document and what stands in its ``code`` elements."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: set[str] = set()
        self.code: list[str] = []
        self._in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.classes |= set((dict(attrs).get("class") or "").split())
        self._in_code = tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._in_code = False

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self.code.append(data)


def read() -> _Reader:
    reader = _Reader()
    reader.feed(PAGE)
    return reader


def test_the_stylesheet_has_each_class_of_the_page() -> None:
    known = set(re.findall(r"\.([a-z][\w-]*)", STYLESHEET))
    assert read().classes - OWN
    assert read().classes - OWN - known == set()


def test_the_stylesheet_has_each_property_that_is_named() -> None:
    named = set(re.findall(r"--[\w-]+(?=[<)\s])", PAGE))
    assert len(named) > 15
    assert {one for one in named if f"{one}:" not in STYLESHEET} == set()


def test_every_color_and_size_of_the_stylesheet_is_shown() -> None:
    kinds = "size|paper|raised|float|ink|hair|rule|edge|accent|below|above|bad"
    tokens = re.findall(rf"^  (--(?:{kinds})[\w-]*):", STYLESHEET, re.MULTILINE)
    derived = {"--accent-wash", "--bad-wash"}
    assert {one for one in tokens if one not in PAGE} <= derived


def test_every_file_that_is_named_exists() -> None:
    named = [one for one in read().code if "/" in one and " " not in one]
    assert len(named) > 8
    assert [one for one in named if not (BASE / one).exists()] == []


def test_every_template_tag_that_is_named_exists() -> None:
    named = {found for one in read().code for found in re.findall(r"\{% (\w+)", one)}
    library = Engine.get_default().template_libraries["scheduler"]
    assert named
    assert named <= set(library.tags)
