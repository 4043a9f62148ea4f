"""A loop is a ring of applications whose pods went for each other's asks, each at least twice."""

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.observation.preemption_loops import REPEATED_FROM, Loop, Member, loops, named

Times = dict[tuple[Member, Member], int]


def member(name: str) -> Member:
    """An application in a queue of its own."""
    return Member(f"root.{name}", f"{name}-ns", f"{name}-app")


A, B, C, D, E = map(member, "abcde")


def took(*pairs: tuple[Member, Member], times: int = REPEATED_FROM) -> Times:
    """Pods of each first went for asks of each second, so often."""
    return dict.fromkeys(pairs, times)


def test_two_that_take_from_each_other_are_a_loop() -> None:
    """However it is told, it begins with the first by name."""
    assert loops(took((B, A), (A, B))) == [(A, B)]


def test_one_exchange_is_none() -> None:
    """Both have to give way twice: who lost once took back what was theirs."""
    assert loops(took((A, B), (B, A), times=1)) == []
    assert loops(took((A, B)) | took((B, A), times=1)) == []


def test_a_loop_goes_round_many() -> None:
    """In the order in which they gave way."""
    assert loops(took((A, C), (C, B), (B, A))) == [(A, C, B)]


def test_who_only_gives_is_in_none() -> None:
    """Nor who only takes, nor who takes from itself."""
    assert loops(took((A, B), (B, C), (D, D), (A, C))) == []


def test_the_smallest_comes_first_and_hides_the_larger() -> None:
    """Through each pair the smallest alone: a ring of four with a short cut is told as the short cut and the rest."""
    ring = took((A, B), (B, C), (C, D), (D, A))
    assert loops(ring) == [(A, B, C, D)]
    assert loops(ring | took((C, A))) == [(A, B, C), (A, B, C, D)]
    assert loops(ring | took((B, A), (D, C))) == [(A, B), (C, D), (A, B, C, D)]


def test_applications_of_one_queue_are_told_apart() -> None:
    """By namespace and name, too."""
    other = A._replace(application="other")
    assert loops(took((A, other), (other, A))) == [(A, other)]


def test_a_loop_is_named_by_its_queues() -> None:
    """Round to where it began; what is not told is left out, not shortened."""
    assert named(["root.a", "root.b"]) == "root.a → root.b → root.a"
    assert named(["root.a", "", "root.c"]) == "root.a → … → root.c → root.a"


def rings(times: Times) -> Iterator[Loop]:
    """Every ring there is, begun anywhere, found by trying all orders of all members."""
    members = sorted({one for pair in times for one in pair})
    for size in range(2, len(members) + 1):
        for ring in permutations(members, size):
            if all(times.get(pair, 0) >= REPEATED_FROM for pair in zip(ring, ring[1:] + ring[:1], strict=True)):
                yield ring


@given(st.dictionaries(st.tuples(*[st.sampled_from([A, B, C, D, E])] * 2), st.integers(1, 3), max_size=20))
def test_loops_are_those_of_a_search_through_all_orders(times: Times) -> None:
    """Of every pair the smallest ring that begins with it, of equally small ones the first by name."""
    smallest: dict[tuple[Member, Member], Loop] = {}
    for ring in rings(times):  # small ones first, then by name
        smallest.setdefault(ring[:2], ring)
    turned = {ring[first:] + ring[:first] for ring in smallest.values() for first in [ring.index(min(ring))]}
    assert loops(times) == sorted(turned, key=lambda ring: (len(ring), ring))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_what_happened_does_not_matter(seed: int) -> None:
    """Nor does that of the rows."""
    pairs = [(A, B), (B, C), (C, A), (B, A), (C, D), (D, C)]
    assert loops(took(*pairs[seed:], *pairs[:seed])) == loops(took(*reversed(pairs)))
