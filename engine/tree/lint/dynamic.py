"""Where placement rules may make queues, and which queues they may give."""

from collections.abc import Iterator

from engine.model.placement import grown
from engine.model.placement_rules import PARENT_QUEUE_TAG, TAGS, Rule, RuleName
from engine.model.queue_tree import ROOT, QueueTree

_SAMPLE = "dynamic"
"""What a queue is called that stands for all that rules may make at its place."""


def may_give(rule: Rule, path: str) -> bool:
    """Whether for some pod the rule gives this path, whether or not the tree has it; filters aside."""
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
    """Whether rules may make a queue right below this one, which holds queues."""
    return any(_makes_below(rule, path) for top in tree.placement for rule in _chain(top) if rule.create)


def with_samples(tree: QueueTree) -> QueueTree:
    """The tree with a dynamic leaf wherever rules may make some."""
    return grown(tree, [f"{path}.{_SAMPLE}" for path in tree.walk() if not tree.is_leaf(path) and may_grow(tree, path)])


def _gives_above(rule: Rule, above: str) -> bool:
    return may_give(rule.parent, above) if rule.parent else above == ROOT


def _makes_below(rule: Rule, path: str) -> bool:
    name = rule.value.lower().rpartition(".")[2] if rule.name is RuleName.FIXED else _SAMPLE
    return may_give(rule, f"{path}.{name}")


def _chain(rule: Rule | None) -> Iterator[Rule]:
    while rule is not None:
        yield rule
        rule = rule.parent
