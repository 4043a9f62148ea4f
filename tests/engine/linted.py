"""What lint says of a tree, in lines."""

from collections.abc import Mapping
from typing import Any

from engine.model.placement_rules import Rule
from engine.model.queue_tree import Queue, QueueTree
from engine.tree.lint import lint
from engine.tree.lint.room import ClusterRoom
from tests.builders import amounts, tree


def findings(queues: Mapping[str, Queue], capacity: Any = None, *rules: Rule, **terms: str) -> list[str]:
    """Severity, queue, field and sentence of every finding; ``rules`` are the tree's placement rules."""
    shape = QueueTree(tree(queues).queues.values(), rules)
    found = lint(shape, ClusterRoom(amounts(capacity)) if capacity else None, **terms)
    return [f"{one.severity} {one.path} {one.field}: {one.text}" for one in found]
