"""The page Fences: who may preempt whom, as the policy has it; what happened; and nothing of others."""

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.formats import yunikorn
from engine.model.queue_tree import QueueTree
from engine.policies import reach_of
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.counts.selectors.pairs import Pair, preempted_pairs
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.queues.models import Revision
from tests.builders import queue, rewrite, tree
from tests.derived import pairs
from tests.engine.test_reach import EXAMPLE, grown
from tests.pages import rows
from tests.pages.fences.fences_page import (
    PAGE,
    QUEUE_B,
    TRAINING,
    arrows,
    boxes,
    counts,
    html_of,
    lead,
    map_of,
    matrix,
    notes,
    published,
    words,
)
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
RULED = tree({"a": queue(), "t.b": queue("1"), "t.c": queue("1", disabled=True), "f": queue("1", fence=True)})
"""A queue without a guarantee, an area, a queue that is turned off, and a fence."""


class TestWhoMayPreemptWhom:
    """Map and tables against what policy ``fence`` does itself."""

    def test_by_yunikorn_s_rules_it_is_said_that_they_do_not_keep_to_it(self, ada: Client) -> None:
        """The map is of the design, and says so."""
        published(EXAMPLE)
        assert "YuniKorn departs from" not in notes(html_of(ada))
        rewrite(Revision.objects.all(), dialect="yunikorn")
        assert "but YuniKorn departs from it in three ways" in notes(html_of(ada))

    @pytest.mark.parametrize("shape", ["example", "demo", *range(sized("worlds", usual=2, long=12))])
    def test_map_words_and_pairs_say_what_the_policy_does(self, ada: Client, shape: str | int) -> None:
        """For every queue of the design's example, of the demo's tree and of random ones."""
        of = shaped(shape)
        published(of)
        truth = pairs(of)
        for chosen in of.leaves:
            html = html_of(ada, chosen)
            want = {leaf: (truth[chosen, leaf], truth[leaf, chosen]) for leaf in of.leaves if leaf != chosen}
            drawn = boxes(html)
            assert drawn.pop(chosen) == (False, False)
            assert drawn == want
            assert words(html) == want
            assert matrix(html, of.leaves) == truth

    @pytest.mark.parametrize(
        ("policy", "dialect"), [("priority", "kube-scheduler"), ("cohort", "kueue"), ("deserved", "arbitrator")]
    )
    def test_under_every_policy_map_words_and_pairs_say_what_its_rules_do(
        self, ada: Client, policy: str, dialect: str
    ) -> None:
        """Not what guarantees would say."""
        published(RULED, policy=policy, dialect=dialect)
        reach, leaves = reach_of(policy, {}), RULED.leaves
        truth = {pair: reach.border(RULED, *pair).allowed for pair in product(leaves, leaves)}
        assert truth != pairs(RULED)
        for chosen in leaves:
            html = html_of(ada, chosen)
            want = {leaf: (truth[chosen, leaf], truth[leaf, chosen]) for leaf in leaves if leaf != chosen}
            assert boxes(html) == {**want, chosen: (False, False)}
            assert {path: both for path, both in words(html).items() if path != chosen} == want
            assert matrix(html, leaves) == truth

    @pytest.mark.parametrize(
        ("policy", "dialect", "chosen", "said"),
        [
            (
                "priority",
                "kube-scheduler",
                "",
                (
                    "Priority alone decides: every queue can preempt every other queue and itself. "
                    "This policy ignores fences and guarantees."
                ),
            ),
            (
                "priority",
                "kube-scheduler",
                "root.queue-a",
                (
                    "queue-a can preempt every other queue: priority alone decides. "
                    "Pods in this queue can preempt each other. "
                    "system, queue-b, training, queue-1 and 1 more can preempt queue-a."
                ),
            ),
            (
                "cohort",
                "kueue",
                TRAINING,
                (
                    "training can preempt only queue-b: nothing is lent or preempted across the fence of tenant-1. "
                    "Pods in this queue can preempt each other. queue-b can preempt training."
                ),
            ),
            (
                "deserved",
                "arbitrator",
                TRAINING,
                (
                    "training can preempt only queue-b: the fence of tenant-1 lets nothing out. "
                    "system and queue-b can preempt training; system can do so because a fence lets preemption in."
                ),
            ),
        ],
    )
    def test_the_lead_is_in_the_words_of_the_policy(
        self, ada: Client, policy: str, dialect: str, chosen: str, said: str
    ) -> None:
        """Fences that count for nothing are not spoken of."""
        published(EXAMPLE, policy=policy, dialect=dialect)
        assert lead(html_of(ada, chosen)) == said

    @pytest.mark.parametrize(
        ("policy", "dialect", "fences", "teeth"),
        [
            ("fence", "design", 3, 3),
            ("priority", "kube-scheduler", 0, 0),
            ("cohort", "kueue", 3, 0),
            ("fair-share", "kueue", 3, 0),
            ("deserved", "arbitrator", 3, 3),
        ],
    )
    def test_a_fence_is_drawn_as_the_policy_has_it(
        self, ada: Client, policy: str, dialect: str, fences: int, teeth: int
    ) -> None:
        """With teeth that point the way in, as a border for both, or not at all."""
        published(EXAMPLE, policy=policy, dialect=dialect)
        html = html_of(ada)
        looks = [each.get("class") for each in map_of(html).iter()]
        assert (looks.count("fenced"), looks.count("teeth")) == (fences, teeth)
        assert "depends on" in notes(html)

    def test_of_a_parent_what_any_leaf_in_it_may_do(self, ada: Client) -> None:
        """And nothing of what they do among themselves."""
        of = tree({"t.a": queue("1", fence=True), "t.b": queue("1"), "c": queue(), "d": queue("1", disabled=True)})
        published(of)
        html = html_of(ada, "root.t")
        assert words(html) == {"root.c": (True, False), "root.d": (False, False)}
        assert boxes(html)["root.t.a"] == (False, False)

    def test_every_border_says_why(self, ada: Client, demo: Cluster) -> None:
        """In the table as a clause, in the box in a word."""
        html = html_of(ada, TRAINING)
        for said in (
            "both below the fence of tenant-1",
            "the fence of tenant-1 lets nothing out",
            "the requesting queue has no fence, and the fence of tenant-1 lets it in",
            "a leaf queue with its own fence can preempt nothing",
            "queues never preempt within themselves",
        ):
            assert said in html
        assert "preemptable: same fence" in html
        assert "preemption out: none; in: system" in html
        assert "blocked here" in html

    @pytest.mark.parametrize(
        ("chosen", "said"),
        [
            (
                TRAINING,
                (
                    "training can preempt only queue-b: the fence of tenant-1 lets nothing out. "
                    "system and queue-b can preempt training; system can do so because a fence lets preemption in."
                ),
            ),
            (
                "root.queue-a",
                (
                    "queue-a can’t preempt any other queue: a leaf queue with its own fence can preempt nothing. "
                    "system can preempt queue-a. This is because a fence lets preemption in."
                ),
            ),
            (
                "root.system",
                "system can preempt every other queue: no fence stops it. No other queue can preempt system.",
            ),
            (
                "",
                (
                    "3 fences: queues inside a fence can preempt only inside it. "
                    "Queues outside may still be able to preempt them. "
                    "Choose a queue to see which queues it can preempt and which can preempt it."
                ),
            ),
        ],
    )
    def test_one_sentence_says_what_matters(self, ada: Client, chosen: str, said: str) -> None:
        """Seen from one queue, or of all fences."""
        published(EXAMPLE)
        assert lead(html_of(ada, chosen)) == said


