"""What an import says to the person who imports: translatable sentences with the place they are about."""

from enum import StrEnum
from typing import Any

import msgspec

MOST_QUEUES = 10_000
"""More are refused in every format: a small YAML document can describe very many by its aliases."""


class Severity(StrEnum):
    ERROR = "error"
    """The document can't be imported as it is."""
    WARNING = "warning"
    """Imported, but something in it does not do what it seems to."""
    INFO = "info"
    """Imported; something was kept that has no meaning here."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One remark. ``message`` is the message id, with ``%(name)s`` for the names in ``params``."""

    severity: Severity
    path: str
    """The queue's path; empty: the document or a partition."""
    line: int | None
    """Counted from one; None where the document was not text."""
    message: str
    params: dict[str, str] = {}
    remedy: str = ""
    """What to do about it, likewise; empty where the sentence says it, or nothing is to be done."""
    field: str = ""
    """The setting that it is about, as our own form writes it: ``delay``, ``max/memory``; empty: the queue."""
    index: int | None = None
    """The queue's place in a document of our own form; None elsewhere."""

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message % self.params

    @property
    def pointer(self) -> str:
        """A JSON pointer (RFC 6901) into a document of our own form: ``/queues/3/max/memory``."""
        if self.index is None:
            return f"/{self.field}" if self.field else ""
        return f"/queues/{self.index}" + (f"/{self.field}" if self.field else "")

    def __str__(self) -> str:
        place = " ".join(part for part in (f"line {self.line}" if self.line else "", self.path) if part)
        return f"{place}: {self.text}" if place else self.text


class DocumentPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a document of our own form something is; see Note for the fields."""

    path: str = ""
    index: int | None = None
    field: str = ""

    def at(self, *parts: str) -> "DocumentPlace":
        """A setting of this queue, or a part of it: ``at("max", "memory")``. Slashes in names are written ``~1``."""
        escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
        return msgspec.structs.replace(self, field="/".join((*([self.field] if self.field else []), *escaped)))


class ImportFailure(ValueError):  # noqa: N818 - a failure of many errors
    """A document that can't be imported. ``notes`` has every reason, ``str()`` the errors among them as sentences."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        super().__init__("; ".join(str(note) for note in notes if note.severity is Severity.ERROR))
        self.notes = notes


class Notebook:
    """Collects notes while a document is read."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.others: dict[tuple[str, str], tuple[int | None, Any]] = {}
        """Path of a queue and name of a field that means nothing here -> its line, and what it says."""

    def add(self, severity: Severity, path: str, line: int | None, message: str, **params: str) -> None:
        """One more note on a document with lines; ``params`` fill the message's names."""
        self.notes.append(Note(severity=severity, path=path, line=line, message=message, params=params))

    def error(self, place: DocumentPlace, message: str, **params: str) -> None:
        """One more error in a document of our own form."""
        note = Note(severity=Severity.ERROR, path=place.path, line=None, message=message, params=params)
        self.notes.append(msgspec.structs.replace(note, field=place.field, index=place.index))

    @property
    def failed(self) -> bool:
        """Whether an error is among them."""
        return any(note.severity is Severity.ERROR for note in self.notes)


def gettext_noop(message: str) -> str:
    """Mark a sentence for translators; it is translated where it is shown."""
    return message
