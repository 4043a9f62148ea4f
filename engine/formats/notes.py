"""What an import says to the person who imports: translatable sentences with the place they are about."""

from enum import StrEnum

import msgspec


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

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message % self.params

    def __str__(self) -> str:
        place = " ".join(part for part in (f"line {self.line}" if self.line else "", self.path) if part)
        return f"{place}: {self.text}" if place else self.text


class ImportFailure(ValueError):  # noqa: N818 - a failure of many errors
    """A document that can't be imported. ``notes`` has every reason, ``str()`` the errors among them as sentences."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        super().__init__("; ".join(str(note) for note in notes if note.severity is Severity.ERROR))
        self.notes = notes


def gettext_noop(message: str) -> str:
    """Mark a sentence for translators; it is translated where it is shown."""
    return message
