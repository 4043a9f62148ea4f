"""Trees as documents: what was sent, read with everything that is wrong at its place, and what is sent back."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from engine.formats import registry
from engine.formats.import_result import Imported, QueueSource
from engine.formats.registry import Format
from engine.formats.tree_json.document import TreeDocument, read_form, write_other_members, write_queue
from engine.formats.tree_json.percentages import PercentageBase
from engine.formats.yaml import documents
from engine.formats.yunikorn.document import load
from engine.formats.yunikorn.document_lines import DocumentLines
from engine.model.message import Message
from engine.model.notes import ImportFailure, Note, Severity
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.notes import remedy, said
from scheduler_admin.queues.services.consumers import (
    FORMAT_CHANGES,
    consumers_of,
    format_changes,
    not_written,
    tree_errors,
)
from scheduler_admin.queues.services.hierarchies import (
    Native,
    Terms,
    check_terms,
    default_terms,
    native_of,
    terms_of,
    tree_of,
)
from scheduler_admin.queues.subtrees import FOREIGN, error
from scheduler_admin.rest import problems
from scheduler_admin.rest.media import YUNIKORN, Body

MOST_ERRORS = 1_000
"""Errors of a document that are listed."""
Place = Callable[[Note], dict[str, Any]]
"""Where in a document a note is about, as members of an error: a pointer, or a line."""


@dataclass(frozen=True)
class Sent:
    """A tree that could be published, with all that there is to say about the document it came in."""

    tree: QueueTree
    terms: Terms
    native: Native | None
    """The document itself where it is not of our own form."""
    notes: tuple[Note, ...]
    """What reading it has to say; no errors."""
    place: Place
    sources: Mapping[str, QueueSource] = field(default_factory=dict)
    """Path -> what it is in a document that is not of our own form in JSON."""
    form: str = ""
    """By whose rules lint judges it: those of the scheduler that reads it, or of its document's format."""

    def error(self, note: Note) -> dict[str, Any]:
        """The note as a member of a problem's errors."""
        return _error(note, self.place)


@dataclass(frozen=True)
class Part:
    """A document that holds one subtree: all else is as in the tree in force."""

    subtree: str
    tree: QueueTree
    scope: Scope
    """What the sender sees: namespaces that they do not are kept."""

    def completed(self, document: Any) -> Any:
        """The whole tree's document: the queues that were sent, then the others. Raises InvalidTree."""
        sent = document.get("queues") if isinstance(document, dict) else None
        if not isinstance(sent, list):
            return document  # which reading it says
        wrong = [error("", FOREIGN, member) for member in ("placement", "capacity") if member in document]
        paths = [queue.get("path") if isinstance(queue, dict) else None for queue in sent]
        wrong += [
            msgspec.structs.replace(error(path, FOREIGN), index=index)
            for index, path in enumerate(paths)
            if isinstance(path, str) and not is_inside(path, self.subtree)
        ]
        if wrong:
            raise problems.InvalidTree(_errors(wrong, lambda note: {"pointer": note.pointer}))
        others = [write_queue(self.tree[path]) for path in self.tree.walk() if not is_inside(path, self.subtree)]
        queues = [*(self._with_unseen(queue) for queue in sent), *others]
        return {**document, **write_other_members(self.tree), "queues": queues}

    def _with_unseen(self, queue: Any) -> Any:
        path = queue.get("path") if isinstance(queue, dict) else None
        if not isinstance(path, str) or path not in self.tree or not isinstance(queue.get("namespaces", []), list):
            return queue
        unseen = [name for name in self.tree[path].namespaces if not self.scope.has_pod(name, path)]
        return {**queue, "namespaces": [*queue.get("namespaces", []), *unseen]} if unseen else queue


def read(body: Body, hierarchy: Hierarchy | None, part: Part | None = None, form: Format | None = None) -> Sent:
    """The tree in a body. What it says nothing of is as in the revision in force, all outside of a ``part`` too.

    ``hierarchy``: where it is to be put in force; None: in a new one. ``form``: the format of YAML, None: the one that
    its words tell.

    Raises Unreadable for what is not of its format, InvalidTree with every error in it.
    """
    text = _text_of(body)
    if body.media_type != YUNIKORN:
        return _read_own_form(text, hierarchy, part)
    if part is not None:
        raise problems.Unreadable(
            [{"detail": _("A YAML document must contain the whole tree. Send a subtree as JSON.")}]
        )
    return _read_document(text, hierarchy, form)


