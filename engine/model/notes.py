"""Notes for the person who imports a document: messages with the place that they are about."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from engine.model.message import Message

MOST_QUEUES = 25_000
"""The most queues that any format accepts: with aliases, a small YAML document can describe very many."""


class Severity(StrEnum):
    ERROR = "error"
    """The document can't be imported as it is."""
    WARNING = "warning"
    """The document can be imported, but something in it does not do what it seems to."""
    INFO = "info"
    """The document can be imported; something was kept that has no meaning here."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note on a document."""

    severity: Severity
    path: str
    """The queue's path; empty: the note is about the document or a partition."""
    line: int | None
    """The line, counted from one; None if the document was not text."""
    message: Message
    remedy: Message | None = None
    """What to do about it; None if ``message`` says it, or nothing is to be done."""
    field: str = ""
    """The setting that the note is about, as the JSON format writes it: ``delay``, ``max/memory``; empty: the queue."""
    index: int | None = None
    """The queue's index in a document of the JSON format; None for other formats."""

    @property
    def text(self) -> str:
        """Return the English sentence with its parameters."""
        return str(self.message)

    @property
    def pointer(self) -> str:
        """Return a JSON pointer (RFC 6901) into a document of the JSON format: ``/queues/3/max/memory``."""
        if self.index is None:
            return f"/{self.field}" if self.field else ""
        return f"/queues/{self.index}" + (f"/{self.field}" if self.field else "")

    def __str__(self) -> str:
        place = " ".join(part for part in (f"line {self.line}" if self.line else "", self.path) if part)
        return f"{place}: {self.text}" if place else self.text


class DocumentPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a document of the JSON format (engine.formats.tree_json); see Note for the fields."""

    path: str = ""
    index: int | None = None
    field: str = ""

    def at(self, *parts: str) -> "DocumentPlace":
        """Return the place of a setting of this queue, or of a part of it: ``at("max", "memory")``.

        Slashes in names are written ``~1``.
        """
        escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
        return msgspec.structs.replace(self, field="/".join((*([self.field] if self.field else []), *escaped)))


class ImportFailure(ValueError):  # noqa: N818 - a failure of many errors
    """A document that can't be imported. ``notes`` has every note, ``str()`` the errors among them as sentences."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        super().__init__("; ".join(str(note) for note in notes if note.severity is Severity.ERROR))
        self.notes = notes


_MOST_SUGGESTIONS = 1_000
"""Notes on a document from which on none suggests a name."""


class NoteCollector:
    """A collector of notes while a document is read."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.others: dict[tuple[str, str], tuple[int | None, Any]] = {}
        """(Path of a queue, name of a field that has no meaning here) -> the field's line, and its value."""

    def add(self, severity: Severity, path: str, line: int | None, message: str | Message, **params: str) -> None:
        """Add a note on a document with lines; ``params`` fill the names in the message."""
        self.notes.append(Note(severity=severity, path=path, line=line, message=_filled(message, params)))

    def error(self, place: DocumentPlace, message: str | Message, **params: str) -> None:
        """Add an error in a document of the JSON format."""
        note = Note(severity=Severity.ERROR, path=place.path, line=None, message=_filled(message, params))
        self.notes.append(msgspec.structs.replace(note, field=place.field, index=place.index))

    @property
    def is_suggesting(self) -> bool:
        """Return whether similar names are looked for, which takes long: not in a document that is full of mistakes."""
        return len(self.notes) < _MOST_SUGGESTIONS

    @property
    def failed(self) -> bool:
        """Return whether any of the notes is an error."""
        return any(note.severity is Severity.ERROR for note in self.notes)


def _filled(message: str | Message, params: Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message, params)
