"""Chromium for tests: the system's where there is one, else the one that Playwright fetches.

That of Debian's chromium-headless-shell takes half of the work that the whole browser takes without its window.
"""

import shutil

from playwright.sync_api import Browser, Playwright

_PROGRAMS = ("chromium-headless-shell", "chromium")
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
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    return playwright.chromium.launch(executable_path=found, args=_QUIET)
