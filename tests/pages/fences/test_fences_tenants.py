"""The map of fences for tenants, who see their own queues, and as a file that stands alone."""

import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import Site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.fences.drawing.key import Entry, placed
from scheduler_admin.fences.drawing.shapes import TEXT
from scheduler_admin.fences.drawing.text_widths import width
from tests.builders import queue, tree
from tests.engine.test_reach import EXAMPLE
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.pages.fences.fences_page import (
    PAGE,
    QUEUE_B,
    TRAINING,
    arrows,
    boxes,
    html_of,
    lead,
    notes,
    published,
    state,
    told,
)

pytestmark = pytest.mark.django_db
OWN = re.compile(r'<section class="own".*?</section>', re.DOTALL)


def own_words(html: str) -> str:
    """What the page says about each of the reader's queues."""
    section = OWN.search(html)
    return " ".join(re.sub(r"<[^>]+>", " ", section[0]).split()) if section else ""


class TestTenants:
    """They see their own queues, and of others that there are some."""

    def test_a_tenants_map_holds_its_own_queues_alone(self, tess: Client, demo: Cluster) -> None:
        """No name, no number, no arrow of anybody else; what went for others is counted."""
        rows.decision(demo, "root.tenant-2.queue-1", victims=(TRAINING,) * 3)
        for chosen in ("", QUEUE_B, "root.tenant-1"):
            html = html_of(tess, chosen)
            assert set(boxes(html)) == {QUEUE_B, TRAINING}
            assert not re.search("tenant-2|queue-1|queue-2|queue-a", told(html))
            assert "system" not in told(OWN.sub("", html))
            assert set(arrows(html)) == {
                "2 pods of queue-b were preempted for pods of training",
                "1 pod of training was preempted for pods of queue-b",
            }
            assert "For 5 of the preempted pods, the preemptor or the victim is in another tenant’s queue" in notes(
                html
            )
            assert "8 pods preempted, last 7 days" in html

    def test_the_lead_claims_nothing_about_queues_unseen(self, tess: Client, demo: Cluster) -> None:
        """It does not reach every queue, and others reach it."""
        assert lead(html_of(tess, QUEUE_B)) == (
            "queue-b can preempt only training: the fence of tenant-1 lets nothing out. "
            "training can preempt queue-b. Other tenants’ queues can preempt queue-b."
        )

    def test_what_a_tenant_reads_holds_of_the_whole_tree(self, db: None) -> None:
        """Its leaf lies within a fence that it can't see, with a neighbour; what is outside reaches in."""
        tess = client_of(rows.tenant_user(subtree=TRAINING))
        published(EXAMPLE)
        assert lead(html_of(tess)) == (
            "training is inside a fence and can’t preempt outside it. "
            "Your queues can preempt other tenants’ queues. Other tenants’ queues can preempt yours."
        )
        assert lead(html_of(tess, TRAINING)) == (
            "training can preempt some of the other tenants’ queues, but not all: "
            "the fence of tenant-1 lets nothing out. Other tenants’ queues can preempt training."
        )

    def test_staff_read_the_same_numbers(self, db: None, ada: Client) -> None:
        """To them nobody is unseen."""
        published(EXAMPLE)
        assert state(html_of(ada)) == "can preempt 1 queue; preemptable by 2 queues"

    def test_a_fence_of_ones_own_lets_others_in(self, tess: Client, demo: Cluster) -> None:
        """Said at its edge without a name."""
        html = html_of(tess, QUEUE_B)
        assert "preemption out: none; in: other tenants’ queues" in html
        assert lead(html_of(tess)).startswith("1 fence among your queues")

    def test_without_any_fence_the_lead_says_so_of_ones_own_queues(self, db: None, tess: Client) -> None:
        """Of others it knows whether they are reached."""
        published(tree({"tenant-1.a": queue("1"), "b": queue(fence=True)}))
        assert lead(html_of(tess)) == (
            "Your queues are not inside a fence. Your queues can preempt other tenants’ queues."
        )

    def test_of_very_many_borders_none_is_counted(self, db: None, tess: Client) -> None:
        """A number that is missing, rather than a wrong one."""
        published(tree({f"tenant-1.q{n}": queue("1") for n in range(20)} | {f"u.q{n}": queue() for n in range(170)}))
        html = html_of(tess)
        assert "preemptable by" not in html
        assert lead(html).startswith("Your queues are not inside a fence. Choose")

    def test_a_reason_that_others_give_is_not_told(self, db: None, tess: Client) -> None:
        """A neighbour that turned preemption off is its own business."""
        published(tree({"tenant-1.a": queue("1"), "tenant-1.b": queue("1"), "canary": queue("1", disabled=True)}))
        html = html_of(tess, "root.tenant-1.a")
        assert lead(html) == "a can preempt b. b can preempt a."
        assert "canary" not in html

    def test_a_queue_that_is_alone_to_its_tenant_is_not_said_to_be_alone(self, db: None, tess: Client) -> None:
        """There are others, and why they are out of reach is theirs."""
        published(tree({"tenant-1": queue("1"), "canary": queue("1", disabled=True)}))
        said = lead(html_of(tess, "root.tenant-1"))
        assert said == "tenant-1 can’t preempt any other queue. No other queue can preempt tenant-1."

    def test_a_queue_of_others_can_not_be_chosen(self, tess: Client, demo: Cluster) -> None:
        """As if it were not there, which is said of any other name too; neither does opening show it."""
        html = html_of(tess, "root.tenant-2.queue-1", open=["root.tenant-2", "root"])
        unknown = "The current tree has no queue root.tenant-2.queue-1, or you can’t see it."
        assert "tenant-2" not in told(html).replace(unknown, "", 1)
        assert unknown.replace("tenant-2", "nothing") in html_of(tess, "root.nothing.queue-1")
        assert lead(html).startswith("1 fence")

    def test_of_an_only_queue_words_say_more_than_a_map(self, db: None) -> None:
        """Which queues it can preempt and which can preempt it, by name, as far as the site tells names."""
        tess = client_of(rows.tenant_user(subtree=TRAINING))
        published(EXAMPLE)
        html = html_of(tess)
        assert '<svg class="map"' not in html
        words = own_words(html)
        assert "Pods it can preempt Pods in queue-b ." in words
        assert "Pods that can preempt it Pending pods in system and queue-b ." in words
        Site.objects.create(preemptor=Site.Preemptor.NONE)
        assert "Pods that can preempt it Pending pods in other tenants’ queues." in own_words(html_of(tess))

    def test_several_queues_are_told_of_one_by_one(self, tess: Client, demo: Cluster) -> None:
        """Of a chosen one alone; staff, who see all, have the map."""
        assert own_words(html_of(tess)).count("Pods it can preempt") == 2
        assert own_words(html_of(tess, QUEUE_B)).count("Pods it can preempt") == 1
        assert own_words(html_of(client_of(rows.user("olga", "operator")))) == ""

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
        assert said[0] == "Fences of demo for queue training"
        now = f"{timezone.now():%Y-%m-%d %H:}"
        assert re.fullmatch(rf"revision 1; 5 pods preempted, last 7 days; drawn {now}\d\d:\d\d UTC", said[1])
        assert {
            "fence: preemption crosses it only in the direction of the teeth",
            "can preempt the chosen queue",
            "blocked by a fence",
        } < set(said)
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
        assert ">fence: preemption crosses it" not in html_of(ada)
        assert "preemption crosses it" not in ada.get("/clusters/demo/fences.svg").content.decode()

    def test_its_key_keeps_within_the_sheet(self) -> None:
        """In as many lines as it needs."""
        found = placed([Entry("stop", 26, "blocked by a fence")] * 12, 500)
        assert all(each.text_x + width(each.entry.text, TEXT) <= 500 for each in found)
        assert len({(each.x, each.y) for each in found}) == 12

    def test_there_is_none_without_a_tree(self, ada: Client) -> None:
        """Nothing to draw."""
        Cluster.objects.create(name="bare")
        assert ada.get("/clusters/bare/fences.svg").status_code == 404
