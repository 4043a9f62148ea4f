"""The page Fences: who may preempt whom, as the policy has it; what happened; and nothing of others."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.formats import yunikorn
from engine.queues import QueueTree
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.pair_selectors import Pair, preempted_pairs
from scheduler_admin.web.fences.drawing import TEXT
from scheduler_admin.web.fences.key import Entry, placed
from scheduler_admin.web.fences.widths import width
from tests.builders import queue, tree
from tests.derived import pairs
from tests.engine.test_reach import EXAMPLE, grown
from tests.web import rows
from tests.web.conftest import client_of
from tests.web.fences_page import arrows, boxes, counts, html_of, map_of, matrix, published, words

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/fences/"
TRAINING, QUEUE_B = "root.tenant-1.training", "root.tenant-1.queue-b"


def lead(html: str) -> str:
    """The sentence above the map."""
    said = re.search(r'<p class="lead">(.*?)</p>', html, re.DOTALL)
    assert said is not None
    return " ".join(re.sub(r"<[^>]+>", "", said[1]).split())


def told(html: str) -> str:
    """All that the page says of its own, without its address, which says what was asked."""
    return re.sub(r' hx-get="[^"]*"', "", html.split("<main")[1].split("</main>", maxsplit=1)[0])


def state(html: str, path: str = TRAINING) -> str:
    """What the box of a leaf says of itself."""
    (said,) = re.findall(rf"<title>{re.escape(path)}: ([^<]*)</title>", html)
    return str(said)


def notes(html: str) -> str:
    """What stands below the map."""
    return re.sub(r"<[^>]+>", "", html.split('class="lines notes"')[1].split("</ul>", maxsplit=1)[0])


class TestWhoMayPreemptWhom:
    """Map and tables against what policy ``fence`` does itself."""

    @pytest.mark.parametrize("shape", ["example", "demo", *range(6)])
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
            "the asker has no fence; that of tenant-1 lets it in",
            "behind a leaf fence it preempts nothing at all",
            "never within one queue (law 3)",
        ):
            assert said in html
        assert "in reach: same fence" in html
        assert "lets nothing out; lets system in" in html
        assert "stops here" in html

    @pytest.mark.parametrize(
        ("chosen", "said"),
        [
            (
                TRAINING,
                (
                    "training reaches queue-b, and nothing else: the fence of tenant-1 lets nothing out. "
                    "system and queue-b reach training; system, because a fence lets preemption in."
                ),
            ),
            (
                "root.queue-a",
                (
                    "queue-a reaches no other queue: behind a leaf fence it preempts nothing at all. "
                    "system reaches queue-a. A fence lets preemption in."
                ),
            ),
            (
                "root.system",
                "system reaches every other queue: no fence holds it in. No other queue reaches system.",
            ),
            (
                "",
                (
                    "3 fences: what is inside preempts only inside. Outsiders may still reach in. "
                    "Choose a queue to see whom it reaches and who reaches it."
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
            "2 pods of queue-b went for asks of training": "arrow own",
            "1 pod of training went for asks of queue-b": "arrow",
            "1 pod of queue-2 went for asks of system": "arrow",
            "1 pod of queue-2 went for asks of queue-1": "arrow",
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
        assert "Nothing was preempted in this time, so there are no arrows." in notes(html)

    def test_what_went_through_a_fence_is_drawn_and_flagged(self, ada: Client, demo: Cluster) -> None:
        """With who decided it, in the map, below it and in both tables."""
        source = Decision.Source.KUBE_SCHEDULER
        rows.decision(demo, TRAINING, victims=("root.system",) * 4, source=source)
        html = html_of(ada, TRAINING)
        assert arrows(html)["4 pods of system went for asks of training"] == "arrow own odd"
        assert "4, shut" in counts(html)
        assert (
            "4 pods of system went for asks of training, by kube-scheduler; "
            "in today’s tree the fence of tenant-1 lets nothing out."
        ) in notes(html)
        assert html.count('class="st warn"><span class="vh">') == 2
        assert words(html)["root.system"] == (False, True)

    def test_a_daemonsets_ask_needs_no_guarantee(self, ada: Client) -> None:
        """So that it had none is nothing to flag; that it went through a fence is."""
        made = published(tree({"a": queue(), "b": queue("1"), "t.c": queue("1"), "t": queue(fence=True)}))
        for asker, victim in (("a", "b"), ("t.c", "b")):
            rows.decision(made, f"root.{asker}", victims=(f"root.{victim}",), reason="daemonset")
        found = arrows(html_of(ada))
        assert found["1 pod of b went for asks of a"] == "arrow"
        assert found["1 pod of b went for asks of c"] == "arrow odd"

    def test_what_went_within_one_queue_is_told(self, ada: Client, demo: Cluster) -> None:
        """There is no arrow from a box to itself."""
        rows.decision(demo, TRAINING, victims=(TRAINING,), source=Decision.Source.KUBE_SCHEDULER)
        html = html_of(ada)
        assert "1 pod of training went for asks of training, by kube-scheduler" in notes(html)
        assert len(arrows(html)) == 4

    def test_an_asker_of_no_leaf_is_counted(self, ada: Client, demo: Cluster) -> None:
        """One without a queue, and one of a queue that is gone."""
        rows.decision(demo, "", victims=(TRAINING,))
        rows.decision(demo, "root.gone", victims=(TRAINING,))
        html = html_of(ada)
        assert "2 of the preempted pods went where the asker or the pod runs in no leaf of this tree." in notes(html)
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
        assert "2 of the preempted pods went within one box of the map." in notes(html)
        assert "2 of the preempted pods went where the asker or the pod runs in no leaf of this tree." in notes(html)

    def test_of_many_pairs_the_most_frequent_are_drawn(self, ada: Client) -> None:
        """Those of the chosen queue before all others; how many are left out is said."""
        of = tree({f"q{n:02}": queue("1") for n in range(20)})
        made = published(of)
        for n in range(1, 20):
            rows.decision(made, "root.q00", victims=(f"root.q{n:02}",) * n)
        html = html_of(ada)
        assert sorted(map(int, counts(html))) == list(range(8, 20))
        assert "28 of the preempted pods went between 7 more pairs of boxes, fewer than those drawn." in notes(html)
        assert "1" in counts(html_of(ada, "root.q01"))

    def test_standings_are_of_the_scarcest_resource(self, ada: Client, demo: Cluster) -> None:
        """One resource all over the map, so that queues compare."""
        html = html_of(ada)
        assert "gpu above by 2" in html
        assert "at its guarantee<" in html
        assert "cpu above" not in html
        assert "at the lower edge: gpu against the guarantee" in html


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
        assert "20 queues more" in html
        assert "root.t4" in drawn

    def test_of_many_leaves_only_the_chosen_ones_pairs_are_told(self, ada: Client) -> None:
        """And that is said."""
        published(self.SHAPE)
        assert "choose one" in html_of(ada)
        html = html_of(ada, "root.t3.q41")
        assert "of so many queues only those with t3.q41" in html
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
        assert "in reach: 45 of 50" in html
        assert "in reach: no fence" in html
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
        assert asked[0] == asked[1] <= 7


class TestTenants:
    """They see their own queues, and of others that there are some."""

    def test_a_tenants_map_holds_its_own_queues_alone(self, tess: Client, demo: Cluster) -> None:
        """No name, no number, no arrow of anybody else; what went for others is counted."""
        rows.decision(demo, "root.tenant-2.queue-1", victims=(TRAINING,) * 3)
        for chosen in ("", QUEUE_B, "root.tenant-1"):
            html = html_of(tess, chosen)
            assert set(boxes(html)) == {QUEUE_B, TRAINING}
            assert not re.search("tenant-2|queue-1|queue-2|queue-a|system", told(html))
            assert set(arrows(html)) == {
                "2 pods of queue-b went for asks of training",
                "1 pod of training went for asks of queue-b",
            }
            assert "5 of the preempted pods went where the asker or the pod runs in a queue of others." in notes(html)
            assert "8 pods preempted, last 7 days" in html

    def test_the_lead_claims_nothing_about_queues_unseen(self, tess: Client, demo: Cluster) -> None:
        """It does not reach every queue, and others reach it."""
        assert lead(html_of(tess, QUEUE_B)) == (
            "queue-b reaches training, and nothing else: the fence of tenant-1 lets nothing out. "
            "training reaches queue-b. Queues of others reach queue-b."
        )

    def test_what_a_tenant_reads_holds_of_the_whole_tree(self, db: None) -> None:
        """Its leaf lies within a fence that it can't see, with a neighbour; what is outside reaches in."""
        tess = client_of(rows.tenant_user(subtree=TRAINING))
        published(EXAMPLE)
        assert lead(html_of(tess)) == (
            "training is inside a fence: it preempts nothing outside. Your queues reach queues of others. "
            "Queues of others reach yours. Choose a queue to see whom it reaches and who reaches it."
        )
        assert state(html_of(tess)) == "reaches 1 queue, 1 of others; reached by 2, 2 of others"
        assert lead(html_of(tess, TRAINING)) == (
            "training reaches queues of others, but not all: the fence of tenant-1 lets nothing out. "
            "Queues of others reach training."
        )

    def test_staff_read_the_same_numbers(self, db: None, ada: Client) -> None:
        """To them nobody is unseen."""
        published(EXAMPLE)
        assert state(html_of(ada)) == "reaches 1 queue; reached by 2"

    def test_a_fence_of_ones_own_lets_others_in(self, tess: Client, demo: Cluster) -> None:
        """Said at its edge without a name."""
        html = html_of(tess, QUEUE_B)
        assert "lets nothing out; lets queues of others in" in html
        assert lead(html_of(tess)).startswith("1 fence among your queues")

    def test_without_any_fence_the_lead_says_so_of_ones_own_queues(self, db: None, tess: Client) -> None:
        """Of others it knows whether they are reached."""
        published(tree({"tenant-1.a": queue("1"), "b": queue(fence=True)}))
        assert lead(html_of(tess)) == (
            "No fence is around your queues. Your queues reach queues of others. "
            "Choose a queue to see whom it reaches and who reaches it."
        )

    def test_of_very_many_borders_none_is_counted(self, db: None, tess: Client) -> None:
        """A number that is missing, rather than a wrong one."""
        published(tree({f"tenant-1.q{n}": queue("1") for n in range(20)} | {f"u.q{n}": queue() for n in range(170)}))
        html = html_of(tess)
        assert "reached by" not in html
        assert lead(html).startswith("No fence is around your queues. Choose")

    def test_a_reason_that_others_give_is_not_told(self, db: None, tess: Client) -> None:
        """A neighbour that turned preemption off is its own business."""
        published(tree({"tenant-1.a": queue("1"), "tenant-1.b": queue("1"), "canary": queue("1", disabled=True)}))
        html = html_of(tess, "root.tenant-1.a")
        assert lead(html) == "a reaches b. b reaches a."
        assert "canary" not in html

    def test_a_queue_that_is_alone_to_its_tenant_is_not_said_to_be_alone(self, db: None, tess: Client) -> None:
        """There are others, and why they are out of reach is theirs."""
        published(tree({"tenant-1": queue("1"), "canary": queue("1", disabled=True)}))
        said = lead(html_of(tess, "root.tenant-1"))
        assert said == "tenant-1 reaches no other queue. No other queue reaches tenant-1."

    def test_a_queue_of_others_can_not_be_chosen(self, tess: Client, demo: Cluster) -> None:
        """As if it were not there; neither does opening show it."""
        html = html_of(tess, "root.tenant-2.queue-1", open=["root.tenant-2", "root"])
        assert "tenant-2" not in told(html)
        assert lead(html).startswith("1 fence")

    def test_strangers_find_nothing(self, carl: Client, demo: Cluster) -> None:
        """To them the cluster does not exist."""
        assert carl.get(PAGE).status_code == carl.get("/clusters/demo/fences.svg").status_code == 404


