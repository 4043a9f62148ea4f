"""Conversion between a QueueTree and objects of one kind, each of which names its parent.

Fields without a counterpart here are kept. Objects of this form are kube-arbitrator's Consumers, Volcano's Queues and
KAI's Queues: see arbitrator.consumers, volcano.queues and kai.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from engine.formats.import_result import Imported, QueueSource
from engine.formats.tree_json.percentages import without_shares
from engine.formats.tree_json.queue_annotation import (
    annotate,
    check_path,
    queue_name,
    rename,
    unsupported_settings,
    with_annotation,
)
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of
from engine.formats.yaml.object_list import Object, ObjectList
from engine.model.message import Message, gettext_noop
from engine.model.notes import MOST_QUEUES, ImportFailure, Note, NoteCollector, Severity
from engine.model.queue_tree import ROOT, Queue, QueueTree

IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
_DEEPEST = 200


class FormatMessages(NamedTuple):
    """Message ids of the notes about documents of one system."""

    none: str
    """The text contains no queue."""
    orphan: str
    """The parent queue, ``parent``, does not exist."""
    unsaid: str
    """The ``settings`` of a queue that its object cannot express; an annotation keeps them."""
    unplaced: str
    """Placement rules are left out."""


@dataclass(frozen=True)
class System:
    """How the objects of one system describe queues."""

    form: str
    """Format name, a value of engine.formats.registry.Format."""
    parent: str
    """Name of the spec field that names the parent queue."""
    is_queue: Callable[[Object], bool]
    read_queue: Callable[[Object, str, bool, NoteCollector], Queue]
    """Convert an object to the queue at a path, given whether it has children; errors are added to the notebook."""
    write_queue: Callable[[Object, Queue], None]
    """Set an object's fields to a queue's amounts and weight; values that already agree keep their notation."""
    new: Callable[[str], Mapping[str, Any]]
    """Create an object with a name and an empty spec."""
    messages: FormatMessages
    called: Callable[[Object], str] = lambda obj: obj.name
    """Return the name by which other objects refer to an object."""
    above: str = ""
    """Default parent of an object that names none, if an object of that name exists; empty: such an object is at the
    top."""


class _Read(NamedTuple):
    objects: dict[str, Object]
    native: dict[str, Queue]
    """Path -> the queue as its object describes it, without our annotation."""
    queues: dict[str, Queue]


def read(system: System, text: str) -> Imported:
    """Return the tree of the objects in a text.

    Raise ImportFailure, with every error in it, for a text without queues or with errors.
    """
    book = NoteCollector()
    manifests = ObjectList(text)
    manifests.note_unnamed(book)
    current = _read(system, manifests, book)
    for obj in manifests.objects:
        if not system.is_queue(obj):
            message = gettext_noop("%(kind)s %(name)s has no counterpart here. It is kept and written back unchanged.")
            book.add(Severity.INFO, "", obj.line, message, kind=obj.kind, name=obj.name)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    root = {} if ROOT in current.queues else {ROOT: IMPLIED_ROOT}
    return Imported(
        form=system.form,
        tree=QueueTree([*root.values(), *current.queues.values()]),
        notes=tuple(book.notes),
        sources={path: QueueSource(obj.title, obj.line) for path, obj in current.objects.items()},
    )


def write(system: System, text: str, tree: QueueTree) -> Written:
    """Write the queues of ``tree`` into a text of objects; ``read`` returns the tree again.

    An empty text means a new document. Placement rules are left out, and every parent is declared as a parent.
    Raise ImportFailure for a text that ``read`` rejects.
    """
    tree = QueueTree(map(without_shares, tree.queues.values()), tree.placement)
    manifests = ObjectList(text, changing=True)
    current = _read(system, manifests, NoteCollector()) if text.strip() else _Read({}, {}, {})
    if current.objects and {ROOT: IMPLIED_ROOT, **current.queues} == tree.queues:
        return Written(text=text, notes=tuple(_annotate(system, current.native, current.objects, tree)))
    root = msgspec.structs.replace(tree[tree.root], parent_declared=True)
    implied = ROOT not in current.objects and root == IMPLIED_ROOT and not tree.is_leaf(tree.root)
    paths = [path for path in tree.walk() if path != tree.root or not implied]
    manifests.remove([current.objects[path] for path in set(current.objects) - set(paths)])
    objects = {path: current.objects[path] for path in paths if path in current.objects}
    used, numbers = {obj.called for obj in objects.values()}, dict[str, int]()
    for path in paths:
        if path not in objects:
            objects[path] = manifests.add(system.new(_free_name(tree[path], tree.is_leaf(path), used, numbers)))
            objects[path].called = system.called(objects[path])
    for path in paths:
        rename(objects[path], tree[path].name)
        _put_below(system, objects[path], objects.get(tree[path].parent or ""))
        system.write_queue(objects[path], tree[path])
    native = _read(system, manifests, NoteCollector()).native if objects else {}
    notes = tuple(_annotate(system, native, {path: objects[path] for path in paths}, tree))
    return Written(text=manifests.written(), notes=notes)


def _read(system: System, manifests: ObjectList, book: NoteCollector) -> _Read:
    """Return the queues that the objects describe.

    Raise ImportFailure if the objects form no tree; other errors are added to ``book``.
    """
    below = _below(system, _known(system, manifests, book), book)
    tops = below.get("", [])
    is_single_root = len(tops) == 1 and queue_name(tops[0]) == ROOT
    objects: dict[str, Object] = {}
    pending = [(ROOT if is_single_root else f"{ROOT}.{queue_name(top)}", top) for top in reversed(tops)]
    while pending:
        path, obj = pending.pop()
        check_path(path, obj.called, obj, obj.line, objects, book)
        objects[path] = obj
        if path.count(".") < _DEEPEST:
            pending += [(f"{path}.{queue_name(child)}", child) for child in reversed(below.get(obj.called, []))]
    placed = {id(obj) for obj in objects.values()}
    for obj in (obj for children in below.values() for obj in children if id(obj) not in placed):
        message = gettext_noop("%(name)s is its own ancestor. Remove the cycle.")
        book.add(Severity.ERROR, "", line_of(obj.spec, system.parent), message, name=obj.title)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    native = {path: system.read_queue(obj, path, bool(below.get(obj.called)), book) for path, obj in objects.items()}
    return _Read(objects, native, {path: with_annotation(objects[path], queue, book) for path, queue in native.items()})


def _known(system: System, manifests: ObjectList, book: NoteCollector) -> dict[str, Object]:
    """Return every queue object by the name that other objects use for it. Raise ImportFailure."""
    known: dict[str, Object] = {}
    for obj in filter(system.is_queue, manifests.objects):
        obj.called = system.called(obj)
        if obj.called in known:
            message = gettext_noop("%(kind)s %(name)s is defined twice.")
            book.add(Severity.ERROR, "", obj.line, message, kind=obj.kind, name=obj.called)
        known[obj.called] = obj
    if not known:
        book.add(Severity.ERROR, "", None, system.messages.none)
    if len(known) > MOST_QUEUES:
        book.add(Severity.ERROR, "", None, gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES))
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return known


def _below(system: System, known: Mapping[str, Object], book: NoteCollector) -> dict[str, list[Object]]:
    """Return the children of each queue that has any, by name; top-level queues are below the empty name.

    Raise ImportFailure if a parent does not exist.
    """
    below: dict[str, list[Object]] = {}
    for obj in known.values():
        above = _named_parent(system, obj) or (system.above if obj.called != system.above else "")
        if above not in known and above != ROOT and above:
            book.add(Severity.ERROR, "", line_of(obj.spec, system.parent), system.messages.orphan, parent=above)
        below.setdefault(above if above in known else "", []).append(obj)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return below


def _named_parent(system: System, obj: Object) -> str:
    return str(obj.spec.get(system.parent) or "")


# Writing


def _free_name(queue: Queue, leaf: bool, used: set[str], numbers: dict[str, int]) -> str:
    """Return an unused object name for a queue, and add it to ``used``.

    The name is that of the only namespace that a leaf claims, else that of the queue. ``numbers`` keeps the last number
    that each name was given: a large tree can have a thousand queues of one name.
    """
    claims = queue.namespaces if leaf else ()
    preferred = claims[0] if len(claims) == 1 else queue.name
    name = re.sub(r"[^a-z0-9]+", "-", preferred.lower()).strip("-") or "queue"
    unused, number = name, numbers.get(name, 1)
    while unused in used:
        number += 1
        unused = f"{name}-{number}"
    numbers[name] = number
    used.add(unused)
    return unused


def _put_below(system: System, obj: Object, above: Object | None) -> None:
    """Set the parent field of an object to the queue above it, unless it already names that queue."""
    named_parent = _named_parent(system, obj)
    if above is not None and above.called == (named_parent or system.above):
        return
    if above is not None and above.called != system.above:
        obj.own_spec()[system.parent] = above.called
    elif named_parent and (above is not None or named_parent != ROOT):
        del obj.spec[system.parent]


def _annotate(
    system: System, native: Mapping[str, Queue], objects: Mapping[str, Object], tree: QueueTree
) -> Iterator[Note]:
    """Write the settings that the objects cannot express into our annotation.

    ``native``: the queues as the objects themselves describe them. Yield a note for each queue with an annotated
    setting, and one for placement rules, which are left out.
    """
    for path, obj in objects.items():
        settings = unsupported_settings(native[path], tree[path])
        if tree.is_leaf(path) != (not native[path].parent_declared):
            settings["parent"] = not tree.is_leaf(path)
        annotate(obj, settings)
        if settings:
            params = {"settings": ", ".join(sorted(settings))}
            yield Note(severity=Severity.WARNING, path=path, line=None, message=Message(system.messages.unsaid, params))
    if tree.placement:
        yield Note(severity=Severity.WARNING, path="", line=None, message=Message(system.messages.unplaced))
