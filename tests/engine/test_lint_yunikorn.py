"""What YuniKorn refuses of a tree: an error where the tree is YuniKorn's, a warning where it is not."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.placement_rules import Rule, RuleName
from engine.model.quantities import Amounts, total
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint import errors
from tests.builders import queue
from tests.engine.linted import findings, under
from tests.properties import examples

IN_CONFLICT = {
    "children above the parent": {"a": queue(3), "a.x": queue(2), "a.y": queue(2)},
    "a max above the parent's": {"a": queue(1, max=4), "a.x": queue(1, max=5)},
    "guarantees below above the max": {"a": queue(max=3), "a.x": queue(2), "a.y": queue(2)},
}
AT_THE_ROOT = {"root": queue(4), "a": queue(1)}


def severities(found: list[str]) -> set[str]:
    """Of the findings that are no mere information."""
    return {one.partition(" ")[0] for one in found} - {"info"}


@pytest.mark.parametrize("how", [{"form": "yunikorn"}, {"dialect": "yunikorn"}], ids=str)
@pytest.mark.parametrize("queues", [*IN_CONFLICT.values(), AT_THE_ROOT], ids=[*IN_CONFLICT, "at the root"])
def test_where_the_document_or_the_decisions_are_yunikorns_it_is_an_error(
    queues: Mapping[str, Queue], how: Mapping[str, str]
) -> None:
    """YuniKorn would keep the configuration that it has; each fault is said once."""
    found = findings(queues, **how)
    assert [one for one in found if one.startswith("error")]
    named = [one.partition(":")[0].partition(" ")[2] for one in found if not one.startswith("info")]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("queues", [*IN_CONFLICT.values(), AT_THE_ROOT], ids=[*IN_CONFLICT, "at the root"])
def test_elsewhere_it_is_a_warning(queues: Mapping[str, Queue]) -> None:
    """Our own engine decides by such a tree too."""
    assert severities(findings(queues)) == {"warning"}


def test_what_is_written_for_the_tops_of_other_policies_is_nothing_to_warn_of() -> None:
    """Under fair sharing the root is given what the cluster has."""
    assert findings(AT_THE_ROOT, policy="fair-share") == []


FIXED = {
    "not there": (Rule(name=RuleName.FIXED, value="root.c"), "names root.c, which does not exist"),
    "below a leaf": (Rule(name=RuleName.FIXED, value="b.c", create=True), "root.b.c, which can’t be created"),
    "holds queues": (Rule(name=RuleName.FIXED, value="a"), "root.a, a parent queue"),
    "holds none": (
        Rule(name=RuleName.USER, create=True, parent=Rule(name=RuleName.FIXED, value="b")),
        "looks for queues below root.b",
    ),
}
LEADING = [
    Rule(name=RuleName.FIXED, value="root.B"),
    Rule(name=RuleName.FIXED, value="c", create=True),
    Rule(name=RuleName.FIXED, value="x", parent=Rule(name=RuleName.FIXED, value="a")),
    Rule(name=RuleName.USER, create=True, parent=Rule(name=RuleName.FIXED, value="a")),
    Rule(name=RuleName.FIXED, value="c", parent=Rule(name=RuleName.USER)),
    Rule(name=RuleName.PROVIDED),
]
PLACED = {"a": queue(parent_declared=True), "a.x": queue(1), "b": queue(1)}


@pytest.mark.parametrize("name", FIXED)
def test_a_rule_that_leads_nowhere_is_found(name: str) -> None:
    """With its number and the queue that it names."""
    rule, sentence = FIXED[name]
    for severity, how in (("warning", {}), ("error", {"form": "yunikorn"})):
        found = findings(PLACED, None, rule, Rule(name=RuleName.PROVIDED), **how)
        (said,) = [one for one in found if "rule 1" in one]
        assert said.startswith(severity)
        assert sentence in said


def test_a_rule_that_leads_somewhere_is_not() -> None:
    """Nor one that begins with what pods say."""
    assert [one for one in findings(PLACED, None, *LEADING, form="yunikorn") if "lacement rule" in one] == []


class RefusedError(Exception):
    """YuniKorn refuses the configuration."""


def fits(larger: Amounts, smaller: Amounts) -> bool:
    """FitInMaxUndef: what is not named has no limit."""
    return all(amount <= larger.get(name, amount) for name, amount in smaller.items())


def plain(tree: QueueTree, path: str, above: Amounts) -> Amounts:
    """YuniKorn's checkQueueResource, as it stands there. Raises RefusedError."""
    own, limit = tree[path].guaranteed, tree[path].max
    if not fits(limit, own) or not fits(above, limit):
        raise RefusedError
    limit = {name: min(one[name] for one in (limit, above) if name in one) for name in {*limit, *above}}
    below = total(plain(tree, child, limit) for child in tree.children[path])
    if not fits(own, below) or not fits(limit, below):
        raise RefusedError
    return own if any(own.values()) else below


def is_refused(tree: QueueTree) -> bool:
    """Whether YuniKorn refuses it."""
    try:
        plain(tree, tree.root, {})
    except RefusedError:
        return True
    return False


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(0, 4))


@st.composite
def trees(draw: st.DrawFn) -> QueueTree:
    """Trees of a few queues, three deep, with nothing on the root."""

    def below(path: str, deep: int) -> Iterator[Queue]:
        for number in range(draw(st.integers(0, 2)) if deep else 0):
            child = f"{path}.q{number}"
            yield Queue(path=child, guaranteed=draw(AMOUNTS), max=draw(AMOUNTS))
            yield from below(child, deep - 1)

    return QueueTree([Queue(path="root"), *below("root", 3)])


@examples(300)
@given(trees())
def test_exactly_what_yunikorn_refuses_is_an_error(shape: QueueTree) -> None:
    """Not more, as everybody's configuration has to be read; not less, as it would be written for nothing."""
    assert bool(errors(shape, under(), form="yunikorn")) == is_refused(shape)
