"""Who has what of whom, where some use more than they are promised and others less."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from engine.model.queue_tree import QueueTree
from engine.tree.lending import NOBODY, Match, divide, lent_amounts, loans, matches
from tests.builders import queue, tree

FLAT = tree({name: queue() for name in "abcd"})
"""Leaves side by side."""
NESTED = tree({name: queue() for name in ("t.a", "t.b", "s.c", "s.d")})
"""Two tenants with two leaves each."""
Amounts = dict[str, int]


def whole(amounts: Amounts) -> Amounts:
    """With whole paths."""
    return {f"root.{path}" if path != "root" else path: amount for path, amount in amounts.items()}


def told(of: QueueTree, path: str, used: Amounts, promised: Amounts) -> dict[tuple[str, str], int]:
    """(Borrower, lender) -> amount, of what crosses a queue's border."""
    full = "root" if path == "root" else f"root.{path}"
    found = loans(of, matches(of, whole(used), whole(promised)), full)
    return {(one.borrower.removeprefix("root."), one.lender.removeprefix("root.")): one.amount for one in found}


def test_what_one_borrows_is_of_those_who_lend_in_proportion_to_what_they_leave() -> None:
    """B leaves twice as much as C."""
    found = told(FLAT, "a", {"a": 9, "b": 0, "c": 2}, {"a": 3, "b": 8, "c": 6})
    assert found == {("a", "b"): 4, ("a", "c"): 2}


def test_two_that_borrow_have_of_each_lender_in_proportion_to_what_they_borrow() -> None:
    """A borrows twice as much as B, and neither C nor D lends more than it leaves."""
    used, promised = {"a": 4, "b": 2}, {"c": 3, "d": 3}
    assert told(FLAT, "c", used, promised) == {("a", "c"): 2, ("b", "c"): 1}
    assert told(FLAT, "b", used, promised) == {("b", "c"): 1, ("b", "d"): 1}


def test_what_is_used_beyond_what_anybody_is_promised_is_nobodys() -> None:
    """Such as what pods hold that are on their way out, or the room that no guarantee covers."""
    assert told(FLAT, "a", {"a": 5, "b": 1}, {"b": 4}) == {("a", "b"): 3, ("a", NOBODY): 2}
    assert told(FLAT, "root", {"a": 5, "b": 1}, {"b": 4}) == {("a", NOBODY): 2}


def test_nobody_borrows_where_all_have_what_they_are_promised() -> None:
    """Nor lends, though it leaves some: nobody takes it."""
    assert told(FLAT, "a", {"a": 3}, {"a": 3, "b": 4}) == {}
    assert lent_amounts(FLAT, matches(FLAT, whole({"a": 3}), whole({"a": 3, "b": 4}))) == {}


def test_the_nearest_lends_first() -> None:
    """A has all of it of B below the same tenant, though the other tenant leaves more."""
    used, promised = {"t.a": 8, "t.b": 2}, {"t.a": 5, "t.b": 5, "s.c": 10}
    assert told(NESTED, "t.a", used, promised) == {("t.a", "t.b"): 3}
    assert told(NESTED, "t", used, promised) == {}
    assert lent_amounts(NESTED, matches(NESTED, whole(used), whole(promised))) == {"root.t.b": 3}


def test_what_is_left_is_of_the_other_tenant() -> None:
    """Told of the tenants, and of the leaves it is between."""
    used, promised = {"t.a": 9, "t.b": 4}, {"t.a": 5, "t.b": 5, "s.c": 10}
    assert told(NESTED, "t", used, promised) == {("t.a", "s.c"): 3}
    assert told(NESTED, "t.a", used, promised) == {("t.a", "t.b"): 1, ("t.a", "s.c"): 3}
    assert lent_amounts(NESTED, matches(NESTED, whole(used), whole(promised))) == {
        "root.t.b": 1,
        "root.s.c": 3,
        "root.s": 3,
    }


def test_a_tenant_that_is_promised_more_than_its_leaves_lends_them_the_rest() -> None:
    """Before B lends anything; nothing of it leaves the tenant."""
    used, promised = {"t.a": 8}, {"t": 10, "t.b": 3}
    assert told(NESTED, "t.a", used, promised) == {("t.a", "t"): 7, ("t.a", "t.b"): 1}
    assert told(NESTED, "t", used, promised) == {}


def test_a_tenant_lends_others_the_rest_too() -> None:
    """As a lender of its own."""
    assert told(NESTED, "s.c", {"s.c": 4}, {"t": 10}) == {("s.c", "t"): 4}
    assert lent_amounts(NESTED, matches(NESTED, whole({"s.c": 4}), whole({"t": 10}))) == {"root.t": 4}


def test_a_leaf_can_not_lend_what_its_tenant_is_not_promised() -> None:
    """B leaves five; of the tenant's two A has one."""
    used, promised = {"s.c": 4, "t.a": 1}, {"t": 2, "t.b": 5}
    assert told(NESTED, "s.c", used, promised) == {("s.c", "t.b"): 1, ("s.c", NOBODY): 3}
    assert told(NESTED, "t.a", used, promised) == {("t.a", "t.b"): 1}


