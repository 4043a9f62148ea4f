"""Who has what of whom, where some use more than they deserve and others less."""

from hypothesis import given
from hypothesis import strategies as st

from engine.policies.deserved.lending import NOBODY, Loan, Standing, divided, loans

standings = st.dictionaries(
    st.sampled_from("abcdefgh"), st.builds(Standing, used=st.integers(0, 50), deserved=st.integers(0, 50)), max_size=8
)


def at(used: int, deserved: int) -> Standing:
    """One that uses and deserves that much."""
    return Standing(used=used, deserved=deserved)


def test_what_one_borrows_is_of_those_who_lend_in_proportion_to_what_they_leave() -> None:
    """B leaves twice as much as C."""
    found = loans({"a": at(9, 3), "b": at(0, 8), "c": at(2, 6)})
    assert found == (Loan(borrower="a", lender="b", amount=4), Loan(borrower="a", lender="c", amount=2))


def test_two_that_borrow_have_of_each_lender_in_proportion_to_what_they_borrow() -> None:
    """A borrows twice as much as B, and neither C nor D lends more than it leaves."""
    found = loans({"a": at(4, 0), "b": at(2, 0), "c": at(0, 3), "d": at(0, 3)})
    assert [(one.borrower, one.lender, one.amount) for one in found] == [
        ("a", "c", 2),
        ("a", "d", 2),
        ("b", "c", 1),
        ("b", "d", 1),
    ]


def test_what_is_used_beyond_what_anybody_deserves_is_nobodys() -> None:
    """Such as what pods hold that are on their way out: they ask nothing any more."""
    found = loans({"a": at(5, 0), "b": at(1, 4)})
    assert found == (Loan(borrower="a", lender="b", amount=3), Loan(borrower="a", lender=NOBODY, amount=2))


def test_nobody_borrows_where_all_have_what_they_deserve() -> None:
    """Nor lends, though it leaves some: nobody takes it."""
    assert loans({"a": at(3, 3), "b": at(0, 4)}) == ()


@given(standings)
def test_every_unit_that_is_borrowed_is_told_once(worlds: dict[str, Standing]) -> None:
    """Whoever borrows has all of it of somebody; nobody lends more than it leaves, or at once borrows itself."""
    found = loans(worlds)
    assert all(one.amount > 0 for one in found)
    for path, one in worlds.items():
        assert sum(loan.amount for loan in found if loan.borrower == path) == max(0, one.used - one.deserved)
        assert sum(loan.amount for loan in found if loan.lender == path) <= max(0, one.deserved - one.used)


@given(standings)
def test_nobody_lends_only_what_those_who_lend_do_not_have(worlds: dict[str, Standing]) -> None:
    """As much of what is borrowed as they leave is theirs."""
    left = sum(max(0, one.deserved - one.used) for one in worlds.values())
    borrowed = sum(max(0, one.used - one.deserved) for one in worlds.values())
    of_nobody = sum(loan.amount for loan in loans(worlds) if loan.lender == NOBODY)
    assert of_nobody == max(0, borrowed - left)


@given(st.lists(st.integers(0, 50), max_size=8), st.data())
def test_an_amount_is_divided_to_the_unit(limits: list[int], data: st.DataObject) -> None:
    """Each part is less than a unit off its exact share, and within its limit."""
    amount, whole = data.draw(st.integers(0, sum(limits))), sum(limits)
    found = divided(amount, {str(place): limit for place, limit in enumerate(limits)})
    assert sum(found.values()) == amount
    for part, limit in zip(found.values(), limits, strict=True):
        assert 0 <= part <= limit
        assert not whole or abs(part * whole - amount * limit) < whole


@given(standings)
def test_what_is_about_one_is_what_it_borrows_and_lends_among_all(worlds: dict[str, Standing]) -> None:
    """To the unit, whoever is asked about."""
    assert loans(worlds, "a".__eq__) == tuple(one for one in loans(worlds) if "a" in (one.borrower, one.lender))
