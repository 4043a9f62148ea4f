"""Objects of one kind, each of which names the one above <-> QueueTree. What has no field here is kept.

kube-arbitrator's Consumers are such, Volcano's Queues and KAI's: see arbitrator.consumers, volcano.queues and kai.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from engine.formats.import_result import Imported, QueueSource
from engine.formats.tree_json.percentages import without_shares
from engine.formats.tree_json.queue_annotation import annotate, check_path, differing, name_of, rename, with_ours
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of
from engine.formats.yaml.object_list import Object, ObjectList
from engine.model.notes import MOST_QUEUES, ImportFailure, Note, Notebook, Severity, gettext_noop
from engine.model.queue_tree import ROOT, Queue, QueueTree

IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
_DEEPEST = 200


class FormatMessages(NamedTuple):
    """What a system's documents are told of, as message ids."""

    none: str
    """There is no queue in a text."""
    orphan: str
    """The queue above, ``parent``, is not there."""
    unsaid: str
    """The ``settings`` of a queue that its object can't say: an annotation keeps them."""
    unplaced: str
    """Placement rules are left out."""


@dataclass(frozen=True)
class System:
    """How a system says its queues."""

    form: str
    """engine.formats.registry.Format."""
    parent: str
    """The field of a spec that names the queue above."""
    is_queue: Callable[[Object], bool]
    native: Callable[[Object, str, bool, Notebook], Queue]
    """What an object says, as the queue of a path, which holds queues or not; what is wrong with it is noted."""
    say: Callable[[Object, Queue], None]
    """Let an object say what a queue's amounts and weight are; what it says already stays as it was typed."""
    new: Callable[[str], Mapping[str, Any]]
    """An object of a name without anything in it."""
    words: FormatMessages
    called: Callable[[Object], str] = lambda one: one.name
    """What others name it."""
    above: str = ""
    """The name of the queue above where an object names none, and there is such an object; empty: it is at the top."""


class _Read(NamedTuple):
    objects: dict[str, Object]
    native: dict[str, Queue]
    """Path -> what its object says itself, without our annotation."""
    queues: dict[str, Queue]


def read(system: System, text: str) -> Imported:
    """The tree of the objects in a text. Raises ImportFailure, with every error in it, for a text without any."""
    book = Notebook()
    manifests = ObjectList(text)
    manifests.note_unnamed(book)
    found = _read(system, manifests, book)
    for one in manifests.objects:
        if not system.is_queue(one):
            message = gettext_noop("%(kind)s %(name)s has no counterpart here; it is kept and written back.")
            book.add(Severity.INFO, "", one.line, message, kind=one.kind, name=one.name)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    root = {} if ROOT in found.queues else {ROOT: IMPLIED_ROOT}
    return Imported(
        form=system.form,
        tree=QueueTree([*root.values(), *found.queues.values()]),
        notes=tuple(book.notes),
        sources={path: QueueSource(one.title, one.line) for path, one in found.objects.items()},
    )


def write(system: System, text: str, tree: QueueTree) -> Written:
    """A text of objects, empty for a new one, with its queues made those of ``tree``; ``read`` gives it back.

    Placement rules are left out, and all parents are declared as such. Raises ImportFailure for a text that ``read``
    refuses.
    """
    tree = QueueTree(map(without_shares, tree.queues.values()), tree.placement)
    manifests = ObjectList(text, changing=True)
    found = _read(system, manifests, Notebook()) if text.strip() else _Read({}, {}, {})
    root = msgspec.structs.replace(tree[tree.root], parent_declared=True)
    implied = ROOT not in found.objects and root == IMPLIED_ROOT and not tree.is_leaf(tree.root)
    paths = [path for path in tree.walk() if path != tree.root or not implied]
    for path in set(found.objects) - set(paths):
        manifests.remove(found.objects[path])
    objects = {path: found.objects[path] for path in paths if path in found.objects}
    taken = {one.called for one in objects.values()}
    for path in paths:
        if path not in objects:
            objects[path] = manifests.add(system.new(_free_name(tree[path], tree.is_leaf(path), taken)))
            objects[path].called = system.called(objects[path])
    for path in paths:
        rename(objects[path], tree[path].name)
        _put_below(system, objects[path], objects.get(tree[path].parent or ""))
        system.say(objects[path], tree[path])
    notes = tuple(_annotate(system, manifests, {path: objects[path] for path in paths}, tree))
    return Written(text=manifests.written(), notes=notes)


