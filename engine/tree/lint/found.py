"""Creates the notes that lint reports."""

from engine.model.message import Message
from engine.model.notes import DocumentPlace, Note, Severity


def make_note(severity: Severity, path: str, message: str, remedy: str, *field: str, **params: str) -> Note:
    """Return a note on a queue: the sentence, what to do about it (both may name ``params``), and the setting meant."""
    place = DocumentPlace(path=path).at(*field)
    cure = Message(remedy, params) if remedy else None
    return Note(
        severity=severity, path=path, line=None, message=Message(message, params), field=place.field, remedy=cure
    )
