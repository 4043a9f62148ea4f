"""Whatever is read, a reader gives a value or its own error, soon. ``python -m tests.fuzz`` gives them far more."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formats import registry
from engine.model.notes import ImportFailure
from tests.fuzz.bombs import BOMBS
from tests.fuzz.mutations import mutated, places
from tests.fuzz.parsers import DOCUMENTS, PARSERS, Parser, saved
from tests.fuzz.running import bounded, read, shares
from tests.runner.suites import sized

EXAMPLES = sized("fuzz", usual=300, long=100_000)
"""For all of them together: of the large number some minutes of one core."""
BOMB_S = 10.0
_NAMES = ("float", "int", "bool", "timestamp", "binary", "omap", "set", "pairs", "null", "merge", "str", "seq", "map")
TAGS = [*(f"!!{name}" for name in _NAMES), "!x"]
ODD = ("", "x", "- a", "{a: b}", "[1]", "b: 1", "1", "-", "0x", "1e", "2020-13-45", "<<")
OF_TEXT = [name for name in PARSERS if name.startswith(("document/", "kubeconfig"))]
OF_BYTES = [
    name for name in PARSERS if name not in OF_TEXT and name.startswith(("REST/", "object/", "YuniKorn", "saved"))
]


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_nearly_right_is_read_or_refused(name: str) -> None:
    """Documents with something in them changed, pieces of text in the wrong place, and anything else."""
    parser = PARSERS[name]

    @settings(max_examples=shares(EXAMPLES)[name], derandomize=True, database=None)
    @given(parser.given())
    def fuzz(one: Any) -> None:
        read(parser, one)

    fuzz()


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_small_and_asks_for_much_is_refused_soon(bomb: str) -> None:
    """By readers of YAML, in the long suite by every one: aliases of aliases, depth, numbers without end."""
    for name in sized("fuzz", usual=OF_TEXT[:1], long=OF_TEXT):
        with bounded(BOMB_S):
            read(Parser(PARSERS[name].read, PARSERS[name].errors, st.nothing, BOMB_S), BOMBS[bomb])


@pytest.mark.parametrize("name", [*OF_TEXT, "REST/yaml"])
def test_a_tag_that_is_not_so_is_refused(name: str) -> None:
    """The reader of YAML believes what a tag says of a value, and fails by a slip of its own."""
    for tag, value, form in product(TAGS, ODD, ("a: {} {}\n", "? {} {}\n: 1\n")):
        text = form.format(tag, value)
        read(PARSERS[name], text.encode() if name.startswith("REST/") else text)


@pytest.mark.parametrize("bomb", BOMBS)
def test_bytes_are_no_other(bomb: str) -> None:
    """By readers of JSON and of what is packed, in the long suite by every one."""
    for name in sized("fuzz", usual=OF_BYTES[::4], long=OF_BYTES):
        given = BOMBS[bomb].encode("utf-8", "surrogatepass")
        read(Parser(PARSERS[name].read, PARSERS[name].errors, st.nothing, BOMB_S), given)


class TestTheTests:
    """They would see it."""

    def test_another_error_is_seen(self) -> None:
        with pytest.raises(KeyError):
            read(Parser({}.__getitem__, (ValueError,), st.nothing), "x")

    def test_what_never_ends_is_ended(self) -> None:
        def forever(_given: Any) -> None:
            while True:
                pass

        with pytest.raises(AssertionError, match=r"more than 0\.1 s"):
            read(Parser(forever, (Exception,), st.nothing, 0.1), "x")

    @pytest.mark.parametrize("form", registry.Format)
    def test_documents_are_still_read(self, form: registry.Format) -> None:
        """What is changed begins as something that can be read, or all of it would be refused at the door."""
        PARSERS[f"document/{form.value}"].read(DOCUMENTS[form])

    def test_much_of_what_is_changed_is_read(self) -> None:
        """So the readers are gone through to their ends, not to the first line alone.

        Of a queues.yaml little is: whatever key is another, YuniKorn refuses the document.
        """
        outcomes: list[bool] = []

        @settings(max_examples=200, derandomize=True, database=None)
        @given(PARSERS["document/yunikorn"].given())
        def count(text: str) -> None:
            try:
                registry.read(text, registry.Format.YUNIKORN)
            except ImportFailure:
                outcomes.append(False)
            else:
                outcomes.append(True)

        count()
        assert 0.05 < sum(outcomes) / len(outcomes) < 0.9

    @settings(max_examples=50, derandomize=True, database=None)
    @given(mutated([{"a": [1, {"b": 2}]}]))
    def test_changes_stay_documents(self, changed: Any) -> None:
        """Every place of one can be looked up."""
        assert all(holder[key] is not places for holder, key in places(changed))

    def test_a_replay_file_is_a_whole_one(self) -> None:
        """With all its parts."""
        assert saved().keys() == {"manifests/cluster.json", "tree.json", "moment.json", "decision.json"}