def _read(system: System, manifests: ObjectList, book: Notebook) -> _Read:
    """What they say. Raises ImportFailure where they form no tree; other errors are noted."""
    below = _below(system, _known(system, manifests, book), book)
    tops = below.get("", [])
    alone = len(tops) == 1 and name_of(tops[0]) == ROOT
    found: dict[str, Object] = {}
    pending = [(ROOT if alone else f"{ROOT}.{name_of(one)}", one) for one in reversed(tops)]
    while pending:
        path, one = pending.pop()
        check_path(path, one.called, one, one.line, found, book)
        found[path] = one
        if path.count(".") < _DEEPEST:
            pending += [(f"{path}.{name_of(child)}", child) for child in reversed(below.get(one.called, []))]
    placed = {id(one) for one in found.values()}
    for one in (one for children in below.values() for one in children if id(one) not in placed):
        message = gettext_noop("%(name)s lies below itself.")
        book.add(Severity.ERROR, "", line_of(one.spec, system.parent), message, name=one.title)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    native = {path: system.native(one, path, bool(below.get(one.called)), book) for path, one in found.items()}
    return _Read(found, native, {path: with_ours(found[path], queue, book) for path, queue in native.items()})


def _known(system: System, manifests: ObjectList, book: Notebook) -> dict[str, Object]:
    """Every queue by what others call it. Raises ImportFailure."""
    known: dict[str, Object] = {}
    for one in filter(system.is_queue, manifests.objects):
        one.called = system.called(one)
        if one.called in known:
            message = gettext_noop("%(kind)s %(name)s is given twice.")
            book.add(Severity.ERROR, "", one.line, message, kind=one.kind, name=one.called)
        known[one.called] = one
    if not known:
        book.add(Severity.ERROR, "", None, system.words.none)
    if len(known) > MOST_QUEUES:
        book.add(Severity.ERROR, "", None, gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES))
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return known


def _below(system: System, known: Mapping[str, Object], book: Notebook) -> dict[str, list[Object]]:
    """Name -> the queues below it, of all that have some; empty: at the top. Raises ImportFailure."""
    below: dict[str, list[Object]] = {}
    for one in known.values():
        above = _said_above(system, one) or (system.above if one.called != system.above else "")
        if above not in known and above != ROOT and above:
            book.add(Severity.ERROR, "", line_of(one.spec, system.parent), system.words.orphan, parent=above)
        below.setdefault(above if above in known else "", []).append(one)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return below


def _said_above(system: System, one: Object) -> str:
    return str(one.spec.get(system.parent) or "")


# Writing


def _free_name(queue: Queue, leaf: bool, taken: set[str]) -> str:
    """Of the namespace that a leaf claims, else as the queue is called; one that is not taken."""
    claims = queue.namespaces if leaf else ()
    wanted = claims[0] if len(claims) == 1 else queue.name
    name = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-") or "queue"
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}-{number}"
    taken.add(made)
    return made


def _put_below(system: System, one: Object, above: Object | None) -> None:
    """Let it name the queue above, unless it says so already."""
    said = _said_above(system, one)
    if above is not None and above.called == (said or system.above):
        return
    if above is not None and above.called != system.above:
        one.own_spec()[system.parent] = above.called
    elif said and (above is not None or said != ROOT):
        del one.spec[system.parent]


def _annotate(system: System, manifests: ObjectList, objects: Mapping[str, Object], tree: QueueTree) -> Iterator[Note]:
    """What the objects can't say goes into our annotation. Yields what that is, and what is left out altogether."""
    native = _read(system, manifests, Notebook()).native if objects else {}
    for path, one in objects.items():
        settings = differing(native[path], tree[path])
        if tree.is_leaf(path) != (not native[path].parent_declared):
            settings["parent"] = not tree.is_leaf(path)
        annotate(one, settings)
        if settings:
            params = {"settings": ", ".join(sorted(settings))}
            yield Note(severity=Severity.WARNING, path=path, line=None, message=system.words.unsaid, params=params)
    if tree.placement:
        yield Note(severity=Severity.WARNING, path="", line=None, message=system.words.unplaced)
