"""What writing a tree into a foreign document gives."""

import msgspec

from engine.model.notes import Note


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The document, and what of the tree it can't say."""

    text: str
    notes: tuple[Note, ...] = ()
    """Settings that only we read there, and those that are left out, each with its queue."""
