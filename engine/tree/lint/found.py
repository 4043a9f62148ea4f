"""How lint says what it finds."""

from engine.model.notes import DocumentPlace, Note, Severity


def found(severity: Severity, path: str, message: str, remedy: str, *field: str, **params: str) -> Note:
    """A finding at a queue: its sentence, what to do about it (both may name ``params``), the setting it is about."""
    place = DocumentPlace(path=path).at(*field)
    return Note(
        severity=severity, path=path, line=None, message=message, params=params, field=place.field, remedy=remedy
    )
