"""Quantities become exact integers and come back as people type them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.quantities import (
    QuantityError,
    add,
    fits,
    format_amount,
    format_amounts,
    parse_amount,
    parse_amounts,
    parse_quantity,
    subtract,
    total,
)

RESOURCES = st.sampled_from(["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "pods", "nvidia.com/gpu"])
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "pods"]), st.integers(-(2**40), 2**40))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        (3, 3),
        (1.5, Fraction(3, 2)),
        ("1500m", Fraction(3, 2)),
        ("32Gi", 32 * 2**30),
        ("1G", 10**9),
        ("1k", 1000),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("12e-1", Fraction(6, 5)),
        ("100n", Fraction(1, 10**7)),
        (".5", Fraction(1, 2)),
        ("2.", 2),
        ("-1", -1),
        ("+1u", Fraction(1, 10**6)),
    ],
)
def test_a_quantity_has_its_exact_value(text: str, value: Fraction) -> None:
    """As Kubernetes reads it, without floating point."""
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "1 Gi", "128Gb", "1K", "0x10", "1e", "e3", "1.2.3", "--1", "inf", "1mi", "१"])
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    """The sentence repeats what was typed; digits of other scripts are none that Kubernetes reads."""
    with pytest.raises(QuantityError, match="is not a valid amount"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("cpu", "1", 1000),
        ("cpu", "0.1", 100),
        ("cpu", "100u", 1),
        ("memory", "1500m", 2),
        ("memory", "1Ki", 1024),
        ("nvidia.com/gpu", "3", 3),
    ],
)
def test_amounts_are_integers_rounded_up(resource: str, text: str, amount: int) -> None:
    """Cores in thousandths, all else in base units."""
    assert parse_amount(resource, text) == amount


def test_a_resource_list_is_read_whole() -> None:
    """And no list at all is an empty one."""
    assert parse_amounts({"cpu": "1500m", "memory": 1024}) == {"cpu": 1500, "memory": 1024}
    assert parse_amounts(None) == {}


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("memory", 32 * 2**30, "32Gi"),
        ("memory", 1023, "1023"),
        ("memory", 0, "0"),
        ("pods", 1024, "1024"),
    ],
)
def test_amounts_are_shown_as_people_type_them(resource: str, amount: int, text: str) -> None:
    """Binary units only where they are usual and exact."""
    assert format_amount(resource, amount) == text
    assert format_amounts({resource: amount}) == {resource: text}


@given(resource=RESOURCES, amount=st.integers(0, 2**63))
def test_what_is_shown_reads_back_exactly(resource: str, amount: int) -> None:
    """No amount changes by being shown and typed again."""
    assert parse_amount(resource, format_amount(resource, amount)) == amount


@given(left=AMOUNTS, right=AMOUNTS)
def test_addition_and_subtraction_undo_each_other(left: dict[str, int], right: dict[str, int]) -> None:
    """Resource by resource, one that is missing being nothing."""
    back = subtract(add(left, right), right)
    assert {name: amount for name, amount in back.items() if amount} == {n: a for n, a in left.items() if a}
    assert total([left, right]) == add(left, right)


def test_a_request_fits_into_what_is_free() -> None:
    """What is not listed as free is not there, and a request of nothing needs nothing."""
    assert fits({"cpu": 2}, {"cpu": 2})
    assert not fits({"cpu": 2}, {"cpu": 1, "memory": 9})
    assert not fits({"gpu": 1}, {"cpu": 2})
    assert fits({"gpu": 0}, {"cpu": -1})
