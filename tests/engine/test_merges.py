"""Mappings that merge others: as many as people write are read, more are refused before anything looks into them."""

import pytest

from engine.cluster.connecting.kubeconfig import Kubeconfig
from engine.cluster.errors import SettingsError
from engine.formats.yaml import documents
from engine.formats.yaml.merge_keys import MOST_MERGED, count_merges
from engine.model.notes import ImportFailure

NESTED = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9))


def test_each_counts_what_it_merges_again() -> None:
    """One merges two, another that one: two, and three more. A text that has the mark elsewhere merges nothing."""
    assert count_merges("a: &a {x: 1}\nb: &b {<<: [*a, *a]}\nc: {<<: *b}") == 5
    assert count_merges("a: '<<'") == 0
    assert count_merges("a: 1") == 0


def test_some_are_read() -> None:
    """With what they merge."""
    (found,) = documents.load("a: &a {x: 1}\nqueues:\n" + "- {<<: *a}\n" * 20)
    assert [one["x"] for one in found["queues"]] == [1] * 20


@pytest.mark.parametrize("text", [NESTED, "a: &a {x: 1}\nb:\n" + "- {<<: *a}\n" * (MOST_MERGED + 1)])
def test_more_are_refused(text: str) -> None:
    """Many into one, and one into many; in documents and in kubeconfigs."""
    with pytest.raises(ImportFailure, match="merges more than 1000 mappings"):
        documents.load(text)
    with pytest.raises(SettingsError):
        Kubeconfig.of(text)


def test_one_that_merges_itself_is_refused() -> None:
    """By its depth."""
    with pytest.raises(ImportFailure, match="nested too deeply"):
        documents.load("a: &a {<<: *a}")
