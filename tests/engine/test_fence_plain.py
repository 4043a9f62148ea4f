"""Policy fence decides as the plain implementation does, to the byte: outcome, node, victims and trace."""

import json

from hypothesis import given
from hypothesis import strategies as st

from engine.audit import audit, failed_checks
from engine.cli.cases import read_case, situation
from engine.model.decision import encode
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies import fence
from tests.builders import OPTED_OUT, snapshot
from tests.engine import plain_fence
from tests.engine.crowds import crowds
from tests.engine.strategies import clusters, queue_trees
from tests.fidelity.recorded import read, some
from tests.fidelity.yunikorn import FOLDER
from tests.properties import examples

LAST_RESORTS = ("daemonset", "any", "never")


def differing(at: Snapshot, tree: QueueTree, last_resort: str = "daemonset") -> list[str]:
    """The asks of which the plain implementation thinks otherwise."""
    parameters = fence.Parameters(last_resort=last_resort)  # type: ignore[arg-type]
    ways = (fence.decide, plain_fence.decide)
    return [ask.name for ask in at.asks if len({encode(way(at, tree, ask, parameters)) for way in ways}) > 1]


@given(tree=queue_trees(), objects=clusters(), last_resort=st.sampled_from(LAST_RESORTS))
@examples(300)
def test_in_random_clusters(tree: QueueTree, objects: list[Node | Pod], last_resort: str) -> None:
    """Queues with every setting there is, few of which may preempt."""
    assert not differing(snapshot(tree, objects, OPTED_OUT), tree, last_resort)


@given(crowd=crowds(), last_resort=st.sampled_from(LAST_RESORTS))
@examples(400)
def test_where_much_is_preempted(crowd: tuple[QueueTree, list[Node | Pod | Reservation]], last_resort: str) -> None:
    """Many pods on a node, rules between them, and guarantees that forbid the first set that comes to mind."""
    tree, objects = crowd
    assert not differing(snapshot(tree, objects, OPTED_OUT), tree, last_resort)


def test_on_recorded_cases() -> None:
    """Those of YuniKorn's that have one asker; what comes out keeps the laws."""
    evicting = 0
    recorded = (case for path in sorted(FOLDER.glob("*.jsonl.gz")) for case in read(path) if case["asker"])
    for case in some(recorded):
        at = situation(read_case(json.dumps(case).encode()))
        assert not differing(at.snapshot, at.tree), case["name"]
        decision = fence.decide(at.snapshot, at.tree, at.ask)
        assert not failed_checks(audit(at.snapshot, at.tree, decision)), case["name"]
        evicting += decision.evicts
    assert evicting
