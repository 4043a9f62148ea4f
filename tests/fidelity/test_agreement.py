"""What counts as agreement with a recorded decision."""

from typing import Any

import pytest

from tests.fidelity.agreement import disagreements

Manifest = dict[str, Any]


def evictions(*victims: str, violations: int = 0) -> Manifest:
    return {"victims": list(victims), "pdb_violations": violations}


PREEMPTS: Manifest = {
    "outcome": "preempt",
    "any_of": [{"node": "n1", **evictions("a/x")}, {"node": "n2", **evictions("a/z")}],
    "candidates": {"n1": evictions("a/x")},
    "candidates_any_of": {"n2": [evictions("a/y"), evictions("a/z")]},
}
FITS: Manifest = {"outcome": "fits", "any_of": [], "fits_on": ["n1", "n2"]}


def answer(node: str = "n1", victim: str = "a/x", **candidates: Manifest) -> Manifest:
    figures = {"candidates": {"n1": evictions("a/x"), "n2": evictions("a/y")} | candidates}
    return {"outcome": "preempt", "node": node, "victims": [{"name": victim}], "figures": figures}


@pytest.mark.parametrize("ours", [answer(), answer("n2", "a/z"), answer(n2=evictions("a/z"))])
def test_any_of_the_alternatives_will_do(ours: Manifest) -> None:
    assert disagreements(PREEMPTS, ours) == []


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (answer("n2", "a/y"), "chose n2 ['a/y'], recorded n1 ['a/x'] or n2 ['a/z']"),
        (answer(n1=evictions("a/x", violations=1)), "on n1 ['a/x'] with 1 PDB violations, recorded ['a/x'] with 0"),
        (answer(n3=evictions("a/w")), "on n3 ['a/w'] with 0 PDB violations, recorded no candidate"),
        (answer(n2=evictions("a/y", "a/z")), "on n2 ['a/y', 'a/z'] with 0 PDB violations, recorded ['a/y'] with 0"),
        ({"outcome": "fits"}, "outcome fits, recorded preempt"),
    ],
)
def test_everything_else_is_said(ours: Manifest, said: str) -> None:
    assert disagreements(PREEMPTS, ours)[0].startswith(said)


def test_a_candidate_left_out_is_a_disagreement() -> None:
    ours = answer()
    del ours["figures"]["candidates"]["n2"]
    assert disagreements(PREEMPTS, ours) == [
        "on n2 no candidate, recorded ['a/y'] with 0 PDB violations or ['a/z'] with 0 PDB violations"
    ]


def test_where_it_fits_must_be_the_same() -> None:
    assert disagreements(FITS, {"outcome": "fits", "figures": {"fits_on": ["n2", "n1"]}}) == []
    assert disagreements(FITS, {"outcome": "fits", "figures": {"fits_on": ["n1"]}})
