"""A guarantee that is not given is one of zero, wherever the rules say so."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import registry
from engine.formats.registry import Format
from engine.model.decision import Decision
from engine.model.quantities import Amounts
from engine.model.queue_tree import GuaranteeStatus, Queue, QueueTree
from engine.policies import known_dialects, policy
from tests.builders import snapshot
from tests.engine.strategies import clusters, queue_trees

ZERO_IS_ABSENT = ("priority", "cohort", "fair-share", "deserved")
"""Policies by which it decides alike. Under ``fence`` the nearest queue above that is guaranteed a resource counts, so
that a zero of its own is another promise than none (docs/policies/fence.md)."""


def named(tree: QueueTree) -> set[str]:
    """The resources that some queue says something of; of others nobody counts anything."""
    return {name for queue in tree.queues.values() for name in (*queue.guaranteed, *queue.max, *queue.lendable)}


def zeros_for_nothing(tree: QueueTree) -> QueueTree:
    """The same with a zero wherever no guarantee is given."""
    zeros = dict.fromkeys(named(tree), 0)
    queues = (msgspec.structs.replace(one, guaranteed=zeros | one.guaranteed) for one in tree.queues.values())
    return QueueTree(queues, tree.placement, tree.capacity)


def outcome(decision: Decision) -> object:
    """What it comes to."""
    return decision.outcome, decision.node, {verdict.pod.uid for verdict in decision.victims}


@pytest.mark.parametrize("name", ZERO_IS_ABSENT)
@given(tree=queue_trees(), objects=clusters())
def test_no_policy_tells_nothing_from_zero(name: str, tree: QueueTree, objects: list[object]) -> None:
    decide, zeros = policy(name, known_dialects()[name][0], {}), zeros_for_nothing(tree)
    before, after = snapshot(tree, *objects), snapshot(zeros, *objects)
    for ask, same in zip(before.asks, after.asks, strict=True):
        assert outcome(decide(before, tree, ask)) == outcome(decide(after, zeros, same))


@pytest.mark.parametrize("form", list(Format))
@given(
    guaranteed=st.dictionaries(st.sampled_from(["cpu", "memory", "pods"]), st.sampled_from([0, 1000])),
    most=st.dictionaries(st.sampled_from(["cpu", "memory", "pods"]), st.sampled_from([0, 1000])),
)
def test_every_format_keeps_a_zero_and_keeps_nothing(form: Format, guaranteed: Amounts, most: Amounts) -> None:
    """A max of zero is a limit, none is none; a guarantee of zero is said where it was said."""
    said = Queue(path="root.a", guaranteed=guaranteed, max=most)
    tree = QueueTree([Queue(path="root"), said, Queue(path="root.b", guaranteed={"cpu": 1000})])
    read = registry.read(registry.write(form, "", tree).text, form).tree
    assert (read["root.a"].guaranteed, read["root.a"].max) == (guaranteed, most)


def test_use_without_a_guarantee_is_above_it_as_use_of_a_zero_is() -> None:
    """What pages show: only that nothing is promised and nothing used is a standing of its own."""
    assert GuaranteeStatus.of(1, None) == GuaranteeStatus.of(1, 0) == GuaranteeStatus.ABOVE
    assert (GuaranteeStatus.of(0, None), GuaranteeStatus.of(0, 0)) == (GuaranteeStatus.NONE, GuaranteeStatus.AT)
