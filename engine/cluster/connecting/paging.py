"""Reads lists page by page."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from engine.cluster.connecting.connection import Query
from engine.cluster.errors import ConnectionFailure
from engine.formats.kubernetes.wire import ListPage

MOST_PAGES = 20_000
"""The most pages of a list, ten million objects in pages of 500: beyond that a list is taken to be endless."""


def pages(read: Callable[[Query], ListPage], query: Query) -> Iterator[ListPage]:
    """Yield the pages of a list. While one is used, a thread reads the next, so nobody waits for the server.

    Raises ConnectionFailure if there is no end, and what ``read`` raises.
    """
    page, count = read(query), 1
    while page.metadata.continue_:
        if count == MOST_PAGES:
            raise ConnectionFailure(f"the list has more than {MOST_PAGES} pages")
        following = _begin(read, {**query, "continue": page.metadata.continue_})
        yield page
        page, count = following.result(), count + 1
    yield page


def _begin(read: Callable[[Query], ListPage], query: Query) -> Future[ListPage]:
    """Read a page in a thread of its own, for which no process waits when it ends."""
    found = Future[ListPage]()

    def run() -> None:
        try:
            found.set_result(read(query))
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            found.set_exception(error)

    threading.Thread(target=run, daemon=True, name="next page").start()
    return found
