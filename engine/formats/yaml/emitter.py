"""A writer of new YAML texts, in the style of ruamel.yaml but thirty times as fast.

It writes mappings, lists and scalars without comments. Which scalars need quotes, ruamel.yaml decides, apart from
names and amounts, which are most of any document.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{5,200}( [A-Za-z0-9_./-]{1,200}){0,20}")
"""Pattern of texts that are longer than ``false``, and never need quotes."""
_AMOUNT = re.compile(r"[1-9][0-9]{0,17}(Ki|Mi|Gi|Ti|Pi|Ei|m|s)")
_DIGITS = re.compile(r"[1-9][0-9]{0,17}")
_ODD = re.compile(r"[^\x20-\x7e]")
_LITERAL = re.compile(r"(?:[^\s#][\t\x20-\x7e]*\n)(?:[\t\x20-\x7e]*\n)*(?<=[^\s]\n)")
"""Pattern of a text of lines that can stand as they are: it neither begins with a blank nor ends with an empty line."""


def emit(documents: Iterable[Any], offset: int = 2, *, explicit_start: bool = False) -> str:
    """Return documents as one text; items of lists are indented by ``offset`` relative to their key.

    ``explicit_start``: write the line ``---`` above the first document, too.
    """
    texts = ["".join(_lines(document, 0, offset)) for document in documents]
    return ("---\n" if explicit_start else "") + "---\n".join(texts)


def _lines(value: Any, indent: int, offset: int) -> Iterator[str]:
    """Yield the lines of a value that stands by itself, each with its indentation."""
    blanks = " " * indent
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _entry(f"{blanks}{_scalar(key)}:", inner, indent, offset)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _item(inner, indent, offset)
    else:
        yield f"{blanks}{_flat(value)}\n"


def _entry(key: str, value: Any, indent: int, offset: int) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield f"{key}\n"
        yield from _lines(value, indent + 2, offset)
    elif isinstance(value, list) and value:
        yield f"{key}\n"
        yield from _lines(value, indent + offset, offset)
    elif value is None:
        yield f"{key}\n"
    elif isinstance(value, str) and _LITERAL.fullmatch(value):
        yield f"{key} |\n"
        yield "".join(f"{' ' * (indent + 2)}{line}" if line.strip() else line for line in value.splitlines(True))
    else:
        yield f"{key} {_flat(value)}\n"


def _item(value: Any, indent: int, offset: int) -> Iterator[str]:
    """Yield the lines of an item of a list: its first line has the dash in place of the last blanks."""
    blanks = " " * indent
    if value is None:
        yield f"{blanks}-\n"
        return
    lines = _lines(value, indent + 2, offset)
    yield f"{blanks}- {next(lines)[indent + 2 :]}"
    yield from lines


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    return "[]" if isinstance(value, list) else _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _NAME.fullmatch(value) or _AMOUNT.fullmatch(value):
            return str(value)
        if _DIGITS.fullmatch(value):
            return f"'{value}'"
        if value[:1] in ("{", "[", '"') and value.isascii() and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        return _quoted(str(value)) if len(value) <= _LONGEST and value.isprintable() else _escaped(value)
    return str(value) if type(value) is int else _quoted(value)


_LONGEST = 1_000
"""Longest text that ruamel.yaml is asked about, in characters."""


def _escaped(value: str) -> str:
    """Return a text in double quotes, with every character that is not printed escaped."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _ODD.sub(lambda match: match[0] if match[0].isprintable() else f"\\U{ord(match[0]):08x}", quoted)


@lru_cache(maxsize=4096, typed=True)
def _quoted(value: Any) -> str:
    yaml, stream = YAML(typ="rt"), StringIO()
    yaml.width = 4096
    yaml.allow_unicode = True
    yaml.dump([value], stream)
    text = stream.getvalue()[2:-1]
    return _escaped(value) if "\n" in text else text
