"""The arrows of the page Fences: pods that were really preempted, whoever decided it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.counts.selectors.pairs import Pair, preempted_pairs
from scheduler_admin.decisions.models import Decision, Victim
from tests.builders import queue, tree
from tests.pages import rows
from tests.pages.fences.fences_page import (
    MANY_QUEUES,
    QUEUE_B,
    TRAINING,
    arrows,
    counts,
    html_of,
    notes,
    published,
    words,
)

pytestmark = pytest.mark.django_db


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
        made = published(MANY_QUEUES)
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


def test_pods_are_counted_by_when_they_went(
    ada: Client, demo: Cluster, django_assert_num_queries: Callable[[int], Any]
) -> None:
    """By asker, victim and source: three queries where no tally tells of it."""
    rows.decision(demo, TRAINING, victims=(QUEUE_B,), source=Decision.Source.YUNIKORN)
    reader = rows.user("audrey", "auditor")
    with django_assert_num_queries(3):
        *none, found = preempted_pairs(reader, demo, timezone.now() - timedelta(minutes=30))
    assert not any(count.pods for count in none)
    assert found.pods[Pair(TRAINING, QUEUE_B, "engine", ordinary=True)] == 2
    assert found.pods[Pair(TRAINING, QUEUE_B, "yunikorn", ordinary=True)] == 1
    assert found.pods.total() == 4
