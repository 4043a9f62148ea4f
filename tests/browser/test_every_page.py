"""What holds on every page there is, by the URLconf: whoever adds a page adds it here."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.conf import settings as django_settings
from playwright.sync_api import Browser, Page, Response

from tests.browser.conftest import Console
from tests.browser.pages import PAGES, short
from tests.browser.sound import faults
from tests.grid import world as seeded
from tests.grid.addresses import Route
from tests.grid.conftest import SIMULATOR, World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIMIT = 150_000
"""Bytes of stylesheets and scripts, as they are before compression."""
HEAVY = ("plotly.min.js", "plotly.css", "plot.js", "plot-dates.js", "swagger-ui-bundle.js", "swagger-ui.css")
MAY_BE_HEAVY = {"queue", "comparison", "api_docs"}
"""Pages with plots, and the one of the REST API."""
UNFOLD = "() => document.querySelectorAll('main details').forEach((each) => { each.open = true; })"
SHIFTS = """() => new Promise((done) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries()))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(found.filter((each) => !each.hadRecentInput).flatMap(
    (each) => each.sources.map(({ node }) => [each.value, node?.outerHTML?.slice(0, 90) ?? "gone"]))), 100);
})"""


@pytest.fixture
def world(live_server: Any, settings: Any) -> Iterator[World]:
    """Two tenants with all that may be shown, an hour that lasts, and who asks for it."""
    for name, value in SIMULATOR.items():
        setattr(settings, name, value)
    with time_machine.travel(seeded.NOW):
        people = seeded.people()
        red, blue = seeded.make(people["admin"])
        yield World(red, blue, sessions={"admin": seeded.session_of(people["admin"])}, tokens={})


@pytest.fixture
def page(chromium: Browser, live_server: Any, world: World, said: Console, _answered: None) -> Iterator[Page]:
    """A window at that hour."""
    context = chromium.new_context(base_url=live_server.url)
    shown = context.new_page()
    shown.clock.set_fixed_time(seeded.NOW)
    shown.on("console", lambda message: message.type in {"error", "warning"} and said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    yield shown
    context.close()


def open_route(page: Page, world: World, route: Route, live_server: Any, width: int = 1280) -> list[Response]:
    """The page, drawn in a window of that width. Returns what was loaded for it."""
    if short(route) != "login":
        cookie = {"name": django_settings.SESSION_COOKIE_NAME, "value": world.sessions["admin"], "url": live_server.url}
        page.context.add_cookies([cookie])  # type: ignore[list-item]
    loaded: list[Response] = []

    def arrived(response: Response) -> None:
        loaded.append(response)

    page.on("response", arrived)
    page.set_viewport_size({"width": width, "height": 900})
    answer = page.goto(world.address(route), wait_until="networkidle")
    assert answer is not None
    assert answer.status == 200
    if page.locator("[data-plot]").count():
        page.wait_for_selector(".js-plotly-plot .main-svg")
    if page.locator("#api-docs").count():
        page.wait_for_selector("#api-docs .opblock")
    return loaded


def weight(loaded: list[Response], *, heavy: bool) -> int:
    """Bytes of its stylesheets and scripts; only ``heavy`` pages load what is heavy, and that does not count."""
    ours = [each for each in loaded if urlsplit(each.url).path.endswith((".css", ".js"))]
    light = [each for each in ours if not urlsplit(each.url).path.endswith(HEAVY)]
    assert heavy or light == ours
    return sum(len(each.body()) for each in light)


@pytest.mark.parametrize("route", PAGES, ids=short)
def test_everybody_can_read_and_use_it(page: Page, world: World, live_server: Any, route: Route) -> None:
    """It comes light and stands still. All unfolded, axe finds nothing, nothing hangs over, nothing is tiny."""
    loaded = open_route(page, world, route, live_server)
    wrong: dict[str, Any] = {"moved": page.evaluate(SHIFTS)}
    wrong["too heavy"] = weight(loaded, heavy=short(route) in MAY_BE_HEAVY) > LIMIT
    page.evaluate(UNFOLD)
    page.wait_for_load_state("networkidle")
    wrong |= faults(page, targets=short(route) != "api_docs")
    assert {what: found for what, found in wrong.items() if found} == {}
