"""A pool of browser windows that keep cached files and compiled scripts from test to test, and nothing else."""

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.waiting import PATIENCE_S

PATIENCE_MS = PATIENCE_S * 1000


class WindowPool:
    """Opens windows for one test after another; compiling plotly anew in each would take two seconds."""

    def __init__(self, browser: Browser, site: str) -> None:
        self._browser, self._site = browser, site
        self._kept: list[BrowserContext] = []
        self._pages: list[Page] = []
        """Of this test; the first of them are in the contexts that are kept."""
        self._isolated: list[BrowserContext] = []

    def open(self, *, width: int, scheme: Any, **options: Any) -> Page:
        """Open a window that shares no cookie and no storage with others of the same test.

        ``options`` are those of Playwright's new_context. With any of them, or with ``isolated=True``, the window has a
        context of its own, which ends with the test.
        """
        isolated = options.pop("isolated", False) or bool(options)
        context = self._new(options) if isolated else self._next()
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        if isolated:
            self._isolated.append(context)
        else:
            self._pages.append(page)
        return page

    def reset(self) -> None:
        """Close the windows of a test, and forget what they stored."""
        for page in self._pages:
            context = page.context
            for one in context.pages[1:]:
                one.close()  # first: a page that is open without its cookie is refused
            kinds = {"origin": self._site, "storageTypes": "local_storage,indexeddb,service_workers,cache_storage"}
            context.new_cdp_session(context.pages[0]).send("Storage.clearDataForOrigin", kinds)
            context.clear_cookies()
        for context in self._isolated:
            context.close()
        self._pages, self._isolated = [], []

    def _next(self) -> BrowserContext:
        if len(self._pages) == len(self._kept):
            self._kept.append(self._new({}))
            self._kept[-1].new_page().goto("/sign-in/")  # its process lasts, with what it has compiled
        return self._kept[len(self._pages)]

    def _new(self, options: dict[str, Any]) -> BrowserContext:
        context = self._browser.new_context(base_url=self._site, **options)
        context.set_default_timeout(PATIENCE_MS)
        return context
