"""Groups of pods are decided as kube-scheduler 1.37 does: by its recorded decisions, and by a plain implementation."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given

from engine.audit import audit, failed_checks
from engine.cli.decide import answer
from engine.model.objects import SchedulingGroup
from engine.model.queue_tree import ROOT_ONLY
from engine.model.snapshot import Snapshot
from engine.policies.priority.groups import decide_group
from engine.policies.priority.groups.attempt import waiting_members
from tests.engine.group_worlds import worlds
from tests.fidelity import plain_groups
from tests.fidelity.agreement import group_disagreements
from tests.fidelity.recorded import FOLDER, read

_COUNTED = re.compile(r"preemption: minCount \(\d+\) cannot be satisfied: (\d+) scheduled, (\d+) remaining")
RECORDED = FOLDER.parent / "kube-scheduler-1.37"


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_it_agrees_with_every_recorded_decision(path: Path) -> None:
    """For groups: outcome, each member's node, victims, violated budgets; for pods: also what would go on each node."""
    cases = read(path)
    assert cases
    told = {}
    for case in cases:
        given_alone = {name: value for name, value in case.items() if name != "expect"}
        told[case["name"]] = group_disagreements(case["expect"], answer(msgspec.json.encode(given_alone)))
    assert {name: why for name, why in told.items() if why} == {}


def test_it_counts_as_the_real_one_says_where_too_few_fit() -> None:
    """In the condition of the PodGroup: how many were scheduled, and how many remained."""
    compared = 0
    for path in RECORDED.glob("*.jsonl.gz"):
        for case in read(path):
            said = _COUNTED.search(case["expect"].get("condition", ""))
            if said and case["expect"]["outcome"] == "no-candidate":
                figures = answer(msgspec.json.encode({**case, "expect": None}))["figures"]
                assert (figures["scheduled"], figures["remaining"]) == (int(said[1]), int(said[2])), case["name"]
                compared += 1
    assert compared > 20


@given(worlds())
def test_it_decides_as_a_plain_implementation_does(world: tuple[Snapshot, SchedulingGroup]) -> None:
    """With everything that the generator knows: rules between pods, ports, budgets, nominations, both modes."""
    assume(waiting_members(*world))
    found, plain = decide_group(*world), plain_groups.decide_group(*world)
    names = {pod.uid: pod.key for pod in (found.ask, *found.together)}
    assert (found.outcome, {names[uid]: node for uid, node in found.nodes.items()}) == (plain.outcome, plain.nodes)
    assert sorted(victim.pod.key for victim in found.victims) == sorted(plain.victims)
    assert sum(bool(victim.detail) for victim in found.victims) == plain.violations


@given(worlds(rules=False))
def test_its_decisions_keep_the_invariants(world: tuple[Snapshot, SchedulingGroup]) -> None:
    """As the audit finds from the objects alone; rules between pods are left out, which kube-scheduler miscounts."""
    assume(waiting_members(*world))
    decision = decide_group(*world)
    assert failed_checks(audit(world[0], ROOT_ONLY, decision)) == ()
    if decision.victims:
        fewer = msgspec.structs.replace(decision, victims=decision.victims[1:])
        assert failed_checks(audit(world[0], ROOT_ONLY, fewer))
