"""Creates the notes that lint reports."""

from engine.model.notes import DocumentPlace, Note, Severity


def make_note(severity: Severity, path: str, message: str, remedy: str, *field: str, **params: str) -> Note:
    """Return a note on a queue: the sentence, what to do about it (both may name ``params``), and the setting meant."""
    place = DocumentPlace(path=path).at(*field)
    return Note(
        severity=severity, path=path, line=None, message=message, params=params, field=place.field, remedy=remedy
    )
