"""Chromium for tests: the system's where there is one, else the one that Playwright fetches."""

import shutil

from playwright.sync_api import Browser, Playwright

_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # what one page has compiled another need not
]


def launch(playwright: Playwright) -> Browser:
    """A headless browser; close it, or use it as a context manager."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_QUIET)
