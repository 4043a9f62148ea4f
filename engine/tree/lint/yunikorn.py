"""Checks for what YuniKorn refuses in a tree that it reads: contradictory amounts, and rules that lead nowhere.

Source: checkQueuesStructure, checkQueueResource and checkPlacementRules of yunikorn-core,
pkg/common/configs/configvalidator.go.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Protocol

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.placement_rules import Rule, RuleName
from engine.model.quantities import Amounts, format_amount, total
from engine.model.queue_tree import ROOT, QueueTree
from engine.tree.lint.amounts import tightest
from engine.tree.lint.found import make_note


def refusals(tree: QueueTree) -> Iterator[Note]:
    """Yield an error for every reason for which YuniKorn keeps its old configuration, resource by resource."""
    yield from _on_root(tree, Severity.ERROR)
    yield from _amounts(tree)
    yield from _refused_rules(tree)


def doubts(tree: QueueTree) -> Iterator[Note]:
    """Yield warnings for a tree that YuniKorn does not read: what it alone refuses, and rules that lead nowhere."""
    yield from _on_root(tree, Severity.WARNING)
    yield from dead_ends(tree)


def _on_root(tree: QueueTree, severity: Severity) -> Iterator[Note]:
    root = tree[tree.root]
    for setting, amounts in (("guaranteed", root.guaranteed), ("max", root.max)):
        if amounts:
            message = gettext_noop(
                "YuniKorn does not allow %(setting)s on the root and rejects a queues.yaml that has it."
            )
            remedy = gettext_noop("Set it on the queues below, or on a queue that contains them all.")
            yield make_note(severity, tree.root, message, remedy, setting, setting=setting)


def _amounts(tree: QueueTree) -> Iterator[Note]:
    """Yield errors for a parent's guarantee and max that contradict what is below it.

    A queue that is guaranteed anything is promised that alone, without all that it does not name.
    """
    promised: dict[str, Amounts] = {}
    least = tightest(tree)
    for path in reversed(list(tree.walk())):
        queue, parent = tree[path], tree.parents[path]
        below = total(promised[child] for child in tree.children[path])
        promised[path] = queue.guaranteed if any(queue.guaranteed.values()) else below
        for resource, amount in below.items():
            if amount > queue.guaranteed.get(resource, amount):
                yield _of(tree, path, "guaranteed", resource, amount, queue.guaranteed[resource])
            elif amount > least[path].get(resource, amount):
                yield _of(tree, path, "max", resource, amount, least[path][resource])
        above = least[parent] if parent else {}
        for resource, limit in queue.max.items():
            if limit > above.get(resource, limit):
                message = gettext_noop(
                    "Its max %(resource)s is %(max)s, but the queues above it have %(limit)s. YuniKorn rejects that."
                )
                remedy = gettext_noop("Lower it to %(limit)s, or remove it.")
                params = {"max": format_amount(resource, limit), "limit": format_amount(resource, above[resource])}
                yield make_note(Severity.ERROR, path, message, remedy, "max", resource, resource=resource, **params)


def _of(tree: QueueTree, path: str, setting: str, resource: str, below: int, amount: int) -> Note:
    """Return an error that the queues below a queue are promised more than its setting."""
    message = gettext_noop(
        "The guarantees of the queues below it are %(below)s %(resource)s in total, above its %(setting)s "
        "of %(own)s. YuniKorn rejects that."
    )
    remedy = gettext_noop("Raise %(setting)s to %(below)s, or lower the guarantees below.")
    params = {"below": format_amount(resource, below), "own": format_amount(resource, amount)}
    location = (setting, resource) if resource in getattr(tree[path], setting) else ()
    return make_note(Severity.ERROR, path, message, remedy, *location, resource=resource, setting=setting, **params)


class _Missing(Enum):
    """Why the queue of a rule can't take pods."""

    NOT_THERE = auto()
    CAPITALS = auto()
    BELOW_A_LEAF = auto()
    HOLDS_QUEUES = auto()
    HOLDS_NONE = auto()
    NO_PARENT = auto()