class TestTheFile:
    """Save as SVG."""

    def test_it_stands_alone(self, ada: Client, demo: Cluster) -> None:
        """With its own style, without links, for download, and allowed no more than that style."""
        answer = ada.get("/clusters/demo/fences.svg", {"queue": TRAINING})
        drawn = ET.fromstring(answer.content)
        assert answer["Content-Type"] == "image/svg+xml"
        assert answer["Content-Disposition"] == 'attachment; filename="demo-fences.svg"'
        assert answer["Content-Security-Policy"].startswith("default-src 'none'; style-src 'unsafe-inline';")
        style = drawn.findtext(".//{*}style", "")
        assert ".fenced" in style
        assert "var(" not in style
        assert "light-dark" not in style
        assert drawn.find(".//{*}a") is None
        assert drawn.find(".//{*}pattern[@id='hatch']") is not None

    def test_it_says_what_it_shows(self, ada: Client, demo: Cluster) -> None:
        """Whose fences, of which revision and time, drawn when, and what its signs mean."""
        drawn = ET.fromstring(ada.get("/clusters/demo/fences.svg", {"queue": TRAINING}).content)
        said = [" ".join((text.text or "").split()) for text in drawn.findall(".//{*}text")]
        assert said[0] == "Fences of demo, seen from training"
        now = f"{timezone.now():%Y-%m-%d %H:}"
        assert re.fullmatch(rf"revision 1; 5 pods preempted, last 7 days; drawn {now}\d\d:\d\d UTC", said[1])
        assert {"fence: teeth point the only way through", "this reaches it", "stopped by a fence"} < set(said)
        high = float(drawn.get("height", ""))
        assert all(float(text.get("y", "")) < high for text in drawn.findall(".//{*}text"))

    def test_without_arrows_it_names_no_time_of_theirs(self, tess: Client, demo: Cluster) -> None:
        """Nor their sign; a tenant's holds no name of others."""
        svg = tess.get("/clusters/demo/fences.svg", {"since": "none"}).content.decode()
        assert "revision 1; drawn" in svg
        assert "preempted" not in svg
        assert not re.search("tenant-2|queue-1|queue-2|queue-a|system", svg.split("</style>")[1])

    def test_signs_that_are_not_drawn_are_not_explained(self, ada: Client) -> None:
        """Without a fence, an arrow or a standing there is no key."""
        published(tree({"only": queue("1")}))
        assert ">fence: teeth point" not in html_of(ada)
        assert "teeth point" not in ada.get("/clusters/demo/fences.svg").content.decode()

    def test_its_key_keeps_within_the_sheet(self) -> None:
        """In as many lines as it needs."""
        found = placed([Entry("stop", 26, "stopped by a fence")] * 12, 500)
        assert all(each.text_x + width(each.entry.text, TEXT) <= 500 for each in found)
        assert len({(each.x, each.y) for each in found}) == 12

    def test_there_is_none_without_a_tree(self, ada: Client) -> None:
        """Nothing to draw."""
        Cluster.objects.create(name="bare")
        assert ada.get("/clusters/bare/fences.svg").status_code == 404


