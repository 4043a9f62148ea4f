"""The engine decides as kube-scheduler does: on its recorded decisions, and on wild cases asked of the real one."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.cli.cases import Situation, read_case, situation
from engine.model.decision import Outcome, Reason
from engine.policies import priority
from engine.policies.priority.attempt import PriorityAttempt
from engine.policies.priority.node_candidates import find_node_candidates
from tests.engine import plain_priority
from tests.fidelity.agreement import disagreements
from tests.fidelity.compare import answer
from tests.fidelity.generate import cases as wild
from tests.fidelity.recorded import FOLDER, read
from tests.runner.suites import sized

Manifest = dict[str, Any]
WILD = sized("worlds", usual=100, long=400)
NOT_JUDGED = ("volumes-unbound", "volumes-waiting", "volumes-waiting-local")
"""Features of cases with a claim for which no volume was chosen yet."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Any) -> None:
    """Outcome, node, victims, what would go on each node, and where the ask fits."""
    told = {case["name"]: disagreements(case["expect"], answer(case, unqueued=True)) for case in read(path)}
    assert {name: why for name, why in told.items() if why} == {}


@pytest.mark.controlplane
@pytest.mark.parametrize("unqueued", [False, True], ids=["queued", "unqueued"])
def test_it_agrees_with_the_real_scheduler_on_wild_cases(unqueued: bool, record: Callable[..., list[Manifest]]) -> None:
    """Everything that the generator knows, mixed; the pods nominated to nodes wait in its queue, or are not known."""
    made = [case for case in wild(11, WILD) if not set(NOT_JUDGED) & set(case["tags"])]
    recorded = record(made, unqueued=unqueued)
    told = {
        case["name"]: disagreements(expect, answer(case, unqueued=unqueued))
        for case, expect in zip(made, recorded, strict=True)
    }
    assert {name: why for name, why in told.items() if why} == {}
    assert {one["outcome"] for one in recorded} == {"fits", "preempt", "no-candidate", "not-eligible"}


@pytest.mark.controlplane
def test_a_namespace_that_a_case_does_not_tell_of_has_no_labels(record: Callable[..., list[Manifest]]) -> None:
    """The real scheduler takes it so; the ask is decided, not left alone."""
    made = [case for case in wild(13, WILD) if not set(NOT_JUDGED) & set(case["tags"])]
    bare = [{**case, "objects": [one for one in case["objects"] if one["kind"] != "Namespace"]} for case in made]
    told = {case["name"]: disagreements(expect, answer(case)) for case, expect in zip(bare, record(bare), strict=True)}
    assert {name: why for name, why in told.items() if why} == {}
    assert not [case["name"] for case in bare if answer(case)["reason"] == Reason.UNREAD_RULES]


def test_all_nodes_at_once_and_one_by_one_give_the_same() -> None:
    """Decisions, what would go on each node and in which order it was put back, on wild cases."""
    for case in wild(12, WILD):
        at = situation(read_case(json.dumps(case).encode()))
        plain = plain_priority.decide(at.snapshot, at.ask)
        found = priority.decide(at.snapshot, at.tree, at.ask)
        victims = tuple(verdict.pod.key for verdict in found.victims)
        assert (found.outcome, found.node, victims) == (plain.outcome, plain.node, plain.victims), case["name"]
        if plain.outcome is Outcome.PREEMPT:
            _same_on_each_node(at, plain, case["name"])


def _same_on_each_node(at: Situation, plain: plain_priority.Answer, name: str) -> None:
    looked = find_node_candidates(PriorityAttempt(at.snapshot, at.ask))
    columns = looked.attempt.columns
    places = {one.node.name: columns.place[one.node.name] for one in plain.candidates}
    assert {columns.nodes[place].name for place in looked.costs.places} == set(places), name
    violations = dict(zip(looked.costs.places, looked.costs.violations, strict=True))
    for one in plain.candidates:
        place = places[one.node.name]
        victims = looked.victims_on(place)
        stayed = [columns.pods[row].uid for row in looked.order_on(place) if row not in victims]
        assert stayed == [pod.uid for pod in one.stayed], name
        assert violations[place] == one.violations, name
