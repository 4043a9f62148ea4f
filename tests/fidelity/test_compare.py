"""The comparison finds an engine that answers otherwise than the scheduler, and makes the case small that shows it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fidelity import compare
from tests.fidelity.generate import case, cases
from tests.fidelity.recorder import record as ask
from tests.fidelity.shrink import shrunk
from tests.fidelity.sketch import sketch

Manifest = dict[str, Any]


def as_the_scheduler(line: bytes) -> Manifest:
    """An engine that is never wrong."""
    (recorded,) = ask([json.loads(line)])
    several = {node: some[0] for node, some in recorded.get("candidates_any_of", {}).items()}
    figures = {"candidates": recorded.get("candidates", {}) | several, "fits_on": recorded.get("fits_on", [])}
    chosen = recorded["any_of"][0] if recorded["any_of"] else {"node": None, "victims": []}
    victims = [{"name": name} for name in chosen["victims"]]
    return {"outcome": recorded["outcome"], "node": chosen["node"], "victims": victims, "figures": figures}


def blind_to_ports(line: bytes) -> Manifest:
    """An engine that overlooks host ports."""
    made = json.loads(line)
    for one in made["objects"]:
        for container in one["spec"].get("containers", []) if one["kind"] == "Pod" else ():
            container.pop("ports", None)
    return as_the_scheduler(json.dumps(made).encode())


@pytest.mark.controlplane
@pytest.mark.parametrize(("engine", "wrong"), [(as_the_scheduler, False), (blind_to_ports, True)])
def test_only_a_wrong_engine_disagrees(
    engine: Callable[[bytes], Manifest], wrong: bool, record: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.cli.decide.answer", engine)
    comparison = compare.Comparison(show=0)
    comparison.run([made for made in cases(1, 150) if "host-ports" in made["tags"]][:25])

    assert bool(comparison.wrong) is wrong
    assert comparison.outcomes.total() == 25
    assert next(comparison.summary()).startswith("25 of 25 agree") is not wrong


def test_an_answer_that_fails_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(line: bytes) -> Manifest:
        raise ValueError("no such node")

    monkeypatch.setattr("engine.cli.decide.answer", fails)
    assert compare.differences(case(1, 0), {"outcome": "fits"}) == ["ValueError: no such node"]


def test_a_case_is_shrunk_to_what_matters() -> None:
    made = case(1, 0)

    def has_taken_port(smaller: Manifest) -> bool:
        return "hostPort" in json.dumps([o for o in smaller["objects"] if "nodeName" in o.get("spec", {})])

    assert has_taken_port(made)
    smaller = shrunk(made, has_taken_port)
    assert has_taken_port(smaller)
    assert len(smaller["objects"]) == 2  # the pod with the port, and the asker, which always stays
    assert len(json.dumps(smaller)) < len(json.dumps(made)) / 5


def test_a_sketch_says_what_the_scheduler_says_of_each_node() -> None:
    refusal = {"plugin": "NodePorts", "code": "Unschedulable", "reasons": ["taken"], "dry_run": "Insufficient cpu"}
    lines = list(sketch(case(1, 0), {"outcome": "no-candidate", "why": {"n1": refusal}}))
    assert lines[-1] == "  n1: NodePorts Unschedulable ['taken']; without its victims Insufficient cpu"
    assert 'recorded: {"outcome": "no-candidate"}' in lines
