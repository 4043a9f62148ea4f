"""What a PriorityClass may be, and what may change of it. tests/cluster holds the same against API servers."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.decode import decode_priority_class
from engine.formats.kubernetes.priority_classes import (
    LOWEST,
    change_faults,
    creation_faults,
    removal_faults,
    with_preemption_annotations,
)
from engine.model.objects import HIGHEST_PRIORITY, PriorityClass

USUAL = PriorityClass(name="usual", value=7, global_default=True)


def fields(*wrong) -> list[str]:
    return [fault.field for fault in wrong]


@pytest.mark.parametrize("name", ["a", "0", "high-priority", "team.example.com", "a" * 253])
def test_names_of_classes_are_dns_subdomains(name: str):
    assert creation_faults(PriorityClass(name=name), ()) == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Enter a name"),
        ("High", "lowercase letters"),
        ("-a", "lowercase letters"),
        ("a-", "lowercase letters"),
        ("a..b", "lowercase letters"),
        ("a_b", "lowercase letters"),
        ("a\n", "lowercase letters"),
        ("é", "lowercase letters"),
        ("a" * 254, "at most 253"),
        ("system-mine", "reserved for the cluster"),
        ("usual", "with this name already exists"),
    ],
)
def test_other_names_are_refused_with_the_reason(name: str, why: str):
    (fault,) = creation_faults(PriorityClass(name=name), [USUAL])
    assert (fault.field, why in str(fault)) == ("name", True), str(fault)


@given(st.integers())
def test_values_go_from_the_lowest_of_32_bits_to_a_thousand_million(value: int):
    assert (creation_faults(PriorityClass(name="a", value=value), ()) == ()) == (LOWEST <= value <= HIGHEST_PRIORITY)


def test_there_is_one_default():
    """The one that holds it is named, and may itself be changed."""
    (fault,) = creation_faults(PriorityClass(name="a", global_default=True), [USUAL])
    assert fault.field == "global_default"
    assert str(fault).startswith("usual is already the default")
    assert change_faults(USUAL, msgspec.structs.replace(USUAL, description="new"), [USUAL]) == ()
    given_up = msgspec.structs.replace(USUAL, global_default=False)
    assert creation_faults(PriorityClass(name="a", global_default=True), [given_up]) == ()


def test_name_value_and_policy_are_for_life():
    """Everything else may change."""
    other = PriorityClass(name="other", value=8, never_preempts=True)
    assert fields(*change_faults(USUAL, other, [USUAL])) == ["name", "value", "never_preempts"]
    free = msgspec.structs.replace(
        USUAL, description="d", global_default=False, labels={"a": "b"}, annotations={"c": "D e"}
    )
    assert change_faults(USUAL, free, [USUAL]) == ()


def test_the_clusters_own_classes_keep_to_themselves():
    own = PriorityClass(name="system-node-critical", value=2_000_001_000)
    assert change_faults(own, msgspec.structs.replace(own, description="d"), [own]) == ()
    assert fields(*change_faults(own, msgspec.structs.replace(own, global_default=True), [own])) == ["global_default"]
    assert fields(*removal_faults(own.name)) == [""]
    assert removal_faults("usual") == ()


KEYS = ["a", "A.b_c-9", "example.com/a", "a" * 63, f"{'d' * 253}/a"]
NO_KEYS = ["", "-a", "a b", "/a", "a/", "a/b/c", "Example.com/a/", "a" * 64, f"{'d' * 254}/a", "ä"]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_labels_and_annotations(key: str):
    assert creation_faults(PriorityClass(name="a", labels={key: "v"}, annotations={key: "any text: {}\n"}), ()) == ()


@pytest.mark.parametrize("key", NO_KEYS)
def test_what_is_no_key_is_refused_for_both(key: str):
    found = creation_faults(PriorityClass(name="a", labels={key: "v"}, annotations={key: "v"}), ())
    assert fields(*found) == ["labels", "annotations"]


def test_a_keys_domain_is_written_small_in_labels_alone():
    """As the API server has it."""
    written = {"Example.com/a": "v"}
    assert fields(*creation_faults(PriorityClass(name="a", labels=written, annotations=written), ())) == ["labels"]


@pytest.mark.parametrize(
    ("value", "fine"), [("", True), ("a" * 63, True), ("a" * 64, False), ("a b", False), (".", False)]
)
def test_values_of_labels_are_short_words(value: str, fine: bool):
    assert (creation_faults(PriorityClass(name="a", labels={"k": value}), ()) == ()) is fine


def test_annotations_have_a_size_together():
    """Keys and values, in bytes."""
    fits = {"a": "ü" * (128 * 1024 - 1), "b": ""}
    assert creation_faults(PriorityClass(name="a", annotations=fits), ()) == ()
    assert fields(*creation_faults(PriorityClass(name="a", annotations={**fits, "c": ""}), ())) == ["annotations"]


NOTES = st.dictionaries(
    st.sampled_from(["yunikorn.apache.org/allow-preemption", "scheduler-admin.io/may-preempt", "mine"]),
    st.sampled_from(["true", "false", "maybe"]),
)


@given(NOTES, st.booleans(), st.booleans())
def test_switches_are_annotations(notes: dict[str, str], opted_out: bool, may_preempt: bool):
    """Read back they say what was chosen; all other annotations stay."""
    one = decode_priority_class({"metadata": {"name": "a", "annotations": notes}})
    after = with_preemption_annotations(one, opted_out=opted_out, may_preempt=may_preempt)
    assert decode_priority_class({"metadata": {"name": "a", "annotations": after.annotations}}) == after
    assert (after.opted_out, after.may_preempt) == (opted_out, may_preempt)
    assert after.annotations.get("mine") == notes.get("mine")
    assert with_preemption_annotations(one, opted_out=one.opted_out, may_preempt=one.may_preempt) == one
