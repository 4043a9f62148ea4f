"""A Chromium for the pages that explain: signed in, in a scheme and a width, with what must hold on every page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.web.rows import PASSWORD

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (360, 1280)]


def signed_in(browser: Browser, server: str, who: str, scheme: str = "light", width: int = 1280) -> Page:
    """A page of somebody who has just signed in; anything the console complains about fails the test at ``sound``."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.complaints = complaints  # type: ignore[attr-defined]
    page.goto(f"{server}/sign-in/")
    page.fill("[name=username]", who)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_load_state()
    return page


def sound(page: Page) -> None:
    """Axe finds nothing, the page does not scroll sideways, and the console is silent."""
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.complaints == []  # type: ignore[attr-defined]
