"""Reads lists page by page."""

from collections.abc import Callable, Iterator

from engine.cluster.connecting.connection import Query
from engine.cluster.errors import ConnectionFailure
from engine.formats.kubernetes.wire import ListPage

MOST_PAGES = 20_000
"""The most pages of a list, ten million objects in pages of 500: beyond that a list is taken to be endless."""


def pages(read: Callable[[Query], ListPage], query: Query) -> Iterator[ListPage]:
    """Yield the pages of a list, each read when the previous one was used.

    Raises ConnectionFailure if there is no end.
    """
    for _page in range(MOST_PAGES):
        page = read(query)
        yield page
        if not page.metadata.continue_:
            return
        query = {**query, "continue": page.metadata.continue_}
    raise ConnectionFailure(f"the list has more than {MOST_PAGES} pages")
