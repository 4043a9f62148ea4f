"""The page Fences: who may preempt whom, as the policy has it, in the map, in words and in the table."""

from itertools import product
from pathlib import Path
from random import Random

import pytest
from django.test import Client

from engine.formats import yunikorn
from engine.model.queue_tree import QueueTree
from engine.policies import reach_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from tests.builders import queue, rewrite, tree
from tests.derived import pairs
from tests.engine.test_reach import EXAMPLE, grown
from tests.pages.fences.fences_page import (
    TRAINING,
    boxes,
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