_SENTENCES = {
    _Missing.NOT_THERE: (
        gettext_noop("Placement rule %(number)s names %(queue)s, which does not exist, and does not create it."),
        gettext_noop("Add the queue, name another one, or let the rule create it."),
    ),
    _Missing.CAPITALS: (
        gettext_noop("Placement rule %(number)s names %(queue)s, but YuniKorn looks it up in lowercase only."),
        gettext_noop("Use lowercase names for these queues."),
    ),
    _Missing.BELOW_A_LEAF: (
        gettext_noop("Placement rule %(number)s names %(queue)s, which can’t be created below a leaf queue."),
        gettext_noop("Make the queue above it a parent queue, or name another queue."),
    ),
    _Missing.HOLDS_QUEUES: (
        gettext_noop("Placement rule %(number)s names %(queue)s, a parent queue, so no pod can run in it."),
        gettext_noop("Name a leaf queue."),
    ),
    _Missing.HOLDS_NONE: (
        gettext_noop("Placement rule %(number)s looks for queues below %(queue)s, which is a leaf queue."),
        gettext_noop("Make %(queue)s a parent queue, or name another queue."),
    ),
    _Missing.NO_PARENT: (
        gettext_noop(
            "Placement rule %(number)s looks for queues below %(queue)s, which YuniKorn treats as a leaf queue."
        ),
        gettext_noop("Set %(queue)s to be a parent queue: YuniKorn does not infer it from the queues below."),
    ),
}


class _Look(Protocol):
    """A function that returns why the fixed part of a rule leads nowhere, or None if it leads somewhere.

    ``more``: whether other rules go on from there.
    """

    def __call__(self, tree: QueueTree, path: str, *, create: bool, more: bool) -> _Missing | None: ...


def _refused_rules(tree: QueueTree) -> Iterator[Note]:
    """Yield errors for the rules whose fixed part YuniKorn refuses."""
    yield from _rules(tree, Severity.ERROR, _missing_in_yunikorn)


def dead_ends(tree: QueueTree) -> Iterator[Note]:
    """Yield warnings for the rules whose fixed part leads nowhere; whatever decides by the tree ignores these rules."""
    yield from _rules(tree, Severity.WARNING, _missing)


def _rules(tree: QueueTree, severity: Severity, missing: _Look) -> Iterator[Note]:
    """Yield findings on rules; the outermost rule of a chain determines whether all of it is created."""
    for number, rule in enumerate(tree.placement, 1):
        path, more = _fixed(rule)
        if path and (why := missing(tree, path, create=rule.create, more=more)):
            message, remedy = _SENTENCES[why]
            yield make_note(severity, tree.root, message, remedy, number=str(number), queue=path)


def _fixed(rule: Rule) -> tuple[str, bool]:
    """Return the path that a chain of rules names from the root on, and whether other rules go on from there.

    The path is empty if the chain names none.
    """
    chain = [rule]
    while chain[0].parent is not None:
        chain.insert(0, chain[0].parent)
    path = ""
    for chained in chain:
        if chained.name is not RuleName.FIXED:
            return path, True
        whole = chained.value.lower().partition(".")[0] == ROOT
        path = chained.value if whole else f"{path or ROOT}.{chained.value}"
    return path, False


def _missing(tree: QueueTree, path: str, *, create: bool, more: bool) -> _Missing | None:
    names, paths = path.lower().split("."), {queue_path.lower(): queue_path for queue_path in tree.queues}
    for depth in range(1, len(names)):
        above = paths.get(".".join(names[:depth]))
        if above is None:
            break
        if tree.is_leaf(above):
            return _Missing.BELOW_A_LEAF
    queue = paths.get(path.lower())
    if queue is None:
        return None if create else _Missing.NOT_THERE
    if more == tree.is_leaf(queue):
        return _Missing.HOLDS_NONE if more else _Missing.HOLDS_QUEUES
    return None


def _missing_in_yunikorn(tree: QueueTree, path: str, *, create: bool, more: bool) -> _Missing | None:
    """Return why YuniKorn's checkQueueHierarchyForPlacement refuses a path, or None if it does not.

    It looks for the rule's names in small letters among those of the queues as they are written, and takes for a parent
    only a queue that is declared to be one.
    """
    at = tree.root
    for name in path.lower().split(".")[1:]:
        if not tree.children[at] and not _is_parent(tree, at):
            return _Missing.BELOW_A_LEAF
        below = f"{at}.{name}"
        if below not in tree.queues:
            capitals = any(child.lower() == below.lower() for child in tree.children[at])
            return None if create else _Missing.CAPITALS if capitals else _Missing.NOT_THERE
        at = below
    if not more:
        return _Missing.HOLDS_QUEUES if _is_parent(tree, at) else None
    if _is_parent(tree, at):
        return None
    return _Missing.NO_PARENT if tree.children[at] else _Missing.HOLDS_NONE


def _is_parent(tree: QueueTree, path: str) -> bool:
    return path == tree.root or tree[path].parent_declared
