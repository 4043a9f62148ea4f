"""The result of reading another system's document: the queue tree, the source of each queue, and notes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.model.message import Message, gettext_noop
from engine.model.notes import Note, Severity
from engine.model.queue_tree import QueueTree


class QueueSource(msgspec.Struct, frozen=True):
    """The place in a document from which a queue was read."""

    title: str
    """Kind and name of the object in the document, for example ``ClusterQueue team-a``."""
    line: int | None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A queue tree and the notes about the document from which it was read."""

    form: str
    """Format of the document, a value of engine.formats.registry.Format."""
    tree: QueueTree
    notes: tuple[Note, ...]
    terms: Mapping[str, Any] = {}
    """Policy, dialect and parameters, as far as the document states them."""
    sources: Mapping[str, QueueSource]
    """Path -> the queue's place in the document; queues that the document only implies are absent."""
    others: Mapping[tuple[str, str], tuple[int | None, Any]] = {}
    """Fields that have no meaning here; see Notebook.others."""


DIFFERS = gettext_noop(
    "%(field)s differs from the cluster’s own document, but it is not written there. Only queue settings are written."
)
"""Message of a note about a field whose value differs from the cluster's own document and is not written to it."""
LEFT_OUT = gettext_noop("%(field)s is set in the cluster’s own document but not in this one. It stays there.")


def unwritten_setting_notes(imported: Imported, in_cluster: Imported) -> tuple[Note, ...]:
    """Return notes on settings outside the tree that differ between a document and the cluster's own document.

    Writing changes only the tree, so these settings have no effect on the cluster. Notes are in the order of lines;
    fields that only the cluster's document has come first.
    """
    keys = sorted(
        {*imported.others, *in_cluster.others}, key=lambda key: (imported.others.get(key, (0, None))[0] or 0, key)
    )
    notes = []
    for path, field in keys:
        line, value = imported.others.get((path, field), (None, None))
        if value == in_cluster.others.get((path, field), (None, None))[1]:
            continue
        message = DIFFERS if (path, field) in imported.others else LEFT_OUT
        notes.append(Note(severity=Severity.WARNING, path=path, line=line, message=Message(message, {"field": field})))
    return tuple(notes)
