"""The page Fences of large trees: what is folded, what is opened, and what is drawn alone."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.fences import pairs
from tests.builders import queue, tree
from tests.engine.test_reach import EXAMPLE
from tests.pages import rows
from tests.pages.fences.fences_page import (
    MANY_QUEUES,
    QUEUE_B,
    TRAINING,
    boxes,
    counts,
    html_of,
    notes,
    published,
    words,
)

pytestmark = pytest.mark.django_db


class TestManyQueues:
    """Large trees fold, and links open them."""

    def test_what_is_too_much_is_folded_and_says_how_much_it_holds(self, ada: Client) -> None:
        """One box for a parent, with a link that opens it."""
        published(MANY_QUEUES)
        html = html_of(ada)
        assert set(boxes(html)) == {f"root.t{n}" for n in range(10)}
        assert html.count(">50 queues</text>") == 10
        assert 'href="?open=root.t3"' in html

    def test_choosing_opens_and_so_does_open(self, ada: Client) -> None:
        """Of an opened queue all its children are drawn, of the chosen one's parent some and how many more."""
        published(MANY_QUEUES)
        html = html_of(ada, "root.t3.q41", open=["root.t5"])
        drawn = set(boxes(html))
        assert {f"root.t5.q{m}" for m in range(50)} <= drawn
        assert "root.t3.q41" in drawn
        assert "root.t3.q40" not in drawn
        assert "20 more queues" in html
        assert "root.t4" in drawn

    def test_what_is_open_is_folded_again_and_with_it_what_was_opened_in_it(self, ada: Client) -> None:
        """Unless the chosen queue lies in it."""
        published(tree({f"t{n}.u{m}.q": queue("1") for n in range(3) for m in range(4)}))
        html = html_of(ada, open=["root.t1.u2"], since="30d")
        assert 'href="?since=30d&amp;fold=root.t1"' in html
        folded = html_of(ada, fold="root.t1", since="30d")
        assert "root.t1" in boxes(folded)
        assert not any(path.startswith("root.t1.") for path in boxes(folded))
        assert 'href="?since=30d&amp;open=root.t1"' in folded
        assert '<input type="hidden" name="fold" value="root.t1">' in folded
        chosen = html_of(ada, "root.t1.u2.q", fold="root.t1")
        assert "root.t1.u2.q" in boxes(chosen)
        assert ">root.t1: Collapse<" not in chosen

    def test_a_part_of_the_tree_is_drawn_alone_and_the_words_are_of_all(self, ada: Client) -> None:
        """With a way back; what went elsewhere is counted."""
        made = published(tree({f"t{n}.q{m}": queue("1") for n in range(3) for m in range(3)}))
        rows.decision(made, "root.t1.q1", victims=("root.t1.q2",))
        rows.decision(made, "root.t1.q1", victims=("root.t2.q1",) * 3)
        html = html_of(ada, "root.t1.q1", **{"in": "root.t1"})
        assert set(boxes(html)) == {f"root.t1.q{m}" for m in range(3)}
        assert len(words(html)) == 8
        assert counts(html) == ["1"]
        assert "For 3 of the preempted pods, the preemptor or the victim is outside the part of the tree" in notes(html)
        assert 'href="?queue=root.t1.q1"' in html
        assert "fences.svg?queue=root.t1.q1&amp;in=root.t1" in html
        assert 'href="?queue=root.t1.q1&amp;in=root.t1"' in html_of(ada, "root.t1.q1")

    def test_a_part_that_is_not_there_is_not_drawn(self, tess: Client, demo: Cluster) -> None:
        """As if it were not said; a tenant's own is."""
        assert boxes(html_of(tess, **{"in": "root.tenant-2"})) == boxes(html_of(tess))
        assert set(boxes(html_of(tess, **{"in": "root.tenant-1"}))) == {QUEUE_B, TRAINING}

    def test_of_many_leaves_only_the_chosen_ones_pairs_are_told(self, ada: Client) -> None:
        """And that is said."""
        published(MANY_QUEUES)
        assert "choose a leaf queue" in html_of(ada)
        html = html_of(ada, "root.t3.q41")
        assert "too many queues to show all pairs; only pairs with t3.q41 are shown" in html
        assert html.split('id="pairs-scroll"')[1].count("<tr") == 500

    def test_of_very_many_leaves_the_chosen_ones_pairs_are_told_page_by_page(
        self, ada: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The pages lead to each other, from the same queue."""
        monkeypatch.setattr(pairs, "MOST_LINES", 498)
        published(MANY_QUEUES)
        first, last = (html_of(ada, "root.t3.q41", page=page) for page in ("1", "5"))
        assert [html.split('id="pairs-scroll"')[1].count("<tr") - 1 for html in (first, last)] == [100, 99]
        assert "1–100 of 499" in first
        assert 'href="?queue=root.t3.q41&amp;page=2"' in first
        assert "401–499 of 499" in last

    def test_a_folded_box_counts_how_many_it_is_true_of(self, ada: Client) -> None:
        """Or says it once, where it holds for all."""
        published(
            tree(
                {"s": queue("1")}
                | {f"t.q{n}": queue(disabled=n < 5) for n in range(50)}
                | {f"u.q{n}": queue() for n in range(50)}
            )
        )
        html = html_of(ada, "root.s")
        assert "preemptable: 45 of 50" in html
        assert "preemptable: no fence" in html
        assert ">45 of 50</span>" in html

    def test_the_database_is_asked_as_often_however_many(self, ada: Client) -> None:
        """Queues, decisions and victims."""
        small = published(EXAMPLE, "small")
        rows.decision(small, "root.system", victims=("root.queue-a",))
        large = published(MANY_QUEUES, "large")
        for n in range(30):
            rows.decision(large, f"root.t{n % 10}.q{n}", victims=(f"root.t{n % 7}.q{n + 1}",) * 3)
        asked = []
        for name, chosen in (("small", "root.system"), ("large", "root.t1.q1")):
            with CaptureQueriesContext(connection) as queries:
                assert ada.get(f"/clusters/{name}/fences/", {"queue": chosen}).status_code == 200
            asked.append(len(queries))
        assert asked[0] == asked[1] <= 9  # the first page of a tree reads what it says, once in a process
