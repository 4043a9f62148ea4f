"""Who may preempt whom by the tree alone under every policy: whoever goes by a decision was said to be in reach."""

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain import border_clause, border_label, conditions
from engine.model.decision import Decision, Outcome
from engine.model.queue_tree import Queue, QueueTree, Take
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import plan_steps
from engine.policies import audit_terms, known_dialects, policy, reach_of
from engine.tree.reach import BY_SHARES, BorderReason, Fences
from tests.builders import NOW, ask, named, node, pod, queue, snapshot, tree
from tests.engine.pod_worlds import world as quota_world
from tests.engine.reclaim_worlds import world as shares_world
from tests.properties import examples

SEEDS = st.integers(0, 10**6)


def decided(at: Snapshot, where: QueueTree, name: str, dialect: str, parameters: dict[str, Any]) -> Iterator[Decision]:
    """Every ask, each on what the former left."""
    decide = policy(name, dialect, parameters)
    for _seen, considered in plan_steps(at, where, decide, terms=audit_terms(name, dialect, parameters)):
        yield considered.decision


def crossed(found: Iterator[Decision]) -> set[tuple[str, str]]:
    """The pairs of queues between which pods went."""
    return {
        (one.ask.queue, gone.pod.queue)
        for one in found
        if one.outcome is Outcome.PREEMPT
        for gone in one.victims
        if one.ask.queue and gone.pod.queue
    }


def shut(where: QueueTree, pairs: set[tuple[str, str]], name: str, parameters: dict[str, Any]) -> set[tuple[str, str]]:
    """Those of some pairs that were said to be out of reach."""
    reach = reach_of(name, parameters)
    return {pair for pair in pairs if not reach.border(where, *pair).allowed}


@pytest.mark.parametrize("name", ["cohort", "fair-share"])
@given(SEEDS, st.sampled_from(["nested", "kueue"]), st.sampled_from(["Never", "Any"]), st.booleans())
@examples(150)
def test_by_quota_nobody_goes_through_a_shut_border(
    name: str, seed: int, guarantees: str, reclaim: str, borrowing: bool
) -> None:
    """Whatever a leaf's rules, fences, quota and lending."""
    state, where = quota_world(random.Random(seed))
    parameters: dict[str, Any] = {"guarantees": guarantees, "reclaim": reclaim}
    if name == "cohort":
        parameters["while_borrowing"] = borrowing
    pairs = crossed(decided(state.snapshot(where, now_ms=NOW), where, name, "kueue", parameters))
    assert shut(where, pairs, name, parameters) == set()


@given(SEEDS)
@examples(200)
def test_by_shares_nobody_goes_through_a_shut_border(seed: int) -> None:
    """Areas, fences, weights of 0, what is reserved, and classes that may take beyond."""
    at, where, given_ = shares_world(random.Random(seed))
    parameters = msgspec.to_builtins(given_)
    pairs = crossed(decided(at, where, "deserved", "arbitrator", parameters))
    assert shut(where, pairs, "deserved", parameters) == set()


@given(SEEDS)
@examples(60)
def test_by_priority_no_border_is_shut(seed: int) -> None:
    """Not even that of a queue to itself: every queue of any tree is taken from."""
    _state, where = quota_world(random.Random(seed))
    for asker in where.leaves:
        for victim in where.leaves:
            at = snapshot(where, node(cpu=1), pod("v", queue=victim, node="n1"), ask("x", queue=asker, priority=1))
            found = policy("priority", "kube-scheduler")(at, where, named(at, "x"))
            assert crossed(iter([found])) == {(asker, victim)}
            assert reach_of("priority", {}).border(where, asker, victim).allowed


RULES = {"take_within": Take.LOWER_PRIORITY, "take_reclaim": Take.ANY}
COHORTS = tree(
    {
        "lone": queue("2", fence=True),
        "t": queue("8", fence=True),
        "t.a": queue("2", **RULES),
        "t.b": queue("2", take_within=Take.NEVER),
        "t.c": queue("2", max="2"),
        "t.poor": queue(take_reclaim=Take.ANY),
        "t.meek": queue("2", take_reclaim=Take.NEVER),
        "t.off": queue("2", disabled=True),
        "free": queue("2"),
    }
)


