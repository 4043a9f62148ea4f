"""Every departure of YuniKorn from its design has a name: with all of them turned off, the design's laws hold."""

from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.audit import Invariant, audit, failed_checks
from engine.model.decision import Decision, encode
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn import ALL, Parameters, Quirk, Quirks, decide
from tests.builders import OPTED_OUT, snapshot
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

NONE = Quirks(**{str(quirk): False for quirk in Quirk})
AT_ONCE = Parameters(check_delay=False)


def found(at: Snapshot, tree: QueueTree, quirks: Quirks) -> list[Decision]:
    """What is decided for every ask, whatever the delay."""
    return [decide(at, tree, asker, AT_ONCE, quirks) for asker in at.asks]


def laws_broken(at: Snapshot, tree: QueueTree, quirks: Quirks) -> set[Invariant]:
    """The design's laws that any of the decisions breaks."""
    ours = (msgspec.structs.replace(decision, dialect="design") for decision in found(at, tree, quirks))
    return {one.law for decision in ours for one in failed_checks(audit(at, tree, decision))}


@given(tree=queue_trees(), objects=clusters())
@examples(250)
def test_without_its_quirks_it_breaks_no_law(tree: QueueTree, objects: list[Node | Pod]) -> None:
    """What a law still refused would be a departure without a name."""
    assert laws_broken(snapshot(tree, objects, OPTED_OUT), tree, NONE) == set()


@given(tree=queue_trees(), objects=clusters(), random=st.randoms(use_true_random=False))
@examples(60)
def test_the_order_of_what_it_is_told_does_not_matter(
    tree: QueueTree, objects: list[Node | Pod], random: Random
) -> None:
    """The same objects and queues in another order give the same decision to the byte, quirks and all."""
    shuffled, queues = list(objects), list(tree.queues.values())
    random.shuffle(shuffled)
    random.shuffle(queues)
    at, again = snapshot(tree, objects, OPTED_OUT), snapshot(QueueTree(queues), shuffled, OPTED_OUT)
    assert list(map(encode, found(at, tree, ALL))) == list(map(encode, found(again, QueueTree(queues), ALL)))


def test_every_quirk_is_a_field_and_every_field_a_quirk() -> None:
    """So that a page can name each."""
    assert set(Quirks.__struct_fields__) == {str(quirk) for quirk in Quirk}
