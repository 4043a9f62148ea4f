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


def read_annotation(one: Object, book: NoteCollector) -> dict[str, Any]:
    """Return the content of the annotation, empty if there is none.

    An annotation that can't be read results in an error in ``book``.
    """
    text = one.annotation(ANNOTATION)
    if text is None:
        return {}
    try:
        said = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not isinstance(said.get("name", ""), str):
        message = gettext_noop("The annotation %(name)s must hold an object in JSON.")
        book.add(Severity.ERROR, "", one.line, message, name=ANNOTATION)
        return {}
    return said


def queue_name(one: Object) -> str:
    """Return the name of the queue here. Dots in an object's name become ``_``, because dots separate queues here."""
    return str(read_annotation(one, NoteCollector()).get("name") or one.called.replace(".", "_"))


def with_annotation(one: Object, native: Queue, book: NoteCollector) -> Queue:
    """Return ``native``, the queue as the object itself describes it, with the settings in the annotation applied."""
    said = {key: value for key, value in read_annotation(one, book).items() if key != "name"}
    if not said:
        return native
    found = NoteCollector()
    read = read_settings(said, DocumentPlace(path=native.path), found)
    book.notes += [msgspec.structs.replace(note, line=one.line, field="") for note in found.notes]
    if shares := {**read.guaranteed_share, **read.max_share}:
        message = gettext_noop("Percentages can't be said here: give amounts of %(names)s.")
        book.add(Severity.ERROR, native.path, one.line, message, names=", ".join(sorted(shares)))
    if read != without_shares(read):
        message = gettext_noop("The annotation %(name)s can hold amounts, but no percentages.")
        book.add(Severity.ERROR, "", one.line, message, name=ANNOTATION)
    given = [_attribute(field) for field in said if field in FIELDS and field != "path"]
    return msgspec.structs.replace(native, **{name: getattr(read, name) for name in given})


def unsupported_settings(native: Queue, wanted: Queue) -> dict[str, Any]:
    """Return the settings, in the product's own format, in which ``wanted`` differs from what the object expresses.

    ``native`` is the queue as the object itself describes it.
    """
    said, meant = write_queue(native), write_queue(without_shares(wanted))
    for one in (said, meant):
        one["namespaces"] = sorted(one.get("namespaces", []))
    fields = [field for field in FIELDS if field not in _KEPT_OUT and said.get(field) != meant.get(field)]
    return {field: meant.get(field, _unset(field)) for field in fields}


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


def rename(one: Object, name: str) -> None:
    """Set the name in the annotation if the object's own name does not result in this name."""
    if queue_name(one) != name:
        _say(one, {**read_annotation(one, NoteCollector()), "name": name})


def annotate(one: Object, settings: Mapping[str, Any]) -> None:
    """Set the settings in the annotation, keeping the name in it."""
    said = read_annotation(one, NoteCollector())
    kept = {"name": said["name"]} if "name" in said else {}
    if {**kept, **settings} != said:
        _say(one, {**kept, **settings})


def _say(one: Object, said: Mapping[str, Any]) -> None:
    named = {key: value for key, value in said.items() if key != "name" or value != one.called.replace(".", "_")}
    one.annotate(ANNOTATION, json.dumps(named, sort_keys=True) if named else None)


def check_path(
    path: str, called: str, one: Object | None, line: int | None, found: Mapping[str, Any], book: NoteCollector
) -> None:
    """Add an error for a path that is invalid or already in ``found``; add a note if the queue's name was changed."""
    name = path.rpartition(".")[2]
    problem, params = "", {"name": repr(called), "annotation": ANNOTATION}
    if not is_queue_name(name):
        problem = gettext_noop(
            "%(name)s can't name a queue: up to 64 letters, digits and _:#/@- are allowed. "
            "Give it another name here in the annotation %(annotation)s."
        )
    elif path != ROOT and name.lower() == ROOT:
        problem = gettext_noop(
            "root is the name of the queue above all. Give it another name here in the annotation %(annotation)s."
        )
    elif path in found:
        problem = gettext_noop(
            "There are two queues %(name)s in one place. Give one another name here in the annotation %(annotation)s."
        )
    elif len(path) > LONGEST_PATH:
        problem, params = gettext_noop("A path has at most %(most)s characters."), {"most": str(LONGEST_PATH)}
    elif name != called and (one is None or one.annotation(ANNOTATION) is None):
        message = gettext_noop("%(name)s is called %(here)s here: a dot separates queues.")
        book.add(Severity.INFO, path, line, message, name=called, here=name)
    if problem:
        book.add(Severity.ERROR, "", line, problem, **params)
