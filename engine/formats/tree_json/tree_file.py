"""A tree in the product's own format as a YAML or JSON file; comments are preserved when it is rewritten."""

from collections.abc import Mapping, MutableMapping
from typing import Any

import msgspec
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from engine.formats.import_result import Imported, QueueSource
from engine.formats.tree_json.document import (
    TERMS,
    TreeDocument,
    read_form,
    write_form,
    write_other_members,
    write_queue,
)
from engine.formats.tree_json.percentages import PercentageBase
from engine.formats.written_document import Written
from engine.formats.yaml.documents import failure, line_of, line_of_start, load, to_commented
from engine.formats.yaml.edited_text import EditedText
from engine.formats.yaml.emitter import emit
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.object_list import Fields
from engine.model.message import gettext_noop
from engine.model.notes import ImportFailure, Note
from engine.model.queue_tree import QueueTree

_UNSAID: dict[str, Any] = {"policy": "fence", "dialect": "design", "parameters": {}}
"""Terms that a document may omit -> their defaults."""


def read(text: str, capacity: PercentageBase = PercentageBase()) -> Imported:  # noqa: B008 - frozen
    """Return the tree of a document in the product's own format; ``capacity`` is as in ``read_form``.

    Raise ImportFailure, with every error in it at its line.
    """
    document, reading = _read(load(text), capacity)
    lines = {queue.get("path"): line_of(queue, "path") for queue in document["queues"]}
    assert reading.tree is not None
    terms = {name: value for name in TERMS if (value := getattr(reading, name)) is not None}
    sources = {path: QueueSource(path, lines.get(path)) for path in reading.tree.walk()}
    return Imported(form="scheduler-admin", tree=reading.tree, notes=(), sources=sources, terms=terms)


def write(text: str, tree: QueueTree, terms: Mapping[str, Any] | None = None) -> Written:
    """Write a tree, and the terms if given, into a document in the product's own format.

    An empty text means a new document. Raise ImportFailure for a text that ``read`` rejects.
    """
    if not text.strip():
        return Written(text=emit([plain({**(terms or {}), **write_form(tree)})]))
    edited = EditedText(text)
    document, reading = _read(edited.documents, PercentageBase(tree.capacity))
    assert reading.tree is not None
    current = _terms(reading)
    written = {name: value for name, value in (terms or current).items() if name in current or value != _UNSAID[name]}
    _merge(document, _beside(reading.tree, current), _beside(tree, written))
    rows = {str(queue["path"]): queue for queue in document["queues"]}
    for path in tree.walk():
        row = rows.setdefault(path, CommentedMap(path=path))
        _merge(row, write_queue(reading.tree[path]) if path in reading.tree else {}, write_queue(tree[path]))
    remaining = [row for path, row in rows.items() if path in tree]
    if [id(row) for row in remaining] != [id(row) for row in document["queues"]]:
        document["queues"] = CommentedSeq(remaining)
    return Written(text=edited.written([document]))


def _read(documents: list[Any], capacity: PercentageBase) -> tuple[Fields, TreeDocument]:
    """Return the only document and its content. Raise ImportFailure if it has any error."""
    if len(documents) != 1 or not isinstance(documents[0], MutableMapping):
        raise failure(None, gettext_noop("The document must be an object with a list of queues."))
    try:
        reading = read_form(plain(documents[0]), capacity)
    except RecursionError:
        raise failure(None, gettext_noop("The document contains itself: remove the circular alias.")) from None
    if reading.failed or reading.tree is None:
        raise ImportFailure(tuple(_with_line(note, documents[0]) for note in reading.notes))
    return documents[0], reading


def _with_line(note: Note, document: Fields) -> Note:
    """Return the note with the line of the deepest part of its pointer that exists in the document."""
    at: Any = document
    line = line_of_start(document)
    for part in note.pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        key: Any = int(name) if isinstance(at, list) and name.isdecimal() else name
        line = line_of(at, key) or line
        try:
            at = at[key]
        except (KeyError, IndexError, TypeError):
            break
    return msgspec.structs.replace(note, line=line)


def _terms(reading: TreeDocument) -> dict[str, Any]:
    return {name: value for name in TERMS if (value := getattr(reading, name)) is not None}


def _beside(tree: QueueTree, terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a document other than its queues."""
    return {**terms, **write_other_members(tree)}


def _merge(fields: Fields, current: Mapping[str, Any], desired: Mapping[str, Any]) -> None:
    """Change fields that mean ``current`` so that they mean ``desired``; unchanged values keep their notation."""
    for key in dict.fromkeys((*current, *desired)):
        if current.get(key) == desired.get(key) and (key in current) == (key in desired):
            continue
        if key not in desired:
            fields.pop(key, None)
        elif (
            isinstance(current.get(key), dict) and isinstance(desired[key], dict) and isinstance(fields.get(key), dict)
        ):
            _merge(fields[key], current[key], desired[key])
        else:
            fields[key] = to_commented(desired[key])
