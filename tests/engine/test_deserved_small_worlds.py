"""Every small world under policy ``deserved``: who gives back as it is written, and no law is broken.

Two nodes of two cores, each with every mix of pods of three queues, large or small; a fourth queue asks.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, islice
from typing import Any, NamedTuple

import msgspec
import pytest

from engine.audit import AuditTerms, audit, failed_checks
from engine.model.decision import Outcome
from engine.model.objects import DisruptionBudget
from engine.model.snapshot import Snapshot
from engine.policies.deserved import Parameters, decide, share_statuses
from tests.builders import ask, node, pod, queue, snapshot, tree
from tests.engine.plain_reclaim import World, reclaimed
from tests.runner.suites import sized

KINDS = [("area.y", 0), ("area.y", 1), ("z", 0), ("w", 0)]
"""Queue and priority of those who run."""
TOLD = {"root.area.y": 0, "root.z": 0, "root.w": 0}
SIZES = {0: (), 1: (1,), 2: (1, 1), 3: (2,)}


class Variant(NamedTuple):
    """What differs beside the pods."""

    queues: Mapping[str, Mapping[str, Any]] = {}
    budgets: tuple[DisruptionBudget, ...] = ()
    system: bool = False
    """Whether the pods of priority 0 are the cluster's own."""
    urgent: bool = False
    """Whether the ask's class may take beyond what is deserved."""


VARIANTS = {
    "plain": Variant(),
    "reserved": Variant({"area": {"guaranteed": "1"}, "z": {"guaranteed": "1"}}),
    "weighted": Variant({"z": {"weight": 2 * 10**9}, "area": {"weight": 3 * 10**9}}),
    "budget": Variant(budgets=(DisruptionBudget(namespace="ns", name="one", allowed=1),)),
    "system": Variant(system=True),
    "urgent": Variant(urgent=True),
}


def on_a_node() -> list[tuple[tuple[str, int, int], ...]]:
    """Queue, priority and cores of the pods of a node: all that it has room for."""
    return [
        tuple((*kind, size) for kind, size in zip(kinds, sizes, strict=True))
        for sizes in SIZES.values()
        for kinds in combinations_with_replacement(KINDS, len(sizes))
    ]


def worlds(variant: Variant, size: int) -> Iterator[Snapshot]:
    """Each with an ask that fits nowhere as it is."""
    where = tree({path: queue(**variant.queues.get(path, {})) for path in ("area", "area.x", "area.y", "z", "w")})
    for mix in combinations_with_replacement(on_a_node(), 2):
        free = [2 - sum(cores for _, _, cores in pods) for pods in mix]
        if max(free) < size:
            waits = ask("x", queue="area.x", cpu=size, priority=1, priority_class="urgent")
            running = [
                pod(
                    f"p{at}{number}",
                    queue=path,
                    node=f"n{at}",
                    cpu=cores,
                    priority=priority,
                    created_ms=10 * number + at,
                    namespace="kube-system" if variant.system and not priority else "ns",
                )
                for at, pods in enumerate(mix)
                for number, (path, priority, cores) in enumerate(pods)
            ]
            there = snapshot(where, node("n0", 2), node("n1", 2), running, waits, notices=TOLD)
            yield msgspec.structs.replace(there, budgets=variant.budgets)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", VARIANTS)
def test_who_gives_is_as_it_is_written_and_breaks_no_law(name: str, size: int) -> None:
    """In every third of them, long in all; in some of them somebody gives."""
    variant, given = VARIANTS[name], 0
    parameters = Parameters(high_priority=("urgent",) if variant.urgent else ())
    terms = AuditTerms(high_priority=parameters.high_priority)
    for there in islice(worlds(variant, size), 0, None, sized("worlds", usual=3, long=1)):
        asking = there.asks[0]
        decision = decide(there, there.tree, asking, parameters)
        standings = dict(share_statuses(there, there.tree))
        expected = reclaimed(World(there, there.tree, asking, standings, at_once=variant.urgent))
        found = (decision.node, [one.pod.name for one in decision.victims])
        assert found == (expected or (None, [])), there.pods
        assert not failed_checks(audit(there, there.tree, decision, terms=terms)), there.pods
        given += decision.outcome is Outcome.PREEMPT
    assert given