def with_format_checked(sent: Sent, hierarchy: Hierarchy | None, *, writes: bool) -> Sent:
    """The same, warned of where its document is of another system than the one that the tree in force came from.

    Raises InvalidTree instead where it ``writes``.
    """
    current = hierarchy.current if hierarchy else None
    changed = current and sent.native and format_changes(hierarchy, native_of(current), sent.native)
    if not changed or current is None or sent.native is None:
        return sent
    told = {"before": native_of(current).format, "after": sent.native.format}
    note = Note(severity=Severity.WARNING, path="", line=None, message=Message(FORMAT_CHANGES, told))
    if writes:
        raise problems.InvalidTree([{"detail": said(note)}])
    return replace(sent, notes=(*sent.notes, note))


def read_import(body: Body, capacity: PercentageBase, form: Format | None = None) -> tuple[Imported, str]:
    """What a body says, be it such that it could be published or not, and the document that is kept with it, if any.

    Raises as ``read`` does.
    """
    text = _text_of(body)
    if body.media_type == YUNIKORN:
        return _imported(text, form, capacity), text
    reading, place = _reading(text, capacity)
    if reading.failed or reading.tree is None:
        raise problems.InvalidTree(_errors(reading.notes, place))
    return Imported(form=Format.SCHEDULER_ADMIN, tree=reading.tree, notes=(), terms=_given(reading), sources={}), ""


def _text_of(body: Body) -> str:
    try:
        return body.raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise problems.Unreadable([{"detail": _("The document is not valid UTF-8.")}]) from reason


def _imported(text: str, form: Format | None, capacity: PercentageBase) -> Imported:
    form = form or registry.detect(text) or Format.YUNIKORN
    try:
        return registry.read(text, form, capacity)
    except ImportFailure as failure:
        raise _refused(text, form, failure) from failure


def _capacity_of(hierarchy: Hierarchy | None) -> PercentageBase:
    return hierarchy.capacity if hierarchy else PercentageBase()


def _terms_in_force(hierarchy: Hierarchy | None, form: str = "") -> Terms:
    return terms_of(hierarchy.current) if hierarchy and hierarchy.current else default_terms(form)


def _read_document(text: str, hierarchy: Hierarchy | None, form: Format | None) -> Sent:
    imported = _imported(text, form, _capacity_of(hierarchy))
    form, terms = Format(imported.form), _terms_in_force(hierarchy, imported.form)._replace(**imported.terms)
    consumers = consumers_of(hierarchy)
    lines = cache(lambda: DocumentLines(load(text)))  # read only where there is anything to say

    def place(note: Note) -> dict[str, Any]:
        source = imported.sources.get(note.path)
        is_named = form is Format.YUNIKORN and not note.line
        line = lines().find(note.path, note.field) if is_named else source.line if source else None
        return _line(msgspec.structs.replace(note, line=note.line or line))

    found = tree_errors(imported.tree, consumers, kept=form, policy=terms.policy, dialect=terms.dialect)
    if wrong := _errors(found, place) + _wrong_terms(terms):
        raise problems.InvalidTree(wrong)
    notes = (*imported.notes, *not_written(imported, consumers))
    return Sent(imported.tree, terms, Native(form, text), notes, place, imported.sources, consumers.form(form))


def _refused(text: str, form: Format, failure: ImportFailure) -> problems.Refusal:
    """Whether it is no document at all, or one of which something is wrong."""
    try:
        load(text) if form is Format.YUNIKORN else documents.load(text)
    except ImportFailure:
        return problems.Unreadable(_errors(failure.notes, _line))
    return problems.InvalidTree(_errors(failure.notes, _line))


def _read_own_form(text: str, hierarchy: Hierarchy | None, part: Part | None) -> Sent:
    reading, place = _reading(text, _capacity_of(hierarchy), part)
    terms = _terms_in_force(hierarchy)._replace(**_given(reading))
    current = hierarchy.current if hierarchy else None
    consumers, kept = consumers_of(hierarchy), native_of(current).format if current else ""
    found = reading.notes
    if reading.tree is not None:
        found += tree_errors(reading.tree, consumers, kept=kept, policy=terms.policy, dialect=terms.dialect)
    wrong = _errors(found, place) + _wrong_terms(terms)
    if wrong or reading.tree is None:
        raise problems.InvalidTree(wrong)
    return Sent(reading.tree, terms, None, (), place, form=consumers.form(kept))


