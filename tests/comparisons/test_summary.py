"""What to take from a comparison: sentences that the figures support, in each case."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.utils import translation

from engine.planning.comparison import SideFigures
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.summary import summary
from tests.comparisons.conftest import NOON

FAIR = ("fair-share", "kueue")
BY_PRIORITY = "policy priority (kube-scheduler)"
FENCE, COHORT, PRIORITY = ("fence", "design"), ("cohort", "kueue"), ("priority", "kube-scheduler")
CORE_HOUR = 3_600_000
MINUTE = 60_000


def figures(preempted: int = 0, **more: Any) -> dict[str, Any]:
    """The stored figures of a side."""
    values: dict[str, Any] = {"decisions": preempted, "again": 0, "applications": 0, "work": {}, "placed": 0}
    values |= {"preempted": preempted, "waiting": 0, **more}
    plain: dict[str, Any] = msgspec.to_builtins(SideFigures(**values))
    return plain


def of(*sides: tuple[tuple[str, str], dict[str, Any]], lasting: bool = True, **kept: Any) -> list[str]:
    """The summary of a comparison of policies under one tree."""
    one = Comparison(
        since=NOON,
        until=NOON + timedelta(hours=1) if lasting else None,
        sides=[{"revision": 1, "policy": policy, "dialect": dialect, **kept} for (policy, dialect), _found in sides],
        state=Comparison.State.DONE,
        result={"since_ms": 0, "step_ms": None, "record": None, "sides": [found for _terms, found in sides]},
    )
    return summary(one)


@pytest.mark.parametrize("state", [Comparison.State.WAITING, Comparison.State.RUNNING, Comparison.State.FAILED])
def test_nothing_is_claimed_before_anything_was_found(state: str) -> None:
    """Whatever the state, it takes a result."""
    assert (
        summary(Comparison(since=NOON, sides=[{"revision": 1, "policy": "cohort", "dialect": "kueue"}], state=state))
        == []
    )


class TestTwoSides:
    """The side that preempts fewer pods is compared with the other."""

    def test_fewer_pods_less_work_and_a_queue_that_pays_for_it(self) -> None:
        """Both sentences name both sides."""
        cohort = figures(3, work={"cpu": CORE_HOUR}, below={"root.a": 20 * MINUTE}, below_ms=20 * MINUTE)
        fence = figures(15, work={"cpu": 4 * CORE_HOUR}, below={"root.a": 6 * MINUTE}, below_ms=6 * MINUTE)
        assert of((FENCE, fence), (COHORT, cohort)) == [
            (
                "Policy cohort preempts fewer pods than policy fence (design) (3 instead of 15), and 3.0 core-hours "
                "less work is lost."
            ),
            (
                "With policy cohort, queue root.a is below its guarantee for 14 min longer than with policy fence "
                "(design)."
            ),
        ]

    def test_fewer_pods_can_lose_more_work(self) -> None:
        """Then that is said against it."""
        few, many = figures(1, work={"cpu": 9 * CORE_HOUR}), figures(2, work={"cpu": CORE_HOUR})
        (sentence,) = of((COHORT, few), (PRIORITY, many))
        assert sentence == (
            f"Policy cohort preempts fewer pods than {BY_PRIORITY} (1 instead of 2), but 8.0 core-hours more work "
            "is lost."
        )

    @pytest.mark.parametrize(
        ("few", "many"),
        [
            ({"work": {"cpu": CORE_HOUR}}, {"work": {"cpu": CORE_HOUR}}),
            ({"work": {"cpu": 9, "memory": CORE_HOUR}}, {"work": {"cpu": CORE_HOUR, "memory": 9}}),
            ({"work": {"cpu": CORE_HOUR}, "unknown": 1}, {"work": {"cpu": 9 * CORE_HOUR}}),
            ({"work": {"cpu": CORE_HOUR}}, {"work": {"cpu": 9 * CORE_HOUR}, "unknown": 1}),
        ],
        ids=["the same", "less of one resource, more of another", "unknown of the one", "unknown of the other"],
    )
    def test_nothing_is_said_of_work_that_can_not_be_compared(self, few: dict[str, Any], many: dict[str, Any]) -> None:
        """Only of the pods."""
        assert of((COHORT, figures(1, **few)), (PRIORITY, figures(2, **many))) == [
            f"Policy cohort preempts fewer pods than {BY_PRIORITY} (1 instead of 2)."
        ]

    def test_as_many_pods_may_differ_in_work(self) -> None:
        """The side that loses less is named first, in whichever order they stand."""
        little, much = figures(2, work={"cpu": CORE_HOUR}), figures(2, work={"cpu": 2 * CORE_HOUR})
        said = [f"Policy cohort preempts as many pods as {BY_PRIORITY} (2), but 1.0 core-hours less work is lost."]
        assert of((COHORT, little), (PRIORITY, much)) == of((PRIORITY, much), (COHORT, little)) == said

    def test_a_tie_is_said_to_be_one(self) -> None:
        """Without a winner."""
        assert of((COHORT, figures(2)), (PRIORITY, figures(2))) == [
            f"Policy cohort preempts as many pods as {BY_PRIORITY} (2)."
        ]

    def test_without_preemptions_that_is_said(self) -> None:
        """And what differs beside it."""
        assert of((COHORT, figures(waiting=4)), (PRIORITY, figures(waiting=9))) == [
            f"Neither policy cohort nor {BY_PRIORITY} preempts any pods.",
            f"With policy cohort, 5 fewer pods are pending at the end than with {BY_PRIORITY}.",
        ]

    def test_queues_on_both_sides_of_the_balance_are_named(self) -> None:
        """The most of each; of a queue and its parent, the queue."""
        few = figures(1, below={"root": 5 * MINUTE, "root.a": 5 * MINUTE, "root.c": MINUTE}, below_ms=5 * MINUTE)
        many = figures(2, below={"root.b": 2 * MINUTE}, below_ms=2 * MINUTE)
        assert of((COHORT, few), (PRIORITY, many))[1] == (
            f"With policy cohort, queue root.a is below its guarantee for 5 min longer than with {BY_PRIORITY}, and "
            "queue root.b for 2 min less."
        )

    def test_a_queue_that_only_gains_is_named_too(self) -> None:
        """As less."""
        many = figures(2, below={"root.b": 2 * MINUTE}, below_ms=2 * MINUTE)
        assert of((COHORT, figures(1, below_ms=0)), (PRIORITY, many))[1] == (
            f"With policy cohort, queue root.b is below its guarantee for 2 min less than with {BY_PRIORITY}."
        )

    def test_times_that_read_the_same_are_no_difference(self) -> None:
        """Less than half a second."""
        one, other = figures(1, below={"root.a": 1_000}, below_ms=1_000), figures(1, below={"root.a": 1_400})
        assert len(of((COHORT, one), (PRIORITY, other))) == 1


class TestOneSide:
    """There is nothing to compare it with."""

    @pytest.mark.parametrize(
        ("found", "said"),
        [
            (figures(), ["Policy cohort preempts no pods."]),
            (figures(1), ["Policy cohort preempts 1 pod."]),
            (
                figures(2, work={"cpu": CORE_HOUR}, waiting=1),
                [
                    "Policy cohort preempts 2 pods. Their lost work is 1.0 core-hours.",
                    "1 pod is pending at the end.",
                ],
            ),
            (figures(2, work={"cpu": CORE_HOUR}, unknown=1), ["Policy cohort preempts 2 pods."]),
            (
                figures(0, below={"root": 9_000, "root.a": 9_000, "root.b": 2_000}, below_ms=9_000),
                [
                    "Policy cohort preempts no pods.",
                    "Queue root.a is below its guarantee the longest, for 9 s.",
                ],
            ),
        ],
    )
    def test_its_own_figures_are_told(self, found: dict[str, Any], said: list[str]) -> None:
        """As they are."""
        assert of((COHORT, found)) == said


class TestSeveralSides:
    """The fewest and the most."""

    def test_the_ends_are_named_and_so_are_ties(self) -> None:
        """Those between are in the table."""
        sides = [
            (FENCE, figures(9, below_ms=MINUTE)),
            (COHORT, figures(2, below_ms=MINUTE)),
            (PRIORITY, figures(2, below_ms=8 * MINUTE)),
            (FAIR, figures(5, below_ms=3 * MINUTE)),
        ]
        assert of(*sides) == [
            (
                f"The fewest pods are preempted with policy cohort and {BY_PRIORITY} (2), and the most with policy "
                "fence (design) (9)."
            ),
            (
                "Queues are below their guarantee for the shortest time with policy fence (design) and policy cohort "
                f"(1 min), and for the longest time with {BY_PRIORITY} (8 min)."
            ),
        ]

    def test_a_moment_tells_who_is_left_pending(self) -> None:
        """It has no times."""
        waiting = {FENCE: 3, COHORT: 3, PRIORITY: 7, FAIR: 7}
        sides = [(terms, figures(1, waiting=n)) for terms, n in waiting.items()]
        assert of(*sides, lasting=False) == [
            "Every configuration preempts 1 pod.",
            (
                "The fewest pods are pending at the end with policy fence (design) and policy cohort (3), and the most "
                f"with {BY_PRIORITY} and policy fair-share (7)."
            ),
        ]

    def test_one_against_all_others_is_said_in_short(self) -> None:
        """At either end."""
        sides = [
            (FENCE, figures(0, below_ms=MINUTE)),
            (COHORT, figures(0, below_ms=2 * MINUTE)),
            (PRIORITY, figures(6, below_ms=2 * MINUTE)),
        ]
        assert of(*sides) == [
            f"The most pods are preempted with {BY_PRIORITY}: 6. With every other configuration, it is 0.",
            (
                "Queues are below their guarantee for the shortest time with policy fence (design): 1 min. With "
                "every other configuration, it is 2 min."
            ),
        ]
        endless = (FAIR, figures(0, settles=False))
        assert "every other" not in of(*sides, endless)[0]

    def test_without_preemptions_that_is_said(self) -> None:
        """Once."""
        assert of((FENCE, figures()), (COHORT, figures()), (PRIORITY, figures())) == [
            "No configuration preempts any pods."
        ]


class TestUnfinished:
    """A forecast that does not end has no final figures, so nothing is compared with it."""

    def test_a_loop_is_named_and_left_out(self) -> None:
        """However few pods it had preempted when it was cut off."""
        looping = figures(1, loop=("root.a", "root.b"), settles=False)
        assert of((FENCE, figures(5, settles=True)), (COHORT, looping), lasting=False) == [
            "Policy fence (design) preempts 5 pods.",
            "Policy cohort does not become stable: it ends in a preemption loop in root.a, root.b.",
        ]

    def test_those_that_end_are_named_where_not_all_do(self) -> None:
        """Words such as every and none would say too much."""
        endless = figures(1, settles=False)
        for n, said in ((0, "no pods are preempted."), (2, "as many pods are preempted: 2.")):
            sides = [(terms, figures(n, settles=True)) for terms in (FENCE, COHORT, PRIORITY)]
            first, last = of(*sides, (FAIR, endless), lasting=False)
            assert first == f"With policy fence (design), policy cohort and {BY_PRIORITY}, {said}"
            assert last == "Policy fair-share does not become stable within the simulated passes."


class TestNames:
    """Sides are named by what they differ in."""

    def test_trees_are_named_where_the_policy_is_one(self) -> None:
        """And both where both differ."""
        draft = {"draft": "more for a", "version": 3, "policy": "cohort", "dialect": "kueue"}
        revision = {"revision": 7, "policy": "cohort", "dialect": "kueue"}
        result = {"since_ms": 0, "record": None, "sides": [figures(), figures()]}
        one = Comparison(since=NOON, sides=[draft, revision], result=result)
        assert summary(one)[0] == "Neither draft more for a, version 3 nor revision 7 preempts any pods."
        one.sides = [draft, {**revision, "policy": "priority", "dialect": "kube-scheduler"}]
        assert "nor revision 7, priority (kube-scheduler) preempts" in summary(one)[0]

    def test_sides_that_are_the_same_are_numbered(self) -> None:
        """As a tree with its own policy, and with that policy chosen."""
        assert of((COHORT, figures()), (COHORT, figures())) == [
            "Neither policy cohort (configuration 1) nor policy cohort (configuration 2) preempts any pods."
        ]


def test_chinese_sentences_hold_the_same_names_and_numbers() -> None:
    """In their own order."""
    few = figures(3, work={"cpu": CORE_HOUR}, below={"root.a": 20 * MINUTE}, below_ms=20 * MINUTE)
    many = figures(15, work={"cpu": 4 * CORE_HOUR}, below={"root.a": 6 * MINUTE}, below_ms=6 * MINUTE)
    with translation.override("zh-hans"):
        said = of((FENCE, many), (COHORT, few))
    assert len(said) == 2
    assert all(part in said[0] for part in ("cohort", "fence", "3", "15"))
    assert all(part in said[1] for part in ("root.a", "14"))
