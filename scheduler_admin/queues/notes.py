"""Notes of formats and lint in the reader's language."""

from engine.model.message import Message
from engine.model.notes import Note
from engine.model.queue_settings import BY_NAME, Kind
from scheduler_admin.core.translation import text


def said(note: Note) -> str:
    """The note as a sentence. What documents can spell and UTF-8 can't hold becomes a question mark."""
    return _utf8(note.message)


def remedy(note: Note) -> str:
    """What to do about it as a sentence, empty where there is none."""
    return _utf8(note.remedy) if note.remedy else ""


def _utf8(message: Message) -> str:
    return text(message).encode(errors="replace").decode()


def setting_of(note: Note) -> str:
    """The setting that a note is about, as drafts call it: ``max/nvidia.com/gpu``, ``delay``; empty: the queue."""
    field, *rest = (part.replace("~1", "/").replace("~0", "~") for part in note.field.split("/"))
    setting = BY_NAME.get(field)
    if setting is not None:
        return "/".join((setting.typed_as, *(rest[:1] if setting.kind is Kind.AMOUNTS else ())))
    if field in ("template", "parameters", "placement", "capacity"):
        return "/".join((field, *rest))
    return "" if field == "path" else field
