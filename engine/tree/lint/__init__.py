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
from engine.tree.lint.effects import effects
from engine.tree.lint.flavors import flavors
from engine.tree.lint.pods import pods
from engine.tree.lint.room import ClusterRoom, above_quotas
from engine.tree.lint.rules import LintRules
from engine.tree.lint.templates import templates

__all__ = ["KUEUE", "YUNIKORN", "LintRules", "errors", "lint", "remarks"]

YUNIKORN = "yunikorn"
"""The format of YuniKorn's documents."""
KUEUE = "kueue"
"""The format of Kueue's documents."""


def lint(
    tree: QueueTree, rules: LintRules | None, room: ClusterRoom | None = None, *, form: str = ""
) -> tuple[Note, ...]:
    """Return all findings: errors first, then warnings, then useful facts; each kind in the order of the tree.

    ``rules``: those of the policy that the tree is for; None if that is not known. ``room``: what a cluster has; None
    if no cluster is known. ``form``: the format of the document that the tree is kept in
    (engine.formats.registry.Format). What YuniKorn or Kueue refuses is an error if that scheduler reads the document,
    or decides.
    """
    return (*errors(tree, rules, form=form), *remarks(tree, rules, room, form=form))


def errors(tree: QueueTree, rules: LintRules | None, *, form: str = "") -> tuple[Note, ...]:
    """Return only what keeps the tree from being published, which is found much sooner than all findings."""
    notes = _refused(tree, rules, form)
    if rules is not None and not rules.flavors:
        notes = chain(flavors(tree, rules.policy), notes)
    if rules is not None and rules.amounts:
        notes = chain(notes, above_max(tree))
    return _ordered(tree, notes)


def remarks(
    tree: QueueTree, rules: LintRules | None, room: ClusterRoom | None = None, *, form: str = ""
) -> tuple[Note, ...]:
    """Return all findings except the errors."""
    notes: Iterable[Note] = pods(tree)
    if rules is not None:
        notes = chain(notes, _remarks_by_policy(tree, rules, room))
    if _yunikorn_reads(rules, form):
        notes = chain(notes, yunikorn.dead_ends(tree))
    elif rules is not None and rules.yunikorn_alike:
        notes = chain(notes, yunikorn.doubts(tree))
    refused = {_about(note) for note in _refused(tree, rules, form)}
    return _ordered(tree, (note for note in notes if _about(note) not in refused))


def _yunikorn_reads(rules: LintRules | None, form: str) -> bool:
    """Return whether YuniKorn itself reads the tree or decides by it.

    If so, a tree that YuniKorn refuses is never published.
    """
    return form == YUNIKORN or (rules is not None and rules.yunikorn_decides)


def _about(note: Note) -> tuple[str, ...]:
    """Return what a note is about, so that it is reported only once, as an error or as a remark."""
    return (note.path, note.field or str(note.message.params.get("number", "")) or note.message.id)


def _ordered(tree: QueueTree, notes: Iterable[Note]) -> tuple[Note, ...]:
    order = list(Severity)
    return tuple(sorted(notes, key=lambda note: (order.index(note.severity), tree.turn[note.path])))


def _refused(tree: QueueTree, rules: LintRules | None, form: str) -> Iterable[Note]:
    """Return what the scheduler that reads the tree itself would refuse."""
    if _yunikorn_reads(rules, form):
        return yunikorn.refusals(tree)
    return kueue.refusals(tree) if form == KUEUE else ()


def _remarks_by_policy(tree: QueueTree, rules: LintRules, room: ClusterRoom | None) -> Iterator[Note]:
    if rules.lending is not None:
        yield from rules.lending(tree)
    if not rules.amounts:
        return
    yield from amounts(tree)
    yield from effects(tree, design=rules.claims)
    yield from templates(tree)
    if rules.claims:
        yield from claims(tree)
    if room is not None:
        yield from against_capacity(tree, room.capacity)
    if room is not None and rules.quotas:
        yield from above_quotas(tree, room)
