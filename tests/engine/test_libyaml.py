"""What libyaml reads is what ruamel.yaml reads, values and lines; all else it leaves to that."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from engine.formats.yaml import documents, libyaml
from engine.formats.yaml.libyaml import LONGEST_ODD, NotPlainError
from engine.formats.yaml.merge_keys import UNREADABLE
from engine.model.notes import ImportFailure
from tests.fuzz.bombs import BOMBS
from tests.fuzz.parsers import DOCUMENTS, PARSERS
from tests.properties import examples

DEEPEST = 100
DEMO = Path(__file__).resolve().parents[2] / "demo"
_WORDS = "on off yes No y n = << true TRUE ~ null Null a:b a-b abc 10m 1Gi e5 E5"
_NUMBERS = "010 0o10 0x1F 0b11 1_000 1e3 1E3 1.5e-3 .5 5. +1 -0 - -- +. .inf -.INF .nan 00 0 08 -1 1. 0x 0o8 1e 1-2"
_LONG = "1:30 12:30:45.5 2026-01-01 2026-01-01T00:00:00Z 2026-1-1 1.5.2 9999999999999999999 1.0000000000000000000001"
ODD = [word for words in (_WORDS, _NUMBERS, _LONG) for word in words.split(" ")]
MARKS = ["", "a", "x y", "#", " # c", ":", ": ", "-", "- ", "? ", "'a'", '"b\\n"', "''", "[", "]"]
TEXTS = st.sampled_from([*ODD, *MARKS])
LINES = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "  ", "    ", "- ", "  - ", "\t"]),
        st.sampled_from(["", "a: ", "b:", "a:", "? ", "1: ", "true: ", "'a': ", "- ", "- - ", "k: {", "k: ["]),
        TEXTS,
        st.sampled_from(["", " # said", "}", "]", ", x]", ": 1}", " |", " >", " |-", ":"]),
    ),
    max_size=6,
).map("\n".join)


def ruamels(text: str) -> list[Any]:
    """What ruamel.yaml gives."""
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    return list(yaml.load_all(text))


def alike(one: Any, other: Any) -> bool:
    """The same values of the same kinds, at the same lines."""
    if isinstance(one, Mapping) or isinstance(other, Mapping):
        return (
            isinstance(one, Mapping)
            and isinstance(other, Mapping)
            and list(map(repr, one)) == list(map(repr, other))
            and documents.line_of_start(one) == documents.line_of_start(other)
            and all(documents.line_of(one, key) == documents.line_of(other, key) for key in one)
            and all(alike(one[key], other[key]) for key in one)
        )
    if isinstance(one, list) or isinstance(other, list):
        return (
            isinstance(one, list)
            and isinstance(other, list)
            and len(one) == len(other)
            and documents.line_of_start(one) == documents.line_of_start(other)
            and all(documents.line_of(one, place) == documents.line_of(other, place) for place in range(len(one)))
            and all(map(alike, one, other))
        )
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    kinds = [next(kind for kind in (bool, int, float, str, object) if isinstance(each, kind)) for each in (one, other)]
    return kinds[0] is kinds[1] and one == other


def agree(text: str) -> bool:
    """Whether libyaml reads a text, and then as ruamel.yaml does."""
    try:
        read = libyaml.load(text, DEEPEST, 1_000_000)
    except NotPlainError:
        return False
    try:
        known = ruamels(text)
    except UNREADABLE as error:
        raise AssertionError(f"ruamel.yaml refuses what libyaml reads as {read}: {error}") from error
    assert len(read) == len(known)
    assert all(map(alike, read, known)), (read, known)
    return True


@pytest.mark.parametrize("text", ODD)
def test_a_word_that_may_be_more_than_a_text_is_what_it_is(text: str) -> None:
    """As a value, in a list, and as a key; quoted it is a text."""
    for form in ("a: {}", "- {}", "{}: 1", "[{}, {}]", "a: '{}'", '"{}": 1'):
        agree(form.replace("{}", text))
    assert agree(f"a: '{text}'")


@given(LINES)
@examples(2_000)
def test_lines_that_are_nearly_yaml(text: str) -> None:
    """Odd words in odd places."""
    agree(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, min_size=1, max_size=2))
@examples(500)
def test_what_is_written_is_read(values: list[Any]) -> None:
    agree(documents.dump([documents.to_commented(value) for value in values]))


@pytest.mark.parametrize("text", ["&0:", "&0: 1", "a: &b: 1", "&a: b: c", "é: &b: 1"])
def test_an_anchor_with_a_colon_is_left(text: str) -> None:
    """Whether a colon belongs to its name depends on the version of YAML."""
    assert not agree(text)


@given(PARSERS["document/yunikorn"].given() | PARSERS["document/kueue"].given())
@examples(300)
def test_documents_that_are_nearly_right(text: str) -> None:
    agree(text)


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_small_and_asks_for_much_is_read_alike_or_left(name: str) -> None:
    """Nothing nested without end gets as far as where the stack ends."""
    if "\ud800" not in BOMBS[name]:
        agree(BOMBS[name])


@pytest.mark.parametrize(
    "deep", ["- " * 200_000, "[" * 200_000, "? " * 200_000, "{a: " * 100_000], ids=lambda text: text[:3]
)
def test_depth_is_left(deep: str) -> None:
    with pytest.raises(NotPlainError):
        libyaml.load(deep, DEEPEST, 1_000_000)


def test_what_people_keep_is_plain() -> None:
    """Else the fast way would be taken by nobody."""
    texts = [*DOCUMENTS.values(), *(file.read_text() for file in DEMO.rglob("*.yaml"))]
    assert all(agree(text) for text in texts)


class TestALongDocument:
    """Longer than what ruamel.yaml is given."""

    LONG = "".join(f"a{number}: some words of no meaning\n" for number in range(3_000))

    def test_is_read_where_it_is_plain(self) -> None:
        assert len(self.LONG) > LONGEST_ODD
        (read,) = documents.load(self.LONG)
        assert len(read) == 3_000

    @pytest.mark.parametrize(
        "odd", ["b: &x 1", "b: *x", "b: !!str 1", "b: 2026-01-01", "<<: {}", "a0: 2", "b: 0x1", "b:\t1"]
    )
    def test_is_refused_at_its_line_where_it_is_not(self, odd: str) -> None:
        if odd == "b: &x 1":  # an anchor that nobody names is no trouble
            assert documents.load(f"{self.LONG}{odd}\n")
            return
        with pytest.raises(ImportFailure) as failed:
            documents.load(f"{self.LONG}{odd}\n")
        (note,) = failed.value.notes
        assert (note.line, "longer than" in note.message.id or "not valid YAML" in note.message.id) == (3_001, True)

    def test_says_what_is_wrong(self) -> None:
        with pytest.raises(ImportFailure) as failed:
            documents.load(f"{self.LONG}b: [1, 2\n")
        (note,) = failed.value.notes
        assert note.message.id == "This is not valid YAML: %(problem)s."
        assert note.message.params["problem"]


@pytest.mark.parametrize("odd", ["&x 1", "!!int 1", "2026-01-01", "0x1F"])
def test_a_short_one_may_be_odd(odd: str) -> None:
    """Then it is ruamel.yaml's to read."""
    (read,) = documents.load(f"a: {odd}")
    assert read == ruamels(f"a: {odd}")[0]
