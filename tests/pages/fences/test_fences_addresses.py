"""The page Fences as an address: what a link keeps, what is news, and what a page without a map says."""

import re

import pytest
from django.test import Client

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from tests.builders import queue, tree
from tests.engine.test_reach import EXAMPLE
from tests.pages.fences.fences_page import (
    PAGE,
    TRAINING,
    boxes,
    html_of,
    lead,
    map_of,
    published,
)

pytestmark = pytest.mark.django_db


class TestAddressesAndNews:
    """A link says everything, and the page keeps up."""

    def test_the_page_is_in_the_navigation(self, ada: Client, demo: Cluster) -> None:
        """Between Nodes and History."""
        names = re.findall(r'<li><a href="[^"]*"[^>]*>([^<]+)</a></li>', ada.get(PAGE).content.decode())
        assert names[1:5] == ["Queues", "Nodes", "Fences", "History"]

    def test_an_unknown_queue_is_named_and_none_is_chosen(self, ada: Client, demo: Cluster) -> None:
        """No error; what the address says is shown as text."""
        html = html_of(ada, 'root.<script>"', since="x", open=["y"])
        assert "The current tree has no queue root.&lt;script&gt;&quot;, or you can’t see it." in html
        assert "The current tree has no queue" not in html_of(ada, TRAINING)
        assert lead(html).startswith("3 fences")

    def test_links_keep_what_is_open_and_since_when(self, ada: Client, demo: Cluster) -> None:
        """Choosing another queue changes nothing else."""
        html = html_of(ada, TRAINING, since="30d", open=["root.tenant-2"])
        assert 'href="?queue=root.system&amp;since=30d&amp;open=root.tenant-2"' in html
        assert '<input type="hidden" name="open" value="root.tenant-2">' in html
        assert 'fences.svg?queue=root.tenant-1.training&amp;since=30d&amp;open=root.tenant-2"' in html

    def test_news_comes_as_a_fragment_and_no_news_as_304(self, ada: Client, demo: Cluster) -> None:
        """The form that somebody may be about to use stays."""
        first = ada.get(PAGE, headers={"HX-Request": "true"})
        html = first.content.decode()
        assert 'class="map"' in html
        assert 'id="lead" hx-swap-oob="true"' in html
        assert "<form" not in html.split('class="pulse"')[0]
        again = {"HX-Request": "true", "If-None-Match": first["ETag"]}
        assert ada.get(PAGE, headers=again).status_code == 304
        ClusterStatus.objects.update(news=7)
        assert ada.get(PAGE, headers=again).status_code == 200

    def test_without_a_tree_it_says_what_to_do(self, ada: Client) -> None:
        """No empty map."""
        Cluster.objects.create(name="demo")
        html = html_of(ada)
        assert "There is no queue tree yet." in html
        assert 'class="map"' not in html

    def test_a_tree_of_one_leaf_is_drawn(self, ada: Client) -> None:
        """It reaches nothing, for there is nothing."""
        published(tree({"only": queue("1")}))
        html = html_of(ada, "root.only")
        assert (
            lead(html)
            == "only can’t preempt any other queue: there is no other queue. No other queue can preempt only."
        )
        assert set(boxes(html)) == {"root.only"}

    def test_before_the_first_pass_there_are_no_standings(self, ada: Client) -> None:
        """Borders are known; usage is not."""
        published(EXAMPLE)
        assert "above guarantee" not in html_of(ada, TRAINING)
        assert len(list(map_of(html_of(ada)).iter())) > 20
