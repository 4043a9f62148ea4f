"""The difference between two long texts, found section by section."""

from difflib import unified_diff
from random import Random

import pytest

from scheduler_admin.sync import text_difference
from scheduler_admin.sync.text_difference import difference

_WHOLE = 10_000_000


def test_a_few_changes_are_written_as_difflib_writes_them() -> None:
    old = [f"line {number}" for number in range(50)]
    new = [*old[:10], "new", *old[10:20], *old[22:40], "other", *old[41:]]
    assert list(difference("\n".join(old), "\n".join(new), _WHOLE)) == list(unified_diff(old, new, lineterm=""))[2:]


def test_texts_that_are_the_same_differ_in_nothing() -> None:
    assert list(difference("a\nb", "a\nb", _WHOLE)) == []


@pytest.mark.parametrize("seed", range(40))
def test_it_makes_one_text_of_the_other_however_long_they_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_difference, "SECTION", 8)
    random = Random(seed)
    old = [random.choice("abcdef") for _ in range(random.randrange(60))]
    new = [line for line in old if random.random() > 0.2]
    for _ in range(random.randrange(10)):
        new[(at := random.randrange(len(new) + 1)) : at] = random.choices("abcdefxyz", k=random.randrange(1, 20))
    assert _patched(old, list(difference("\n".join(old), "\n".join(new), _WHOLE))) == new


def test_beyond_so_many_changes_nobody_waits_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_difference, "SECTION", 8)
    found = list(difference("\n".join("a" * 1_000), "\n".join("b" * 1_000), 30))
    assert 30 < len(found) < 60


def _patched(old: list[str], lines: list[str]) -> list[str]:
    """The text after, by the text before and the difference."""
    made, at = list[str](), 0
    for line in lines:
        if line.startswith("@@"):
            first, _comma, length = line.split()[1].removeprefix("-").partition(",")
            start = int(first) - (length != "0")
            made += old[at:start]
            at = start
        elif line[0] in " -":
            assert old[at] == line[1:]
            made += [line[1:]] * (line[0] == " ")
            at += 1
        else:
            made.append(line[1:])
    return [*made, *old[at:]]
