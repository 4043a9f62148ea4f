"""All nodes and leaves at once and the long way round give the same under YuniKorn's rules."""

import json
from itertools import cycle

from hypothesis import given
from hypothesis import strategies as st

from engine.cli.cases import read_case, situation
from engine.model.decision import Outcome
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import yunikorn
from engine.policies.yunikorn import Parameters, QueueBalances, Quirk, Quirks, table_of
from engine.policies.yunikorn.attempt import YuniKornAttempt
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.node_candidates import plan_on, victims_needed
from engine.policies.yunikorn.victims.counts import NONE
from tests.builders import snapshot
from tests.engine.plain_yunikorn import KNOWN, Answer, Yunikorn
from tests.engine.strategies import clusters, queue_trees
from tests.fidelity.recorded import read, some
from tests.fidelity.yunikorn import FOLDER
from tests.properties import examples

PREEMPTING = (Outcome.PREEMPT, Outcome.NO_CANDIDATE)
TO_TRY = Parameters(check_delay=False)


def fast(moment: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> tuple[Answer, bool]:
    """What the dialect answers, and whether it looked for victims."""
    decision = yunikorn.decide(moment, tree, ask, TO_TRY, quirks)
    candidates = YuniKornCandidates(YuniKornAttempt(moment, tree, ask, quirks))
    keys = frozenset(moment.columns.pods[row].key for row in candidates.rows)
    looked = decision.outcome in PREEMPTING or decision.reason == "over-guarantee"
    return Answer(decision.node, tuple(one.pod.key for one in decision.victims), keys), looked


def differs(moment: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> tuple[Answer, Answer] | None:
    """Both answers where they are not the same."""
    found, looked = fast(moment, tree, ask, quirks)
    books = QueueBalances(moment, tree, table_of(moment, tree, quirks), quirks)
    tried = books.full(ask.queue or "", ask.requests) is None
    plain = Yunikorn(moment, tree, ask, quirks).answer(nodes_tried=tried)._replace(plans={})
    return (found, plain) if looked and found != plain else None


def without(quirk: Quirk | None) -> Quirks:
    """All departures but one."""
    return Quirks() if quirk is None else Quirks().without(quirk)


@examples(500)
@given(queue_trees(), clusters(), st.sampled_from([None, *KNOWN]))
def test_at_once_and_one_by_one_on_random_worlds(
    tree: QueueTree, objects: list[Node | Pod], quirk: Quirk | None
) -> None:
    """Candidates, node and victims in their order, with every departure and with any one turned off."""
    moment = snapshot(tree, *objects)
    for ask in moment.asks:
        if ask.queue is not None and ask.required_node is None:
            assert differs(moment, tree, ask, without(quirk)) is None


@examples(300)
@given(queue_trees(), clusters(), st.sampled_from(Quirk))
def test_what_is_found_for_all_nodes_at_once_is_what_each_has_alone(
    tree: QueueTree, objects: list[Node | Pod], quirk: Quirk
) -> None:
    """With how many victims there is room on every node, whichever departure is turned off."""
    moment, quirks = snapshot(tree, *objects), without(quirk)
    for ask in moment.asks:
        if ask.queue is not None and ask.required_node is None:
            candidates = YuniKornCandidates(YuniKornAttempt(moment, tree, ask, quirks))
            alone = [plan_on(candidates, place) for place in range(len(moment.nodes))]
            assert victims_needed(candidates).tolist() == [NONE if plan is None else plan.index for plan in alone]


def test_at_once_and_one_by_one_on_recorded_cases() -> None:
    """With every departure, and with one of them turned off, another one for each case."""
    recorded = [case for path in sorted(FOLDER.glob("*.jsonl.gz")) for case in read(path) if case["asker"]]
    for case, quirk in zip(some(recorded), cycle(KNOWN), strict=False):
        at = situation(read_case(json.dumps(case).encode()))
        if at.ask.required_node is None:
            for quirks in (without(None), without(quirk)):
                assert differs(at.snapshot, at.tree, at.ask, quirks) is None, (case["name"], quirk)
