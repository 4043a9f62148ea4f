"""Lists of queues can be read page by page, and of one subtree, where a tree is large."""

from typing import Any

import pytest
from django.test import Client

from tests.pages import rows

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/clusters/demo/queues"


@pytest.fixture
def ada(client: Client) -> Client:
    """The browser of an admin, who reads a tree of nine queues."""
    rows.status(rows.cluster("demo"))
    client.force_login(rows.user())
    return client


def read(client: Client, address: str = ADDRESS, **query: str | int) -> Any:
    """The body of an answer."""
    return client.get(address, query).json()


def paths(body: Any) -> list[str]:
    """The queues of an answer."""
    return [one["path"] for one in body["results"]]


def test_pages_have_each_queue_once(ada: Client) -> None:
    """In the order of the whole list."""
    whole, found = read(ada), list[str]()
    page = read(ada, limit=4)
    while page["next"]:
        found += paths(page)
        page = read(ada, page["next"])
    assert (whole["next"], len(paths(whole))) == (None, 9)
    assert found + paths(page) == paths(whole)


def test_a_subtree_is_read_alone(ada: Client) -> None:
    """A queue with all below it."""
    assert paths(read(ada, below="root.tenant-2")) == [
        "root.tenant-2",
        "root.tenant-2.queue-1",
        "root.tenant-2.queue-2",
    ]
    assert paths(read(ada, below="root.nothing")) == []


@pytest.mark.parametrize("query", [{"cursor": "root.nothing"}, {"limit": 0}, {"limit": 1001}, {"below": "a b"}])
def test_what_can_not_be_right_is_refused(ada: Client, query: dict[str, str | int]) -> None:
    """And not ignored."""
    assert ada.get(ADDRESS, query).status_code == 400