LEAVES = ("t.a", "t.b", "s.c", "s.d")
uses = st.dictionaries(st.sampled_from(LEAVES), st.integers(0, 50))
promises = st.dictionaries(st.sampled_from((*LEAVES, "t", "s")), st.integers(0, 50))


def granted(promised: Amounts, path: str) -> int:
    """What a queue is promised: what it says, else what those below it are."""
    below = [one for one in LEAVES if one.startswith(f"{path}.")]
    return promised.get(path, sum(promised.get(one, 0) for one in below))


@given(uses, promises)
def test_every_unit_that_a_leaf_borrows_is_told_once(used: Amounts, promised: Amounts) -> None:
    """Whoever borrows has all of it of somebody; nobody lends more than it leaves, or at once borrows itself."""
    for leaf in LEAVES:
        found = told(NESTED, leaf, used, promised)
        left = promised.get(leaf, 0) - used.get(leaf, 0)
        assert all(amount > 0 for amount in found.values())
        assert sum(amount for (borrower, _), amount in found.items() if borrower == leaf) == max(0, -left)
        assert sum(amount for (_, lender), amount in found.items() if lender == leaf) <= max(0, left)


@given(uses, promises)
def test_a_tenant_borrows_what_it_uses_beyond_what_it_is_promised(used: Amounts, promised: Amounts) -> None:
    """Whatever its leaves have of each other; more is never lent than is left, and both are never so at once."""
    for tenant in ("t", "s"):
        leaves = [one for one in LEAVES if one.startswith(tenant)]
        within = sum(min(used.get(one, 0), promised.get(one, 0)) for one in leaves)
        held, most = sum(used.get(one, 0) for one in leaves), granted(promised, tenant)
        found = told(NESTED, tenant, used, promised)
        borrowed = sum(amount for (borrower, _), amount in found.items() if borrower.startswith(tenant))
        lends = sum(amount for (_, lender), amount in found.items() if lender.startswith(tenant))
        assert borrowed == max(0, held - max(most, within))
        assert lends <= max(0, most - held)
        assert lends == lent_amounts(NESTED, matches(NESTED, whole(used), whole(promised))).get(f"root.{tenant}", 0)


@given(uses, promises)
def test_nothing_is_nobodys_while_somebody_could_lend_it(used: Amounts, promised: Amounts) -> None:
    """As much of what is borrowed as others may lend is theirs."""
    found = list(matches(NESTED, whole(used), whole(promised)))
    assert all(sum(one.borrowed.values()) == sum(one.lent.values()) for one in found)
    over = {one: used.get(one, 0) - promised.get(one, 0) for one in LEAVES}
    if not {"t", "s"} & promised.keys():
        borrowed, left = (sum(max(0, sign * one) for one in over.values()) for sign in (1, -1))
        of_nobody = sum(one.lent[NOBODY] for one in found if one.parent == NOBODY)
        assert of_nobody == max(0, borrowed - left)


@given(uses, promises)
def test_a_queue_is_told_its_part_of_what_all_have_of_all(used: Amounts, promised: Amounts) -> None:
    """Whoever is looked at, each lender is divided among all that borrow, one after the other."""
    matched = list(matches(NESTED, whole(used), whole(promised)))
    for path in NESTED.queues:
        above = {NOBODY, *NESTED.lineage(path)} - {path}
        near = [loan for found in matched if found.parent in above for loan in every_loan(found)]
        crossing = [one for one in near if is_inside(one[0], path) != is_inside(one[1], path)]
        found = [(one.borrower, one.lender, one.amount) for one in loans(NESTED, matched, path)]
        assert sorted(found) == sorted(crossing)


def every_loan(found: Match) -> Iterator[tuple[str, str, int]]:
    """Borrower, lender, amount; where any is borrowed."""
    left = list(found.lent.values())
    for borrower, amount in sorted(found.borrowed.items()):
        upto = [amount * sum(left[:place]) // (sum(left) or 1) for place in range(len(left) + 1)]
        for place, lender in enumerate(found.lent):
            if part := upto[place + 1] - upto[place]:
                yield borrower, lender, part
        left = [one - (high - low) for one, low, high in zip(left, upto, upto[1:], strict=False)]


def is_inside(one: str, path: str) -> bool:
    """Whether it is the queue, or below it."""
    return one != NOBODY and NESTED.contains(path, one)


@given(st.lists(st.integers(0, 50), max_size=8), st.data())
def test_an_amount_is_divided_to_the_unit(limits: list[int], data: st.DataObject) -> None:
    """Each part is less than a unit off its exact share, and within its limit."""
    amount, every = data.draw(st.integers(0, sum(limits))), sum(limits)
    found = divide(amount, {str(place): limit for place, limit in enumerate(limits)})
    assert sum(found.values()) == amount
    for place, limit in enumerate(limits):
        part = found.get(str(place), 0)
        assert 0 <= part <= limit
        assert not every or abs(part * every - amount * limit) < every
