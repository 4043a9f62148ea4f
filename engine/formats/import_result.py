"""What reading a foreign document gives: the tree, what each queue was there, and all there is to say."""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.model.notes import Note, Severity, gettext_noop
from engine.model.queue_tree import QueueTree


class QueueSource(msgspec.Struct, frozen=True):
    """What a queue is in the document that it was read from."""

    title: str
    """As people call it there: ``ClusterQueue team-a``."""
    line: int | None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A tree and what there is to say about the document it came from."""

    form: str
    """The document's format: engine.formats.registry.Format."""
    tree: QueueTree
    notes: tuple[Note, ...]
    terms: Mapping[str, Any] = {}
    """Policy, dialect and parameters, as far as the document says any."""
    sources: Mapping[str, QueueSource]
    """Path -> what it was; a queue that the document only implies is not in it."""
    others: Mapping[tuple[str, str], tuple[int | None, Any]] = {}
    """What means nothing here: see Notebook.others."""


OTHERWISE = gettext_noop(
    "%(field)s is otherwise in the cluster’s own document, and is not written there: only what queues are set to is."
)
"""A note's message: of what a document says and nobody would see in the cluster."""
LEFT_OUT = gettext_noop("%(field)s is in the cluster’s own document and not in this one: it stays there.")


def not_written(imported: Imported, there: Imported) -> tuple[Note, ...]:
    """What a document says beside the tree, other than the cluster's own document does: writing changes the tree alone.

    In the order of lines; first what the cluster has and the document has not.
    """
    keys = sorted({*imported.others, *there.others}, key=lambda key: (imported.others.get(key, (0, None))[0] or 0, key))
    found = []
    for path, field in keys:
        line, says = imported.others.get((path, field), (None, None))
        if says == there.others.get((path, field), (None, None))[1]:
            continue
        message = OTHERWISE if (path, field) in imported.others else LEFT_OUT
        found.append(Note(severity=Severity.WARNING, path=path, line=line, message=message, params={"field": field}))
    return tuple(found)
