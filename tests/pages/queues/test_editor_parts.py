"""A tree that is too large for one page is edited part by part; nothing of it is out of reach."""

import re

import pytest
from django.test import Client

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import paging
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.pages.editor import parts
from tests.pages import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(monkeypatch: pytest.MonkeyPatch) -> Draft:
    """A draft of nine queues, where a page draws at most four."""
    monkeypatch.setattr(parts, "MOST", 4)
    monkeypatch.setattr(parts, "PART", 4)
    cluster = rows.cluster("demo")
    assert cluster.hierarchy is not None
    return edits.start(hierarchy=cluster.hierarchy, name="try", author=rows.user())


@pytest.fixture
def ada(client: Client, draft: Draft) -> Client:
    """The browser of an admin."""
    client.force_login(draft.hierarchy.drafts.get().author)
    return client


def key(draft: Draft, name: str) -> int:
    """The key of a queue."""
    return DraftQueue.objects.get(draft=draft, name=name).pk


def drawn(client: Client, draft: Draft, query: str = "") -> list[str]:
    """The names of the rows of a page, from above."""
    html = client.get(f"/clusters/demo/drafts/{draft.pk}/{query}").content.decode()
    return re.findall(r'<a class="name"[^>]*>([^<]+)</a>', html)


def test_a_page_draws_the_top_of_a_large_tree(ada: Client, draft: Draft) -> None:
    """With a way to what is below, and how much there is."""
    assert drawn(ada, draft) == ["root", "queue-a", "system", "tenant-1", "tenant-2"]
    html = ada.get(f"/clusters/demo/drafts/{draft.pk}/").content.decode()
    assert "This page shows 5 of 9 queues." in html
    assert html.count('class="part"') == 2
    assert f'href="?in={key(draft, "tenant-1")}#n{key(draft, "tenant-1")}"' in html


def test_a_part_has_all_below_a_queue_and_what_is_above_it(ada: Client, draft: Draft) -> None:
    """Rows keep what the address says."""
    assert drawn(ada, draft, f"?in={key(draft, 'tenant-1')}") == ["root", "tenant-1", "queue-b", "training"]


@pytest.mark.parametrize("path", ["root.tenant-2.queue-1", "root.tenant-2"])
def test_a_queue_is_found_by_its_path(ada: Client, draft: Draft, path: str) -> None:
    """Whichever part it is in."""
    assert drawn(ada, draft, f"?path={path}") == ["root", "tenant-2", "queue-1", "queue-2"]


def test_a_queue_that_is_unfolded_is_drawn(ada: Client, draft: Draft) -> None:
    """As links to errors unfold it."""
    assert "queue-2" in drawn(ada, draft, f"?queue={key(draft, 'queue-2')}")


def test_news_are_of_the_part_alone(ada: Client, draft: Draft) -> None:
    """The script is told of no row that the page has not."""
    leaf = key(draft, "queue-b")
    address = f"/clusters/demo/drafts/{draft.pk}/news/?in={key(draft, 'tenant-1')}"
    order = ada.post(address, {"shown": f"{leaf}.old"}).json()["order"]
    assert order == [key(draft, name) for name in ("root", "tenant-1", "queue-b", "training")]


def test_a_small_tree_is_drawn_as_a_whole(ada: Client, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without another word."""
    monkeypatch.setattr(parts, "MOST", 9)
    assert len(drawn(ada, draft)) == 9
    assert Cluster.objects.count() == 1


def test_a_revision_of_a_large_tree_is_read_page_by_page(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every queue is on one of them."""
    monkeypatch.setattr(paging, "PAGE", 5)
    first, second = (ada.get(f"/clusters/demo/revisions/1/?page={page}").content.decode() for page in (1, 2))
    found = [re.findall(r'data-row="([^"]+)"', html) for html in (first, second)]
    assert [len(one) for one in found] == [5, 4]
    assert "1–5 of 9" in first
    assert 'href="?page=2"' in first
    assert "6–9 of 9" in second


def test_a_row_looks_as_on_a_page_of_all_rows(ada: Client, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fences, its place among its siblings and its cells, whichever other rows are drawn."""
    parted = whole_rows(ada, f"/clusters/demo/drafts/{draft.pk}/")
    monkeypatch.setattr(parts, "MOST", 9)
    every = whole_rows(ada, f"/clusters/demo/drafts/{draft.pk}/")
    assert len(parted) < len(every) == 9
    complete = [row for row in parted if 'class="part"' not in row]
    assert complete
    assert [row for row in every if row in complete] == complete


def test_a_revision_shows_the_same_rows_in_pages(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE", 5)
    paged = [row for page in (1, 2) for row in whole_rows(ada, f"/clusters/demo/revisions/1/?page={page}")]
    monkeypatch.setattr(parts, "MOST", 9)
    assert paged == whole_rows(ada, "/clusters/demo/revisions/1/")


def whole_rows(client: Client, address: str) -> list[str]:
    """The rows of a page as they are written."""
    return re.findall(r"<tbody .*?</tbody>", client.get(address).content.decode(), re.DOTALL)
