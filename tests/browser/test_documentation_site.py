"""The documentation site in a browser: from its own server alone, at the addresses of the documents, light and dark."""

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.documentation import site

pytestmark = pytest.mark.browser


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Leave the output of the tests alone."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of the site, below a folder as on GitHub Pages."""
    folder = tmp_path_factory.mktemp("documentation")
    site.build(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/site"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    """Return a page in the dark scheme, which requests nothing elsewhere, misses nothing and has no errors."""
    problems: list[str] = []
    context = chromium.new_context(color_scheme="dark", viewport={"width": 360, "height": 800})
    opened = context.new_page()
    opened.on("request", lambda sent: sent.url.startswith((address, "data:", "blob:")) or problems.append(sent.url))
    opened.on("response", lambda got: got.status < 400 or problems.append(f"{got.status} {got.url}"))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert problems == []


def test_an_address_of_a_document_leads_to_its_page_and_heading(page: Page, address: str) -> None:
    """So DOCS_URL may be this site."""
    for document, wanted in (("concepts.md#ledger", "concepts/#ledger"), ("README.md", "")):
        page.goto(f"{address}/docs/{document}")
        page.wait_for_url(f"{address}/docs/{wanted}")
    expect(page.get_by_role("heading", name="Documentation", level=1)).to_be_visible()


def test_the_reference_shows_operations_in_either_scheme(page: Page, address: str) -> None:
    page.goto(f"{address}/docs/api-reference/")
    page.locator(".opblock-tag").first.click()
    page.locator(".opblock-summary").first.click()
    expect(page.locator(".opblock-body").first).to_contain_text("Parameters")
    expect(page.get_by_role("button", name="Try it out")).to_have_count(0)
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark-mode\b"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_search_finds_a_heading(page: Page, address: str) -> None:
    page.goto(f"{address}/docs/")
    page.locator("label[for=__search]").click()
    page.get_by_placeholder("Search").fill("preemption loop")
    expect(page.get_by_role("option", name="Loops").first).to_be_visible()