def between(where: QueueTree, name: str, asker: str, victim: str, **parameters: Any) -> tuple[str, str]:
    """Reason and queue, both without the root."""
    found = reach_of(name, parameters).border(where, f"root.{asker}", f"root.{victim}")
    return found.reason.value, found.queue.removeprefix("root.")


@pytest.mark.parametrize(
    ("asker", "victim", "reason", "about"),
    [
        ("t.a", "t.b", "same-cohort", "t"),
        ("t.a", "t.c", "no-borrowing", "t.c"),
        ("t.a", "t.a", "own-queue", "t.a"),
        ("t.b", "t.b", "takes-within-never", "t.b"),
        ("t.a", "free", "cohort-border", "t"),
        ("free", "t.a", "cohort-border", "t"),
        ("lone", "t.a", "cohort-border", "lone"),
        ("lone", "lone", "own-queue", "lone"),
        ("t.poor", "t.a", "no-quota", "t"),
        ("t.meek", "t.a", "takes-never", "t.meek"),
        ("t.off", "t.a", "disabled", "t.off"),
        ("t.a", "t.off", "disabled", "t.off"),
    ],
)
def test_by_quota_the_border_says_why(asker: str, victim: str, reason: str, about: str) -> None:
    """A fence parts cohorts either way; settings of the asker say whom it may take."""
    assert between(COHORTS, "cohort", asker, victim) == (reason, about)


def test_who_has_no_quota_may_take_under_fair_sharing_or_where_it_may_while_it_borrows() -> None:
    """And of other cohorts what its own is owed."""
    assert between(COHORTS, "fair-share", "t.poor", "t.a") == ("same-cohort", "t")
    assert between(COHORTS, "cohort", "t.poor", "t.a", while_borrowing=True) == ("same-cohort", "t")
    where = tree({"t": queue("4"), "t.poor": queue(), "t.b": queue(), "s": queue("2")})
    assert between(where, "cohort", "t.poor", "t.b") == ("no-quota", "t")
    assert between(where, "cohort", "t.poor", "s") == ("same-cohort", "root")


AREAS = tree({"a": queue(), "t": queue(), "t.x": queue(), "t.y": queue(), "f": queue(fence=True), "f.z": queue()})


@pytest.mark.parametrize(
    ("asker", "victim", "reason", "about"),
    [
        ("a", "t.x", "overused", "t"),
        ("t.x", "a", "overused", "a"),
        ("t.x", "t.y", "related", "t"),
        ("a", "f.z", "overused", "f"),
        ("f.z", "a", "fence", "f"),
        ("a", "a", "same-queue", "a"),
    ],
)
def test_by_shares_the_border_says_who_has_to_use_too_much(asker: str, victim: str, reason: str, about: str) -> None:
    """The victim, or the area that holds it alone; within an area relatives come first."""
    assert between(AREAS, "deserved", asker, victim) == (reason, about)


def test_a_fence_does_what_the_policy_makes_of_it() -> None:
    """One way, both ways, nothing."""
    assert {name: reach_of(name, {}).fences for name in known_dialects()} == {
        "fence": Fences.ONE_WAY,
        "priority": Fences.NONE,
        "cohort": Fences.BOTH_WAYS,
        "fair-share": Fences.BOTH_WAYS,
        "deserved": Fences.ONE_WAY,
    }
    where = tree({"a": queue(), "f": Queue(path="", preemption_policy=AREAS["root.f"].preemption_policy)})
    assert not BY_SHARES.open_to_itself(where, "root.a")
    assert reach_of("cohort", {}).open_to_itself(where, "root.a")


@pytest.mark.parametrize("name", list(known_dialects()))
def test_every_border_of_every_policy_is_said_and_on_what_it_depends(name: str) -> None:
    """With the queues' own names."""
    reach = reach_of(name, {})
    said = conditions(reach)
    assert said.id
    assert not said.params
    for where in (COHORTS, AREAS):
        for asker in where.leaves:
            for victim in where.leaves:
                border = reach.border(where, asker, victim)
                clause = border_clause(border)
                assert "root." not in str(clause)
                assert border_label(border.reason).id
                assert reach.fences is not Fences.NONE or border.reason is BorderReason.LOWER_PRIORITY
