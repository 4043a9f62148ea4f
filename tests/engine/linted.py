"""What lint says of a tree, in lines."""

from collections.abc import Mapping
from typing import Any

import pytest

from engine.model.placement_rules import Rule
from engine.model.queue_tree import Queue, QueueTree
from engine.policies import known_dialects, lint_rules
from engine.tree.lint import LintRules, lint
from engine.tree.lint.room import ClusterRoom
from tests.builders import amounts, tree


def under(policy: str = "fence", dialect: str = "") -> LintRules:
    """What is checked under a policy, in its first dialect unless another one is named."""
    return lint_rules(policy, dialect or known_dialects()[policy][0]) or pytest.fail(f"Nothing decides by {policy}.")


def findings(
    queues: Mapping[str, Queue], capacity: Any = None, *rules: Rule, form: str = "", **terms: str
) -> list[str]:
    """Severity, queue, field and sentence of every finding; ``rules`` are the tree's placement rules."""
    shape = QueueTree(tree(queues).queues.values(), rules)
    room = ClusterRoom(amounts(capacity)) if capacity else None
    found = lint(shape, under(**terms), room, form=form)
    return [f"{one.severity} {one.path} {one.field}: {one.text}" for one in found]
