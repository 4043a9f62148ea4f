"""The annotation that keeps the queue settings that another system's object has no field for.

    scheduler-admin.io/queue: '{"delay": "30s", "preemption_policy": "fence"}'

Other systems ignore it. It holds settings in the product's own format, which override the object's own fields. ``name``
is the name of the queue here, for an object whose own name can't be a queue's name.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.formats.tree_json.document import write_queue
from engine.formats.tree_json.percentages import without_shares
from engine.formats.tree_json.settings import FIELDS, read_settings
from engine.formats.yaml.object_list import Object
from engine.model.message import gettext_noop
from engine.model.notes import DocumentPlace, NoteCollector, Severity
from engine.model.queue_settings import BY_NAME, Kind
from engine.model.queue_tree import LONGEST_PATH, ROOT, Queue, is_queue_name

ANNOTATION = "scheduler-admin.io/queue"

_KEPT_OUT = ("path", "parent")
"""Settings that the position of the object determines."""


def read_annotation(obj: Object, book: NoteCollector) -> dict[str, Any]:
    """Return the content of the annotation, empty if there is none.

    An annotation that can't be read results in an error in ``book``.
    """
    text = obj.annotation(ANNOTATION)
    if text is None:
        return {}
    try:
        content = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("name", ""), str):
        message = gettext_noop("The annotation %(name)s must contain a JSON object.")
        book.add(Severity.ERROR, "", obj.line, message, name=ANNOTATION)
        return {}
    return content


def queue_name(obj: Object) -> str:
    """Return the name of the queue here. Dots in an object's name become ``_``, because dots separate queues here."""
    return str(read_annotation(obj, NoteCollector()).get("name") or obj.called.replace(".", "_"))


def with_annotation(obj: Object, native: Queue, book: NoteCollector) -> Queue:
    """Return ``native``, the queue as the object itself describes it, with the settings in the annotation applied."""
    content = {key: value for key, value in read_annotation(obj, book).items() if key != "name"}
    if not content:
        return native
    own_notes = NoteCollector()
    read = read_settings(content, DocumentPlace(path=native.path), own_notes)
    book.notes += [msgspec.structs.replace(note, line=obj.line, field="") for note in own_notes.notes]
    if shares := {**read.guaranteed_share, **read.max_share}:
        message = gettext_noop("Percentages are not allowed here. Enter amounts of %(names)s.")
        book.add(Severity.ERROR, native.path, obj.line, message, names=", ".join(sorted(shares)))
    if read != without_shares(read):
        message = gettext_noop("The annotation %(name)s can contain amounts, but not percentages.")
        book.add(Severity.ERROR, "", obj.line, message, name=ANNOTATION)
    attributes = [_attribute(field) for field in content if field in FIELDS and field != "path"]
    return msgspec.structs.replace(native, **{name: getattr(read, name) for name in attributes})


def unsupported_settings(native: Queue, queue: Queue) -> dict[str, Any]:
    """Return the settings, in the product's own format, in which ``queue`` differs from what the object expresses.

    ``native`` is the queue as the object itself describes it.
    """
    expressed, desired = write_queue(native), write_queue(without_shares(queue))
    for form in (expressed, desired):
        form["namespaces"] = sorted(form.get("namespaces", []))
    fields = [field for field in FIELDS if field not in _KEPT_OUT and expressed.get(field) != desired.get(field)]
    return {field: desired.get(field, _unset(field)) for field in fields}


def _attribute(field: str) -> str:
    """Return the field of Queue that holds a member of our own format."""
    return BY_NAME[field].attribute if field in BY_NAME else field


def _unset(field: str) -> Any:
    """Return the value that marks a setting as not set, where the object itself does set it."""
    if field not in BY_NAME:
        return None
    match BY_NAME[field].kind:
        case Kind.AMOUNTS:
            return {}
        case Kind.NAMES:
            return []
        case Kind.CHOICE if BY_NAME[field].default is not None:
            return str(BY_NAME[field].default)
        case _:
            return None


def rename(obj: Object, name: str) -> None:
    """Set the name in the annotation if the object's own name does not result in this name."""
    if queue_name(obj) != name:
        _write_annotation(obj, {**read_annotation(obj, NoteCollector()), "name": name})


def annotate(obj: Object, settings: Mapping[str, Any]) -> None:
    """Set the settings in the annotation, keeping the name in it."""
    current = read_annotation(obj, NoteCollector())
    name_entry = {"name": current["name"]} if "name" in current else {}
    if {**name_entry, **settings} != current:
        _write_annotation(obj, {**name_entry, **settings})


def _write_annotation(obj: Object, content: Mapping[str, Any]) -> None:
    written = {key: value for key, value in content.items() if key != "name" or value != obj.called.replace(".", "_")}
    obj.annotate(ANNOTATION, json.dumps(written, sort_keys=True) if written else None)


def check_path(
    path: str,
    original_name: str,
    obj: Object | None,
    line: int | None,
    known_paths: Mapping[str, Any],
    book: NoteCollector,
) -> None:
    """Add an error for a path that is invalid or in ``known_paths``; add a note if the queue's name was changed."""
    name = path.rpartition(".")[2]
    problem, params = "", {"name": repr(original_name), "annotation": ANNOTATION}
    if not is_queue_name(name):
        problem = gettext_noop(
            "%(name)s is not a valid queue name. Use at most 64 letters, digits and the characters "
            "_:#/@-, or set another name in the annotation %(annotation)s."
        )
    elif path != ROOT and name.lower() == ROOT:
        problem = gettext_noop(
            "The name root is reserved for the root queue. Set another name in the annotation %(annotation)s."
        )
    elif path in known_paths:
        problem = gettext_noop(
            "Two queues with the same parent are named %(name)s. Set another name for one of them in the "
            "annotation %(annotation)s."
        )
    elif len(path) > LONGEST_PATH:
        problem, params = gettext_noop("A path can have at most %(most)s characters."), {"most": str(LONGEST_PATH)}
    elif name != original_name and (obj is None or obj.annotation(ANNOTATION) is None):
        message = gettext_noop("%(name)s is named %(here)s here, because a dot separates queue names.")
        book.add(Severity.INFO, path, line, message, name=original_name, here=name)
    if problem:
        book.add(Severity.ERROR, "", line, problem, **params)
