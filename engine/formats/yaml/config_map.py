"""Access to a queues.yaml inside another document: a ConfigMap, Helm values, or kubectl's output of either."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from ruamel.yaml.scalarstring import LiteralScalarString

from engine.formats.yaml.documents import failure, is_json, line_of, load
from engine.formats.yaml.edited_text import EditedText
from engine.model.message import gettext_noop
from engine.model.notes import ImportFailure, Note

_PARTITIONS = re.compile(r"""^["']?partitions["']?\s*:""", re.MULTILINE)
"""Pattern of the beginning of a queues.yaml, apart from comments."""
_NAMED = re.compile(r"""\.ya?ml["']?\s*:""")
"""Pattern of the key that holds a queues.yaml in other documents: ``queues.yaml``, or the name of a policy group."""
_DEEPEST = 8


class EmbeddedDocument(NamedTuple):
    """A document that is embedded in another document."""

    text: str
    holder: Any
    """The mapping that holds the embedded document, under ``key``."""
    key: str
    above: int | None
    """Number of lines before the embedded document in the whole text; None if it is not written line by line."""

    def outside(self, note: Note) -> Note:
        """Return the note with its line in the whole text."""
        known = note.line is not None and self.above is not None
        line = note.line + self.above if known and note.line is not None and self.above is not None else None
        return msgspec.structs.replace(note, line=line)


def find_embedded(text: str) -> EmbeddedDocument | None:
    """Return the queues.yaml inside a text; None if the text is itself a queues.yaml, or contains none.

    Raise ImportFailure for a text that contains several, or that can't be read.
    """
    if _PARTITIONS.search(text) or not _NAMED.search(text):
        return None
    places = list(_inside(load(text), 0))
    if len(places) > 1:
        keys = ", ".join(sorted({key for _, key in places}))
        message = gettext_noop("The document contains more than one queues.yaml (%(keys)s). Provide only one of them.")
        raise failure(line_of(*places[1]), message, keys, "keys")
    if not places:
        return None
    holder, key = places[0]
    return EmbeddedDocument(str(holder[key]), holder, key, _lines_above(text, holder, key))


def replace_embedded(text: str, inner: str) -> str:
    """Return the text with its queues.yaml replaced and everything else as it was typed.

    Raise ImportFailure for the texts for which ``find_embedded`` raises it.
    """
    edited = EditedText(text)
    ((holder, key),) = _inside(edited.documents, 0)
    holder[key] = inner if is_json(text) else LiteralScalarString(inner)
    return edited.written(edited.documents)


def _inside(value: Any, depth: int) -> Iterator[tuple[Any, str]]:
    """Yield every mapping that holds a queues.yaml, and the key that holds it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and _NAMED.search(f"{key}:") and _PARTITIONS.search(item):
                yield value, str(key)
            else:
                yield from _inside(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item, depth + 1)


def _lines_above(text: str, holder: Any, key: str) -> int | None:
    line, first = line_of(holder, key), str(holder[key]).split("\n", 1)[0].strip()
    lines = text.splitlines()
    if line is None or line >= len(lines) or lines[line].strip() != first:
        return None  # the text is quoted or folded
    return line


def relocate_failure(wrapped: EmbeddedDocument, failure: ImportFailure) -> ImportFailure:
    """Return the failure of an embedded document with the lines of the whole text."""
    return ImportFailure(tuple(map(wrapped.outside, failure.notes)))
