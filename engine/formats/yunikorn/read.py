"""Reading of a queues.yaml into a queue tree, with notes about its content."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.formats import import_result
from engine.formats.import_result import QueueSource
from engine.formats.tree_json.placement import read_rules
from engine.formats.yaml.documents import failure, line_of, note_others
from engine.formats.yunikorn import strict, user_limits
from engine.formats.yunikorn.document import IMPLIED_ROOT, PLACEMENT, load, partition_of, top_queues
from engine.formats.yunikorn.fields import (
    READ_FIELDS,
    READ_PROPERTIES,
    READ_TEMPLATE_FIELDS,
    TEMPLATE,
    is_true,
    read_queue,
)
from engine.formats.yunikorn.strict import PROPERTIES, QUEUE
from engine.formats.yunikorn.strict import TEMPLATE as TEMPLATE_KEYS
from engine.model.message import gettext_noop
from engine.model.notes import MOST_QUEUES, ImportFailure, NoteCollector, Severity
from engine.model.placement_rules import Rule
from engine.model.queue_tree import LONGEST_PATH, ROOT, Queue, QueueTree, is_queue_name


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """Preemption settings of a whole partition; they have an effect only under YuniKorn's own rules."""

    preemption: bool = True
    """Whether pending pods may preempt others."""
    quota_preemption: bool = False
    """Whether pods are evicted after a queue's max was lowered."""


class YuniKornDocument(import_result.Imported, frozen=True, kw_only=True):
    """A queue tree, the notes about its document, and the settings of the document's partition."""

    partition: Partition


def read(document: str | Mapping[str, Any]) -> YuniKornDocument:
    """Return the queue tree of the default or first partition of a queues.yaml, given as text or already parsed.

    Raise ImportFailure, with every error in it, for an invalid document. Source: YuniKorn's partition and queue
    configuration.
    """
    book, loaded = NoteCollector(), load(document)
    partition = partition_of(loaded, book)
    queues, placement = list(_queues(partition, book)), placement_of(partition, book)
    if not book.failed and isinstance(document, str):  # a text is a configuration that YuniKorn itself reads
        strict.check(loaded, book)
        if not book.failed:
            for loaded_partition in loaded["partitions"]:
                user_limits.check(loaded_partition, book)
    if book.failed:
        wrong = {note.line for note in book.notes if note.severity is Severity.ERROR}
        reported = (note for note in book.notes if note.severity is Severity.ERROR or note.line not in wrong)
        raise ImportFailure(tuple(reported))
    return YuniKornDocument(
        form="yunikorn",
        tree=QueueTree([queue for queue, _source in queues], placement),
        notes=tuple(book.notes),
        sources={queue.path: source for queue, source in queues if source},
        partition=_settings(partition),
        others=book.others,
    )


def _settings(partition: Mapping[str, Any]) -> Partition:
    preemption = partition.get("preemption")
    preemption = preemption if isinstance(preemption, Mapping) else {}
    return Partition(
        preemption=is_true(preemption.get("enabled", True)),
        quota_preemption=is_true(preemption.get("quotapreemptionenabled")),
    )


def _queues(partition: Mapping[str, Any], book: NoteCollector) -> Iterator[tuple[Queue, QueueSource | None]]:
    top, implied = top_queues(partition)
    if implied:
        yield IMPLIED_ROOT, None
    queues_left = MOST_QUEUES
    pending = _named(top, ROOT if implied else "", book)
    while pending:
        path, mapping = pending.pop()
        queues_left -= 1
        if queues_left < 0:
            raise failure(None, gettext_noop("There are more than %(most)s queues."), str(MOST_QUEUES), "most")
        children = mapping.get("queues") or []
        queue = read_queue(mapping, path, book)
        _note_foreign(mapping, queue, book)
        yield queue, QueueSource(str(mapping["name"]), line_of(mapping, "name"))
        if isinstance(children, list):
            pending += _named(children, path, book)
        else:
            book.add(Severity.ERROR, path, line_of(mapping, "queues"), gettext_noop("queues must be a list."))


def _named(queues: list[Any], parent: str, book: NoteCollector) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the queues of a list with their paths, the last first; a queue without a valid name is an error."""
    queues_by_name: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for mapping in queues:
        if not isinstance(mapping, Mapping):
            book.add(Severity.ERROR, parent, None, gettext_noop("A queue must be a mapping with a name."))
            continue
        name = str(mapping.get("name") or "")
        line = line_of(mapping, "name")
        if not is_queue_name(name):
            message = gettext_noop(
                "%(name)s is not a valid queue name. Use at most 64 letters, digits and the characters _:#/@-."
            )
            book.add(Severity.ERROR, parent, line, message, name=repr(name))
        elif parent and name.lower() == ROOT:
            book.add(Severity.ERROR, parent, line, gettext_noop("root must be the only queue at the top."))
        elif name.lower() in queues_by_name:
            book.add(Severity.ERROR, parent, line, gettext_noop("Queue %(name)s is defined twice."), name=name)
        else:
            path = f"{parent}.{name}" if parent else ROOT
            if len(path) > LONGEST_PATH:
                message = gettext_noop("A path can have at most %(most)s characters.")
                book.add(Severity.ERROR, parent, line, message, most=str(LONGEST_PATH))
            queues_by_name[name.lower()] = (path, mapping)
    return list(reversed(queues_by_name.values()))


def placement_of(partition: Mapping[str, Any], book: NoteCollector) -> tuple[Rule, ...]:
    """Return the partition's placement rules; errors in them are added to ``book``."""

    def complain(mapping: Any, key: str, _where: tuple[str, ...], message: str, /, **params: str) -> None:
        line = line_of(mapping, key) or line_of(partition, PLACEMENT)
        book.add(Severity.ERROR, "", line, message, **params)

    return read_rules(partition.get(PLACEMENT), complain)


def _note_foreign(mapping: Mapping[str, Any], queue: Queue, book: NoteCollector) -> None:
    _note_settings(mapping, READ_FIELDS, QUEUE, queue.path, book)
    if queue.template is not None:
        _note_settings(mapping[TEMPLATE], READ_TEMPLATE_FIELDS, TEMPLATE_KEYS, queue.path, book)


def _note_settings(
    mapping: Mapping[str, Any], fields: frozenset[str], known: frozenset[str], path: str, book: NoteCollector
) -> None:
    properties = mapping.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    note_others(mapping, fields, path, book, known=known)
    note_others(properties, READ_PROPERTIES, path, book, known=PROPERTIES)
