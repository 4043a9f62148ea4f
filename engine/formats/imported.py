"""What reading a foreign document gives: the tree, what each queue was there, and all there is to say."""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.formats.notes import Note
from engine.queues import QueueTree


class Source(msgspec.Struct, frozen=True):
    """What a queue is in the document that it was read from."""

    title: str
    """As people call it there: ``ClusterQueue team-a``."""
    line: int | None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A tree and what there is to say about the document it came from."""

    form: str
    """The document's format: engine.formats.native.Format."""
    tree: QueueTree
    notes: tuple[Note, ...]
    terms: Mapping[str, Any] = {}
    """Policy, dialect and parameters, as far as the document says any."""
    sources: Mapping[str, Source]
    """Path -> what it was; a queue that the document only implies is not in it."""
