"""When a page first shows something, in a browser on the same machine: ``python -m benchmarks pages``."""

import os
import statistics
import tempfile
from pathlib import Path

import django
from django.conf import settings
from playwright.sync_api import Page, sync_playwright

from benchmarks.editor import Row, site
from tests.browser.chromium import launch

PAGES = ("", "large/queues/", "large/queues/root.tenant-1.group-1.leaf-1/", "large/fences/", "large/history/")
"""Of a cluster with a thousand queues, below ``/clusters/``."""
_PAINTED = """() => new Promise((done) => new PerformanceObserver((list) => {
  const [first] = list.getEntriesByName("first-contentful-paint");
  if (first) done(first.startTime);
}).observe({ type: "paint", buffered: true }))"""


def pages(runs: int) -> list[Row]:
    """A row for each page: milliseconds from asking for it to its first content."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs in this thread
    django.setup()
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder)) as (address, cookie, _draft),
        sync_playwright() as playwright,
        launch(playwright) as browser,
    ):
        context = browser.new_context(base_url=address)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": address}])
        return [_row(context.new_page(), f"/clusters/{path}", runs) for path in PAGES]


def _row(page: Page, path: str, runs: int) -> Row:
    took = [_first_paint(page, path) for _ in range(runs + 1)][1:]  # the first is warming up
    page.close()
    figures = {"median_ms": round(statistics.median(took)), "min_ms": round(min(took)), "max_ms": round(max(took))}
    return {"scenario": path, **figures, "runs": runs}


def _first_paint(page: Page, path: str) -> float:
    page.goto(path)
    return float(page.evaluate(_PAINTED))
