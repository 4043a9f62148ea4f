"""Determines where placement rules may create queues, and which queues they may give."""

from collections.abc import Iterator

from engine.model.placement import add_dynamic_queues
from engine.model.placement_rules import PARENT_QUEUE_TAG, TAGS, Rule, RuleName
from engine.model.queue_tree import ROOT, QueueTree

_SAMPLE = "dynamic"
"""The name of a queue that represents all queues that rules may create at its place."""


def may_give(rule: Rule, path: str) -> bool:
    """Return whether the rule gives this path for some pod, filters aside; the tree need not have the path."""
    above = path.rpartition(".")[0]
    match rule.name:
        case RuleName.PROVIDED:
            return True
        case RuleName.TAG if rule.value.lower() not in TAGS:
            return False
        case RuleName.TAG if rule.value.lower() == PARENT_QUEUE_TAG:
            return True
        case RuleName.FIXED:
            value = rule.value.lower()
            if value.startswith(f"{ROOT}."):
                return path.lower() == value
            above, fits = path[: -len(value) - 1], path.lower().endswith(f".{value}")
            return fits and _gives_above(rule, above)
        case _:
            return _gives_above(rule, above)


def may_grow(tree: QueueTree, path: str) -> bool:
    """Return whether rules may create a queue directly below this queue, which holds queues."""
    return any(_makes_below(rule, path) for top in tree.placement for rule in _chain(top) if rule.create)


def with_samples(tree: QueueTree) -> QueueTree:
    """Return the tree with a dynamic leaf wherever rules may create leaves."""
    return add_dynamic_queues(
        tree, [f"{path}.{_SAMPLE}" for path in tree.walk() if not tree.is_leaf(path) and may_grow(tree, path)]
    )


def _gives_above(rule: Rule, above: str) -> bool:
    return may_give(rule.parent, above) if rule.parent else above == ROOT


def _makes_below(rule: Rule, path: str) -> bool:
    name = rule.value.lower().rpartition(".")[2] if rule.name is RuleName.FIXED else _SAMPLE
    return may_give(rule, f"{path}.{name}")


def _chain(rule: Rule | None) -> Iterator[Rule]:
    while rule is not None:
        yield rule
        rule = rule.parent
