"""Not one of policy fence's guards is idle: without it a wrong decision comes out, and the audit refuses that."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

from engine.audit import audit, failed_checks
from engine.model.decision import Decision, Outcome
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import common, fence
from engine.policies.fence import victims
from engine.policies.fence.candidates import Guard
from tests.builders import named, victims_of
from tests.engine.fence_guards import SCENES, Scene

Table = tuple[str, str]
"""Module of the package, and the name of the table in it."""


def tables() -> dict[Table, dict[str, Any]]:
    """Every table of the package whose values can be called: that is how it writes down its guards."""
    found = {}
    for package, module in ((one, each) for one in (common, fence, victims) for each in iter_modules(one.__path__)):
        loaded = import_module(f"{package.__name__}.{module.name}")
        for name, value in vars(loaded).items():
            own = isinstance(value, dict) and name.isupper() and value
            if own and all(callable(each) or isinstance(each, Guard) for each in value.values()):
                found[module.name, name] = value
    origin = {id(value): at for at, value in reversed(found.items())}
    return {at: value for at, value in found.items() if origin[id(value)] == at or at in SCENES}


def without(table: Table, guard: Any) -> Any:
    """The guard as it is once it lets everything pass."""
    match table:
        case ("eligibility", _):
            return lambda _attempt: None
        case ("candidates", "GUARDS"):
            return Guard(lambda pod_kinds: np.zeros(len(pod_kinds.pod_index.kinds.each), np.bool_))
        case ("candidates", "ROW_GUARDS"):
            return lambda _attempt: np.zeros(0, np.intp)
        case ("node_candidates", _):
            return lambda attempt, _refusing: np.zeros(len(attempt.columns.nodes), np.bool_)
        case ("preemptable_amounts", _):
            return lambda *_: {}
        case ("constraints", _):
            return lambda *given: guard(*given)[1:]  # it forgets the first thing that is missing
        case _:
            return lambda *_: None


EVERY = [(table, name) for table, guards in tables().items() for name in guards]


def decided(scene: Scene) -> tuple[Snapshot, QueueTree, Decision]:
    """The scene with its decision."""
    at, shape = scene.world()
    return at, shape, fence.decide(at, shape, named(at, "want"))


def test_every_guard_has_a_scene_and_every_scene_a_guard() -> None:
    """A new guard without a scene fails here."""
    assert {table: {str(name) for name in guards} for table, guards in tables().items()} == {
        table: set(scenes) for table, scenes in SCENES.items()
    }


@pytest.mark.parametrize(("table", "name"), EVERY, ids=[f"{table[0]} {name}" for table, name in EVERY])
def test_without_the_guard_a_wrong_decision_comes_out_and_is_refused(
    table: Table, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it none does."""
    scene = SCENES[table][str(name)]
    at, shape, kept = decided(scene)
    assert not failed_checks(audit(at, shape, kept))
    guards = tables()[table]
    monkeypatch.setitem(guards, name, without(table, guards[name]))
    at, shape, wrong = decided(scene)
    assert wrong.outcome is Outcome.PREEMPT
    assert (kept.outcome, victims_of(kept)) != (wrong.outcome, victims_of(wrong))
    assert scene.law in {check.law for check in failed_checks(audit(at, shape, wrong))}
