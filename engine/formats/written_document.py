"""The result of writing a tree into another system's document."""

import msgspec

from engine.model.notes import Note


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The written document, with notes on settings of the tree that it cannot express."""

    text: str
    notes: tuple[Note, ...] = ()
    """Notes on settings that only this product reads there, and on settings that are left out, each with its queue."""