def _reading(text: str, capacity: PercentageBase, part: Part | None = None) -> tuple[TreeDocument, Place]:
    """What JSON says, and where each of its queues stands. Raises Unreadable for what is none."""
    try:
        document = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_number)
        json.dumps(document, ensure_ascii=False).encode()  # halves of surrogate pairs, which no database takes
    except (ValueError, RecursionError) as reason:
        raise problems.Unreadable([_not_json(reason)]) from reason
    document = part.completed(document) if part else document
    reading = read_form(document, capacity)
    return reading, _pointing(queue["path"] for queue in document["queues"]) if reading.tree else _pointing(())


def _given(reading: TreeDocument) -> dict[str, Any]:
    """Policy, dialect and parameters, as far as a document says any."""
    found = {name: getattr(reading, name) for name in Terms._fields}
    return {name: value for name, value in found.items() if value is not None}


def _pointing(paths: Iterable[str]) -> Place:
    """Places in a document of our own form, by the paths of its queues in order."""
    indices = {path: index for index, path in enumerate(paths)}

    def place(note: Note) -> dict[str, Any]:
        if note.index is None and note.path:
            note = msgspec.structs.replace(note, index=indices[note.path])
        return {"pointer": note.pointer}

    return place


def _wrong_terms(terms: Terms) -> list[dict[str, Any]]:
    try:
        check_terms(terms)
    except ValidationError as error:
        return wrong_terms(error)
    return []


def wrong_terms(error: ValidationError) -> list[dict[str, Any]]:
    """What can't be published, with its place in the document where it has one: a policy, a dialect, parameters."""
    return [
        {"detail": message} | ({"pointer": f"/{name}"} if name in Terms._fields else {})
        for name, messages in error.message_dict.items()
        for message in messages
    ]


def _errors(notes: Iterable[Note], place: Place) -> list[dict[str, Any]]:
    wrong = [note for note in notes if note.severity is Severity.ERROR]
    listed = [_error(note, place) for note in wrong[:MOST_ERRORS]]
    if (more := len(wrong) - MOST_ERRORS) > 0:
        listed.append({"detail": _("%(count)s more errors are not listed.") % {"count": more}})
    return listed


def _error(note: Note, place: Place) -> dict[str, Any]:
    known = {"queue": note.path, "remedy": remedy(note)}
    return {"detail": said(note), **place(note), **{name: value for name, value in known.items() if value}}


def _line(note: Note) -> dict[str, Any]:
    return {"line": note.line} if note.line else {}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, as JSON's own rule that the last of two wins would lose what somebody typed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _value in pairs)
        twice = next(name for name, times in counts.items() if times > 1)
        raise ValueError(_("the key %(name)s occurs twice in one object") % {"name": twice})
    return found


def _no_number(text: str) -> float:
    raise ValueError(_("%(text)s is not a valid JSON number") % {"text": text})


def _not_json(error: Exception) -> dict[str, Any]:
    problem = _("the document is nested too deeply") if isinstance(error, RecursionError) else str(error)
    line = {"line": error.lineno} if isinstance(error, json.JSONDecodeError) else {}
    return {"detail": _("The document is not valid JSON: %(problem)s.") % {"problem": problem}, **line}


def own_form(revision: Revision, scope: Scope) -> dict[str, Any]:
    """A revision in our own form, as PUT takes it; of a scope that is not everything, its queues and namespaces.

    Placement rules may name anybody's queue, and what the cluster holds is not a tenant's: who does not see everything
    does not see them.
    """
    tree = tree_of(revision)
    queues = [write_queue(tree[path]) for path in tree.walk() if scope.has_path(path)]
    for queue in queues:
        if "namespaces" in queue:
            queue["namespaces"] = [name for name in queue["namespaces"] if scope.has_pod(name, queue["path"])]
    beside = write_other_members(tree) if scope.everything else {}
    return {**terms_of(revision)._asdict(), **beside, "queues": queues}


def published(revision: Revision, hierarchy: Hierarchy, scope: Scope) -> Sent:
    """A hierarchy's revision as if sent in our own form, as a scope sees it: places lead into ``own_form``."""
    tree = tree_of(revision)
    place = _pointing(filter(scope.has_path, tree.walk()))
    form = consumers_of(hierarchy).form(native_of(revision).format)
    return Sent(tree, terms_of(revision), None, (), place, form=form)
