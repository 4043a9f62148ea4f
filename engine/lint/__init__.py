"""What is wrong with a tree, what in it does not do what it seems to, and what holds; with what to do about it.

Errors contradict themselves: such a tree is never published. Warnings are published, once read. What is good to know,
or holds, is said too.
"""

from collections.abc import Iterator, Mapping

from engine.formats.notes import Note, Severity
from engine.lint.amounts import above_max, against_capacity, amounts
from engine.lint.claims import claims
from engine.lint.deserving import deserving
from engine.lint.effects import effects
from engine.lint.flavors import flavors
from engine.lint.lending import lending
from engine.lint.pods import pods
from engine.lint.templates import templates
from engine.queues import QueueTree

GUARANTEES = "fence"
"""The policy that decides by guarantees; under another one nothing is said of them."""
BY_PRIORITY = "priority"
"""The policy by which nothing is lent."""
BY_SHARES = "deserved"
"""The policy by which what is guaranteed is reserved, and all the rest divided."""
DESIGN = "design"
"""Its dialect in which what a queue may take from another follows from the tree alone (engine.reach)."""


def lint(
    tree: QueueTree, capacity: Mapping[str, int] | None = None, *, policy: str = GUARANTEES, dialect: str = DESIGN
) -> tuple[Note, ...]:
    """Errors first, then warnings, then what is good to know; within each the order of the tree.

    ``capacity`` is what the cluster's nodes hold; None where no cluster is known. ``policy`` and ``dialect`` are those
    that the tree is for.
    """
    return (*errors(tree, policy=policy), *remarks(tree, capacity, policy=policy, dialect=dialect))


def errors(tree: QueueTree, *, policy: str = GUARANTEES) -> tuple[Note, ...]:
    """Only what keeps the tree from being published, which is found much sooner than all the rest."""
    return _ordered(tree, _errors(tree, policy))


def remarks(
    tree: QueueTree, capacity: Mapping[str, int] | None = None, *, policy: str = GUARANTEES, dialect: str = DESIGN
) -> tuple[Note, ...]:
    """All but the errors."""
    return _ordered(tree, _remarks(tree, capacity, policy, dialect))


def _ordered(tree: QueueTree, found: Iterator[Note]) -> tuple[Note, ...]:
    order = list(Severity)
    return tuple(sorted(found, key=lambda note: (order.index(note.severity), tree.turn[note.path])))


def _errors(tree: QueueTree, policy: str) -> Iterator[Note]:
    yield from flavors(tree, policy)
    if policy in (GUARANTEES, BY_SHARES):
        yield from above_max(tree)


def _remarks(tree: QueueTree, capacity: Mapping[str, int] | None, policy: str, dialect: str) -> Iterator[Note]:
    yield from pods(tree)
    if policy == BY_SHARES:
        yield from deserving(tree)
    elif policy != BY_PRIORITY:
        yield from lending(tree)
    if policy not in (GUARANTEES, BY_SHARES):
        return
    design = policy == GUARANTEES and dialect == DESIGN
    yield from amounts(tree)
    yield from effects(tree, design=design)
    yield from templates(tree)
    if design:
        yield from claims(tree)
    if capacity is not None:
        yield from against_capacity(tree, capacity)
