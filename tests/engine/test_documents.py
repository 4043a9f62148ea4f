"""A text that people keep is changed where it has to be, and nowhere else."""

import pytest

from engine.formats.yaml.documents import dump, load, splice_changes
from engine.model.notes import ImportFailure

TYPED = """\
# kept
--- # by hand
a:   1     # one
list:
    - x:  {b: "2",  c: 3}   # as typed
    - y
long: >-
  folded
  text
last: yes
"""


def changed(text: str, key: str, value: object) -> str:
    """The text after one of its keys was given another value."""
    documents = load(text, for_writing=True)
    before = dump(documents, text)
    documents[0][key] = value
    return splice_changes(text, before, dump(documents, text))


def test_only_the_changed_line_differs() -> None:
    """Its own blanks are the writer's; all others stay."""
    assert changed(TYPED, "last", "no") == TYPED.replace("last: yes", "last: no")
    assert changed(TYPED, "a", 2).splitlines()[3:] == TYPED.splitlines()[3:]


def test_what_is_changed_to_the_same_stays_to_the_byte() -> None:
    """Whatever way it is written in."""
    for text in (TYPED, '{"a": 1,   "list": [1,2]}', "a: 1", "\n\na: {b: 1}\r\n"):
        assert changed(text, "a", load(text, for_writing=True)[0]["a"]) == text


@pytest.mark.parametrize("indent", ["", " ", "  ", "    "])
def test_lists_stay_as_far_to_the_right_as_they_are(indent: str) -> None:
    """What is new among them stands as they do."""
    text = f"list:\n{indent}- a\n{indent}- b\nend: 1\n"
    assert changed(text, "list", ["a", "b", "c"]) == f"list:\n{indent}- a\n{indent}- b\n{indent}- c\nend: 1\n"


def test_json_stays_json() -> None:
    """With its own indentation."""
    text = '{\n    "a": 1,\n    "list": [\n        "x"\n    ]\n}\n'
    assert changed(text, "a", 2) == text.replace("1", "2")


def test_what_is_written_always_says_what_it_is_to_say() -> None:
    """Where lines can't be told apart, the whole is written anew."""
    text = "{a: 1, b: [1, 2], c: {d: 1}}\n"
    assert load(changed(text, "b", [1, 3]))[0] == {"a": 1, "b": [1, 3], "c": {"d": 1}}


@pytest.mark.parametrize("text", ["[" * 101, "a: [", "a: &x [*x", "\0"])
def test_a_bad_text_is_refused(text: str) -> None:
    """Before it costs much."""
    with pytest.raises(ImportFailure):
        load(text, for_writing=True)