class TestAddressesAndNews:
    """A link says everything, and the page keeps up."""

    def test_the_page_is_in_the_navigation(self, ada: Client, demo: Cluster) -> None:
        """Between Queues and History."""
        names = re.findall(r'<li><a href="[^"]*"[^>]*>([^<]+)</a></li>', ada.get(PAGE).content.decode())
        assert names[1:4] == ["Queues", "Fences", "History"]

    def test_unknown_queues_count_as_not_said(self, ada: Client, demo: Cluster) -> None:
        """No error, no queue chosen."""
        html = html_of(ada, 'root.<script>"', since="x", open=["y"])
        assert "&lt;script" not in html
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
        assert "Publish a tree for this cluster" in html
        assert 'class="map"' not in html

    def test_a_tree_of_one_leaf_is_drawn(self, ada: Client) -> None:
        """It reaches nothing, for there is nothing."""
        published(tree({"only": queue("1")}))
        html = html_of(ada, "root.only")
        assert lead(html) == "only reaches no other queue: there is none. No other queue reaches only."
        assert set(boxes(html)) == {"root.only"}

    def test_before_the_first_pass_there_are_no_standings(self, ada: Client) -> None:
        """Borders are known; usage is not."""
        published(EXAMPLE)
        assert "above by" not in html_of(ada, TRAINING)
        assert len(list(map_of(html_of(ada)).iter())) > 20


def test_pods_are_counted_by_when_they_went(
    ada: Client, demo: Cluster, django_assert_num_queries: Callable[[int], Any]
) -> None:
    """One query, by asker, victim and source."""
    rows.decision(demo, TRAINING, victims=(QUEUE_B,), source=Decision.Source.YUNIKORN)
    reader = rows.user("audrey", "auditor")
    with django_assert_num_queries(1):
        found = preempted_pairs(reader, demo, timezone.now() - timedelta(minutes=30))
    assert found[0] == Pair(TRAINING, QUEUE_B, "engine", ordinary=True, pods=2)
    assert Pair(TRAINING, QUEUE_B, "yunikorn", ordinary=True, pods=1) in found
    assert sum(pair.pods for pair in found) == 4