def shaped(shape: str | int) -> QueueTree:
    """A tree by name, or grown from a seed."""
    if shape == "example":
        return EXAMPLE
    if shape == "demo":
        return yunikorn.read(Path("demo/queues.yaml").read_text(encoding="utf-8")).tree
    return grown(Random(shape))


class TestWhatHappened:
    """Arrows are pods that really went, whoever decided it."""

    def test_an_arrow_runs_from_asker_to_victim_with_its_count(self, ada: Client, demo: Cluster) -> None:
        """The chosen queue's own in its colour."""
        html = html_of(ada, TRAINING)
        assert arrows(html) == {
            "2 pods of queue-b were preempted for pods of training": "arrow own",
            "1 pod of training was preempted for pods of queue-b": "arrow",
            "1 pod of queue-2 was preempted for pods of system": "arrow",
            "1 pod of queue-2 was preempted for pods of queue-1": "arrow",
        }
        assert sorted(counts(html)) == ["1", "1", "1", "2"]
        assert "5 pods preempted, last 7 days" in html

    @pytest.mark.parametrize(("since", "pods"), [("24h", 5), ("7d", 6), ("30d", 7), ("none", 0), ("nonsense", 6)])
    def test_the_time_is_in_the_address(self, ada: Client, demo: Cluster, since: str, pods: int) -> None:
        """Older ones don't count; ``none`` draws none."""
        for days in (3, 20, 40):
            rows.decision(demo, "root.system", minutes=days * 1440, victims=("root.queue-a",))
        html = html_of(ada, since=since)
        assert sum(int(count) for count in counts(html)) == pods

    def test_who_was_spared_makes_no_arrow(self, ada: Client, demo: Cluster) -> None:
        """Only pods that went."""
        Victim.objects.update(state=Victim.State.SPARED)
        html = html_of(ada)
        assert arrows(html) == {}
        assert "No pods were preempted in this period" in notes(html)

    def test_what_went_through_a_fence_is_drawn_and_flagged(self, ada: Client, demo: Cluster) -> None:
        """With who decided it, in the map, below it and in both tables."""
        source = Decision.Source.KUBE_SCHEDULER
        rows.decision(demo, TRAINING, victims=("root.system",) * 4, source=source)
        html = html_of(ada, TRAINING)
        assert arrows(html)["4 pods of system were preempted for pods of training"] == "arrow own odd"
        assert "4, closed border" in counts(html)
        said = " ".join(notes(html).split())
        assert "4 pods of system were preempted for pods of training by kube-scheduler." in said
        assert "The current tree does not allow this preemption: the fence of tenant-1 lets nothing out." in said
        assert html.count('class="st warn"><span class="vh">') == 2
        assert words(html)["root.system"] == (False, True)

    def test_a_daemonsets_ask_needs_no_guarantee(self, ada: Client) -> None:
        """So that it had none is nothing to flag; that it went through a fence is."""
        made = published(tree({"a": queue(), "b": queue("1"), "t.c": queue("1"), "t": queue(fence=True)}))
        for asker, victim in (("a", "b"), ("t.c", "b")):
            rows.decision(made, f"root.{asker}", victims=(f"root.{victim}",), reason="daemonset")
        found = arrows(html_of(ada))
        assert found["1 pod of b was preempted for pods of a"] == "arrow"
        assert found["1 pod of b was preempted for pods of c"] == "arrow odd"

    def test_what_went_within_one_queue_is_told(self, ada: Client, demo: Cluster) -> None:
        """There is no arrow from a box to itself."""
        rows.decision(demo, TRAINING, victims=(TRAINING,), source=Decision.Source.KUBE_SCHEDULER)
        html = html_of(ada)
        assert "1 pod of training was preempted for pods of training by kube-scheduler" in notes(html)
        assert len(arrows(html)) == 4

    def test_an_asker_of_no_leaf_is_counted(self, ada: Client, demo: Cluster) -> None:
        """One without a queue, and one of a queue that is gone."""
        rows.decision(demo, "", victims=(TRAINING,))
        rows.decision(demo, "root.gone", victims=(TRAINING,))
        html = html_of(ada)
        assert "For 2 of the preempted pods, the preemptor or the victim is in no leaf queue" in notes(html)
        assert "7 pods preempted, last 7 days" in html

    def test_the_total_is_that_of_history_and_clusters(self, ada: Client, demo: Cluster) -> None:
        """Wherever they went, be it in the map or not."""
        rows.decision(demo, "", victims=(TRAINING,))
        rows.decision(demo, TRAINING, victims=(TRAINING,), source=Decision.Source.KUBE_SCHEDULER)
        assert "7 pods preempted, last 24 hours" in html_of(ada, since="24h")
        assert "<b>7</b> pods preempted" in ada.get("/clusters/demo/history/?range=24h").content.decode()
        assert "7 pods preempted in 24 hours" in ada.get("/clusters/").content.decode()

    def test_arrows_and_sentences_share_out_the_total(self, ada: Client) -> None:
        """Between boxes, within one, and where no leaf is."""
        made = published(TestManyQueues.SHAPE)
        for asker, victim in (("t0.q0", "t0.q1"), ("t0.q0", "t1.q1"), ("gone", "t1.q1")):
            rows.decision(made, f"root.{asker}", victims=(f"root.{victim}",) * 2)
        html = html_of(ada)
        assert "6 pods preempted" in html
        assert counts(html) == ["2"]
        assert "For 2 of the preempted pods, the preemptor and the victim are in the same box" in notes(html)
        assert "For 2 of the preempted pods, the preemptor or the victim is in no leaf queue" in notes(html)

    def test_of_many_pairs_the_most_frequent_are_drawn(self, ada: Client) -> None:
        """Those of the chosen queue before all others; how many are left out is said."""
        of = tree({f"q{n:02}": queue("1") for n in range(20)})
        made = published(of)
        for n in range(1, 20):
            rows.decision(made, "root.q00", victims=(f"root.q{n:02}",) * n)
        html = html_of(ada)
        assert sorted(map(int, counts(html))) == list(range(8, 20))
        said = " ".join(notes(html).split())
        assert "no arrows for 28 of the preempted pods. They are between 7 more pairs of boxes" in said
        assert "1" in counts(html_of(ada, "root.q01"))

    def test_a_queue_above_its_guarantee_in_any_resource_is_above_it(self, ada: Client, demo: Cluster) -> None:
        """However exactly it uses its guarantee of the others, and with the resources in which it is below."""
        html = html_of(ada)
        assert "cpu 76 above guarantee" in html
        used = {**rows.USED, "root.tenant-1.training": ("360", "1792Gi", "16"), "root.queue-a": ("160", "640Gi", "4")}
        ClusterStatus.objects.update(queues={path: {"used": rows.amounts(given)} for path, given in used.items()})
        html = html_of(ada)
        assert "cpu above, memory below" in html
        assert html.count("at its guarantee<") == 1
        assert "at the bottom of a box: usage compared with the guarantee" in html


