"""Half a character, depth without end, a rule that is no list: each reader's own error, and no other."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.formats import registry
from engine.formats.tree_json.label_lines import PairsError, read_pairs
from engine.formats.undecodable import UNDECODABLE
from engine.formats.yunikorn import rest
from engine.model.notes import ImportFailure
from engine.planning import journal
from scheduler_admin.priority_classes.forms import SeenField

DEEP = "[" * 50_000


@pytest.mark.parametrize("given", [b'{"a": "\xed"}', '{"a": "\ud800"}', DEEP, "{"])
def test_these_are_all_that_the_library_raises(given: Any) -> None:
    """Only the last of them is what it calls an error."""
    with pytest.raises(UNDECODABLE):
        msgspec.json.decode(given)


@pytest.mark.parametrize("read", [rest.read_batch, rest.read_queues])
def test_an_answer_with_half_a_character_is_none_of_yunikorns(read: Callable[[bytes], Any]) -> None:
    """JSON in form."""
    with pytest.raises(rest.ForeignAnswerError):
        read(b'{"LowestID": 1, "HighestID": 1, "InstanceUUID": "\xed", "queuename": "\xed"}')


def test_a_label_with_half_a_character_is_named_by_its_line() -> None:
    """As one that is not quoted to its end."""
    with pytest.raises(PairsError, match="Line 2"):
        read_pairs('a: b\nc: "\ud800"')


def test_a_form_that_is_none_of_ours_is_none() -> None:
    """However deep what it says it has seen."""
    assert SeenField().to_python('{"x": ' + DEEP) is None


@pytest.mark.parametrize("given", ["x", "{}", "7"])
def test_placement_rules_that_are_no_list_are_named(given: str) -> None:
    """In queues.yaml and in our own form."""
    yunikorn = f"partitions:\n- name: default\n  placementrules: {given}\n  queues: [{{name: root}}]\n"
    own = f"queues: [{{path: root}}]\nplacement: {given}\n"
    for text in (yunikorn, own):
        with pytest.raises(ImportFailure, match="must be a list"):
            registry.read(text)


def test_a_torn_journal_is_told_as_torn() -> None:
    """Whatever is in it."""
    with pytest.raises(journal.CorruptJournalError):
        journal.read([bytes([journal.FORM]) + b"x"])
