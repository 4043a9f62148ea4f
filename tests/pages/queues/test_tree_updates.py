"""What the page of the tree is told when something changed: the rows that differ, or all of it."""

import re

import pytest
from django.db.models import F
from django.http import HttpResponse
from django.test import Client

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from tests.pages import rows

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/queues/"
QUEUE = "root.tenant-2.queue-2"


def shown(html: str) -> str:
    """What a page that stands there says of itself."""
    frame = re.search(r'data-frame="([^"]+)"', html)
    assert frame
    return " ".join([frame[1], *re.findall(r'data-digest="([^"]+)"', html)])


def refresh(client: Client, page: str, has: str) -> HttpResponse:
    """As a page asks that shows this."""
    return client.get(page, headers={"HX-Request": "true", "X-Rows-Shown": has})  # type: ignore[return-value]


def told(answer: HttpResponse) -> list[str]:
    """The queues in an answer."""
    return re.findall(r'data-path="([^"]+)"', answer.content.decode())


def asks(count: int, path: str = QUEUE) -> None:
    """A pass finds that so many asks wait there."""
    status = ClusterStatus.objects.get()
    figures = dict(status.queues)
    figures[path] = figures[path] | {"asks": count}
    ClusterStatus.objects.update(news=F("news") + 1, queues=figures)


def test_only_rows_that_differ_are_sent(ada: Client, demo: Cluster) -> None:
    """Each as it is in the whole page; what stands around them is not sent either."""
    has = shown(ada.get(PAGE).content.decode())
    asks(77)
    answer = refresh(ada, PAGE, has)
    html = answer.content.decode()
    assert told(answer) == [QUEUE]
    assert answer["HX-Reswap"] == "none"
    assert "<table" not in html
    sent = html.split("<template>")[1].split("</template>")[0].strip().replace(' hx-swap-oob="true"', "")
    assert sent in ada.get(PAGE).content.decode()
    assert 'id="lead" hx-swap-oob="true"' in html
    assert answer["X-Rows-Frame"] == has.split()[0]


def test_times_that_count_on_by_themselves_are_no_news(ada: Client, demo: Cluster) -> None:
    """An ask that waits does so longer at every look."""
    has = shown(ada.get(PAGE).content.decode())
    assert told(refresh(ada, PAGE, has)) == []


@pytest.mark.parametrize("part", ["used", "oldest_ask_ms"])
def test_whatever_a_row_shows_is_news(ada: Client, demo: Cluster, part: str) -> None:
    """Amounts and since when an ask waits, not only how many there are."""
    has = shown(ada.get(PAGE).content.decode())
    figures = dict(demo.status.queues)
    value = {"used": figures[QUEUE]["used"] | {"cpu": 1000}, "oldest_ask_ms": 1_700_000_000_000}
    figures[QUEUE] = figures[QUEUE] | {"asks": 1, part: value[part]}
    ClusterStatus.objects.update(news=F("news") + 1, queues=figures)
    assert told(refresh(ada, PAGE, has)) == [QUEUE]


@pytest.mark.parametrize(
    "has",
    ["", " ", "x", "x y z", "no-frame " + " ".join(["digest"] * len(rows.TREE))],
)
def test_a_page_that_shows_something_else_gets_all(ada: Client, demo: Cluster, has: str) -> None:
    """Whatever it says."""
    answer = refresh(ada, PAGE, has)
    assert len(told(answer)) == len(rows.TREE)
    assert not answer.has_header("HX-Reswap")


def test_rows_in_another_order_are_sent_with_the_table(ada: Client, demo: Cluster) -> None:
    """Sorted by asks, and another queue has the most now: no row is where it was."""
    page = f"{PAGE}?sort=asks"
    before = ada.get(page).content.decode()
    has = shown(before)
    asks(1000)
    answer = refresh(ada, page, has)
    assert told(answer)[0] == QUEUE
    assert sorted(told(answer)) == sorted(re.findall(r'data-path="([^"]+)"', before))
    assert not answer.has_header("HX-Reswap")


def test_another_address_shows_other_rows(ada: Client, demo: Cluster) -> None:
    """Its links lead elsewhere: nothing is taken for what it was."""
    has = shown(ada.get(PAGE).content.decode())
    assert len(told(refresh(ada, f"{PAGE}?folded=root.tenant-1", has))) == len(rows.TREE)


def test_what_one_may_see_is_not_told_by_what_one_claims_to_show(ada: Client, tess: Client, demo: Cluster) -> None:
    """A tenant that says what an admin's page shows gets its own."""
    answer = refresh(tess, PAGE, shown(ada.get(PAGE).content.decode()))
    assert told(answer) == ["root.tenant-1", "root.tenant-1.queue-b", "root.tenant-1.training"]
