"""Checks a tree for errors, settings that do not do what they seem to, and useful facts, each with a remedy.

Errors are contradictions: a tree that has any is never published. A tree with warnings is published once they were
read. Facts that are good to know are reported too.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from engine.model.notes import Note, Severity
from engine.model.queue_tree import QueueTree
from engine.tree.lint import kueue, yunikorn
from engine.tree.lint.amounts import above_max, against_capacity, amounts
from engine.tree.lint.claims import claims
from engine.tree.lint.deserving import deserving
from engine.tree.lint.effects import effects
from engine.tree.lint.flavors import flavors
from engine.tree.lint.lending import lending
from engine.tree.lint.pods import pods
from engine.tree.lint.room import ClusterRoom, above_quotas
from engine.tree.lint.templates import templates

GUARANTEES = "fence"
"""The policy that decides by guarantees; they are checked only under this policy and BY_SHARES."""
BY_PRIORITY = "priority"
"""The policy under which nothing is lent."""
BY_SHARES = "deserved"
"""The policy under which guarantees are reserved, and all the rest is divided."""
DESIGN = "design"
"""A dialect of ``fence``: the tree alone determines what queues may take from each other (engine.tree.reach)."""


YUNIKORN = "yunikorn"
"""YuniKorn's dialect of ``fence``, and the format of its documents."""
KUEUE = "kueue"
"""The format of Kueue's documents."""


def lint(
    tree: QueueTree,
    room: ClusterRoom | None = None,
    *,
    policy: str = GUARANTEES,
    dialect: str = DESIGN,
    form: str = "",
) -> tuple[Note, ...]:
    """Return all findings: errors first, then warnings, then useful facts; each kind in the order of the tree.

    ``room``: what a cluster has; None if no cluster is known. ``policy`` and ``dialect``: those that the tree is for.
    ``form``: the format of the document that the tree is kept in (engine.formats.registry.Format). What YuniKorn or
    Kueue refuses is an error if that scheduler reads the document, or decides.
    """
    notes = errors(tree, policy=policy, dialect=dialect, form=form)
    return (*notes, *remarks(tree, room, policy=policy, dialect=dialect, form=form))


def errors(tree: QueueTree, *, policy: str = GUARANTEES, dialect: str = DESIGN, form: str = "") -> tuple[Note, ...]:
    """Return only what keeps the tree from being published, which is found much sooner than all findings."""
    notes = chain(flavors(tree, policy), _refused(tree, policy, dialect, form))
    return _ordered(tree, chain(notes, above_max(tree)) if policy in (GUARANTEES, BY_SHARES) else notes)


def remarks(
    tree: QueueTree,
    room: ClusterRoom | None = None,
    *,
    policy: str = GUARANTEES,
    dialect: str = DESIGN,
    form: str = "",
) -> tuple[Note, ...]:
    """Return all findings except the errors."""
    notes: Iterable[Note] = _remarks(tree, room, policy, dialect)
    if is_yunikorns(policy, dialect, form):
        notes = chain(notes, yunikorn.dead_ends(tree))
    elif policy == GUARANTEES:
        notes = chain(notes, yunikorn.doubts(tree))
    refused = {_about(note) for note in _refused(tree, policy, dialect, form)}
    return _ordered(tree, (note for note in notes if _about(note) not in refused))


def is_yunikorns(policy: str, dialect: str, form: str) -> bool:
    """Return whether YuniKorn itself reads the tree or decides by it.

    If so, a tree that YuniKorn refuses is never published.
    """
    return form == YUNIKORN or (policy, dialect) == (GUARANTEES, YUNIKORN)


def _about(note: Note) -> tuple[str, ...]:
    """Return what a note is about, so that it is reported only once, as an error or as a remark."""
    return (note.path, note.field or str(note.message.params.get("number", "")) or note.message.id)


def _ordered(tree: QueueTree, notes: Iterable[Note]) -> tuple[Note, ...]:
    order = list(Severity)
    return tuple(sorted(notes, key=lambda note: (order.index(note.severity), tree.turn[note.path])))


def _refused(tree: QueueTree, policy: str, dialect: str, form: str) -> Iterable[Note]:
    """Return what the scheduler that reads the tree itself would refuse."""
    if is_yunikorns(policy, dialect, form):
        return yunikorn.refusals(tree)
    return kueue.refusals(tree) if form == KUEUE else ()


def _remarks(tree: QueueTree, room: ClusterRoom | None, policy: str, dialect: str) -> Iterator[Note]:
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
    if room is not None:
        yield from against_capacity(tree, room.capacity)
    if room is not None and policy == BY_SHARES:
        yield from above_quotas(tree, room)
