"""A queues.yaml inside another document: in a ConfigMap, in Helm values, or in what kubectl prints of these."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from ruamel.yaml.scalarstring import LiteralScalarString

from engine.formats.yaml.documents import dump, failure, is_json, line_of, load, rewritten
from engine.model.notes import ImportFailure, Note, gettext_noop

_PARTITIONS = re.compile(r"""^["']?partitions["']?\s*:""", re.MULTILINE)
"""How a queues.yaml begins, comments aside."""
_NAMED = re.compile(r"""\.ya?ml["']?\s*:""")
"""Under a key like this it lies inside other documents: ``queues.yaml``, or the name of a policy group."""
_DEEPEST = 8


class Wrapped(NamedTuple):
    """A document inside another."""

    text: str
    holder: Any
    """The mapping that holds it, and under which key."""
    key: str
    above: int | None
    """How many lines of the whole text come before its first; None where it is not written line by line."""

    def outside(self, note: Note) -> Note:
        """The note at the line of the whole text."""
        known = note.line is not None and self.above is not None
        line = note.line + self.above if known and note.line is not None and self.above is not None else None
        return msgspec.structs.replace(note, line=line)


def unwrapped(text: str) -> Wrapped | None:
    """The queues.yaml inside a text; None where the text is one itself, or holds none.

    Raises ImportFailure for a text that holds several, or that can't be read.
    """
    if _PARTITIONS.search(text) or not _NAMED.search(text):
        return None
    found = list(_inside(load(text), 0))
    if len(found) > 1:
        keys = ", ".join(sorted({key for _, key in found}))
        message = gettext_noop("There is more than one queues.yaml in it (%(keys)s): give one of them.")
        raise failure(line_of(*found[1]), message, keys, "keys")
    if not found:
        return None
    holder, key = found[0]
    return Wrapped(str(holder[key]), holder, key, _lines_above(text, holder, key))


def rewrapped(text: str, inner: str) -> str:
    """The text with another queues.yaml inside, and all else as it was typed. Raises ImportFailure as ``unwrapped``."""
    documents = load(text, kept=True)
    before = dump(documents, text)
    ((holder, key),) = _inside(documents, 0)
    holder[key] = inner if is_json(text) else LiteralScalarString(inner)
    return rewritten(text, before, dump(documents, text))


def _inside(value: Any, depth: int) -> Iterator[tuple[Any, str]]:
    """Every mapping that holds one, and under which key."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, one in value.items():
            if isinstance(one, str) and _NAMED.search(f"{key}:") and _PARTITIONS.search(one):
                yield value, str(key)
            else:
                yield from _inside(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _inside(one, depth + 1)


def _lines_above(text: str, holder: Any, key: str) -> int | None:
    line, first = line_of(holder, key), str(holder[key]).split("\n", 1)[0].strip()
    lines = text.splitlines()
    if line is None or line >= len(lines) or lines[line].strip() != first:
        return None  # in quotes, or folded
    return line


def failed(wrapped: Wrapped, failure: ImportFailure) -> ImportFailure:
    """The failure of the document inside, at the lines of the whole text."""
    return ImportFailure(tuple(map(wrapped.outside, failure.notes)))