class TestManyQueues:
    """Large trees fold, and links open them."""

    SHAPE = tree({f"t{n}.q{m}": queue("1") for n in range(10) for m in range(50)})

    def test_what_is_too_much_is_folded_and_says_how_much_it_holds(self, ada: Client) -> None:
        """One box for a parent, with a link that opens it."""
        published(self.SHAPE)
        html = html_of(ada)
        assert set(boxes(html)) == {f"root.t{n}" for n in range(10)}
        assert html.count(">50 queues</text>") == 10
        assert 'href="?open=root.t3"' in html

    def test_choosing_opens_and_so_does_open(self, ada: Client) -> None:
        """Of an opened queue all its children are drawn, of the chosen one's parent some and how many more."""
        published(self.SHAPE)
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
        published(self.SHAPE)
        assert "choose a leaf queue" in html_of(ada)
        html = html_of(ada, "root.t3.q41")
        assert "too many queues to show all pairs; only pairs with t3.q41 are shown" in html
        assert html.split('id="pairs-scroll"')[1].count("<tr") == 500

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
        large = published(self.SHAPE, "large")
        for n in range(30):
            rows.decision(large, f"root.t{n % 10}.q{n}", victims=(f"root.t{n % 7}.q{n + 1}",) * 3)
        asked = []
        for name, chosen in (("small", "root.system"), ("large", "root.t1.q1")):
            with CaptureQueriesContext(connection) as queries:
                assert ada.get(f"/clusters/{name}/fences/", {"queue": chosen}).status_code == 200
            asked.append(len(queries))
        assert asked[0] == asked[1] <= 9  # the first page of a tree reads what it says, once in a process


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
        assert "Publish a queue tree for this cluster" in html
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


def test_pods_are_counted_by_when_they_went(
    ada: Client, demo: Cluster, django_assert_num_queries: Callable[[int], Any]
) -> None:
    """By asker, victim and source: three queries where no tally tells of it."""
    rows.decision(demo, TRAINING, victims=(QUEUE_B,), source=Decision.Source.YUNIKORN)
    reader = rows.user("audrey", "auditor")
    with django_assert_num_queries(3):
        found = preempted_pairs(reader, demo, timezone.now() - timedelta(minutes=30)).pairs
    assert found[0] == Pair(TRAINING, QUEUE_B, "engine", ordinary=True, pods=2)
    assert Pair(TRAINING, QUEUE_B, "yunikorn", ordinary=True, pods=1) in found
    assert sum(pair.pods for pair in found) == 4
