"""What is wrong with a tree, what in it does not do what it seems to, and what holds; with what to do about it.

Errors contradict themselves: such a tree is never published. Warnings are published, once read. What is good to know,
or holds, is said too.
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
"""The policy that decides by guarantees; under another one nothing is said of them."""
BY_PRIORITY = "priority"
"""The policy by which nothing is lent."""
BY_SHARES = "deserved"
"""The policy by which what is guaranteed is reserved, and all the rest divided."""
DESIGN = "design"
"""Its dialect in which what a queue may take from another follows from the tree alone (engine.tree.reach)."""


YUNIKORN = "yunikorn"
"""YuniKorn's dialect of it, and the format of its documents."""
KUEUE = "kueue"
"""The format of Kueue's."""


def lint(
    tree: QueueTree,
    room: ClusterRoom | None = None,
    *,
    policy: str = GUARANTEES,
    dialect: str = DESIGN,
    form: str = "",
) -> tuple[Note, ...]:
    """Errors first, then warnings, then what is good to know; within each the order of the tree.

    ``room`` is what a cluster has; None where no cluster is known. ``policy`` and ``dialect`` are those
    that the tree is for, ``form`` the format of the document that it is kept in (engine.formats.registry.Format): what
    YuniKorn or Kueue refuses is an error where it is the one that reads the document, or decides.
    """
    found = errors(tree, policy=policy, dialect=dialect, form=form)
    return (*found, *remarks(tree, room, policy=policy, dialect=dialect, form=form))


def errors(tree: QueueTree, *, policy: str = GUARANTEES, dialect: str = DESIGN, form: str = "") -> tuple[Note, ...]:
    """Only what keeps the tree from being published, which is found much sooner than all the rest."""
    found = chain(flavors(tree, policy), _refused(tree, policy, dialect, form))
    return _ordered(tree, chain(found, above_max(tree)) if policy in (GUARANTEES, BY_SHARES) else found)


def remarks(
    tree: QueueTree,
    room: ClusterRoom | None = None,
    *,
    policy: str = GUARANTEES,
    dialect: str = DESIGN,
    form: str = "",
) -> tuple[Note, ...]:
    """All but the errors."""
    found: Iterable[Note] = _remarks(tree, room, policy, dialect)
    if is_yunikorns(policy, dialect, form):
        found = chain(found, yunikorn.dead_ends(tree))
    elif policy == GUARANTEES:
        found = chain(found, yunikorn.doubtful(tree))
    refused = {_about(note) for note in _refused(tree, policy, dialect, form)}
    return _ordered(tree, (note for note in found if _about(note) not in refused))


def is_yunikorns(policy: str, dialect: str, form: str) -> bool:
    """Tell whether YuniKorn itself reads the tree or decides by it: then what it refuses is never published."""
    return form == YUNIKORN or (policy, dialect) == (GUARANTEES, YUNIKORN)


def _about(note: Note) -> tuple[str, ...]:
    """What a note is about: each is said once, as an error or as a remark."""
    return (note.path, note.field or note.params.get("number", "") or note.message)


def _ordered(tree: QueueTree, found: Iterable[Note]) -> tuple[Note, ...]:
    order = list(Severity)
    return tuple(sorted(found, key=lambda note: (order.index(note.severity), tree.turn[note.path])))


def _refused(tree: QueueTree, policy: str, dialect: str, form: str) -> Iterable[Note]:
    """What the scheduler that reads the tree itself would refuse."""
    if is_yunikorns(policy, dialect, form):
        return yunikorn.refused(tree)
    return kueue.refused(tree) if form == KUEUE else ()


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
