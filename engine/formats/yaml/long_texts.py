"""Changing of long YAML texts line by line, for which ruamel.yaml would take minutes.

A text is divided where its mappings and lists are: a key with its value, or an item of a list, has its own lines. What
is equal stays as it is, comments included; what differs is divided further, down to a single value. A part that can't
be divided, such as a mapping in braces, is written anew.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from engine.formats.yaml.emitter import emit
from engine.formats.yaml.libyaml import LineList, LineMapping
from engine.formats.yaml.manifests import plain

_DOCUMENT = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_ITEM = re.compile(r" *- +(?=[^\s#])")
_KEY = r"""(?:"[^"\\]*"|'[^']*'|[^\s"'#:\[{?-][^"'#:]*)"""
_SCALAR = r"""(?:'[^']*'|"[^"\\]*"|[^\s"'#&*!|>\[{][^#]*?)"""
_VALUE = re.compile(rf"({_KEY} *: +)({_SCALAR})( +#.*)?\n")
"""Pattern of a line with a key and its value, and a comment."""
_LONGEST_LINE = 1_000
"""Longest line that the pattern is tried on, in characters: its time grows with the square of the length."""
_LISTED = re.compile(r"^( *)[^\s#-][^#\n]*: *(?:#.*)?\n( *)- ", re.MULTILINE)
_NAMES = ("kind", "path", "name")


def offset_of(text: str) -> int:
    """Return by how many columns list items are indented relative to their key; 2 if the text has no such list."""
    offsets = (len(match[2]) - len(match[1]) for match in _LISTED.finditer(text))
    return min(next((offset for offset in offsets if offset >= 0), 2), 8)


def documents_in(text: str) -> list[str]:
    """Return the texts of the documents, which together are the text.

    The lines with ``---`` belong to the document below them, as do the comments above the first of these lines.
    """
    starts = [match.start() for match in _DOCUMENT.finditer(text)]
    if not starts or any(line.strip() and not line.startswith("#") for line in text[: starts[0]].splitlines()):
        starts = [0, *starts]
    starts[0] = 0
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def change_document(text: str, before: Any, after: Any, offset: int) -> str:
    """Return the text of a document with its content changed from ``before``, as libyaml reads the text, to ``after``.

    Raise ValueError if the text can't be divided.
    """
    if isinstance(before, LineMapping) and isinstance(after, Mapping):
        return "".join(_mapping(text.splitlines(keepends=True), 0, before, after, offset))
    raise ValueError


def _mapping(lines: list[str], top: int, before: LineMapping, after: Mapping[Any, Any], offset: int) -> list[str]:
    """Return the lines of a mapping, not indented, with other content. ``top``: line in the document of the first."""
    starts = [*(line - top for line in before.lines), len(lines)]
    _check_block(lines[starts[0]], starts)
    written = lines[: starts[0]]
    for key, (start, end) in zip(before, pairwise(starts), strict=True):
        if key in after:
            same = before[key] == after[key] and type(before[key]) is type(after[key])
            own = lines[start:end]
            written += own if same else _entry(own, top + start, key, before[key], after[key], offset)
    return [*written, *(emit([{key: plain(after[key])}], offset) for key in after if key not in before)]


def _entry(lines: list[str], top: int, key: Any, before: Any, after: Any, offset: int) -> list[str]:
    """Return the lines of a key with another value."""
    if isinstance(before, LineMapping | LineList) and before and before.line > top:
        first = lines[before.line - top]
        indent = len(first) - len(first.lstrip(" "))
        inner = [_unindented(line, indent) for line in lines[1:]]
        if isinstance(before, LineMapping) and isinstance(after, Mapping) and after:
            return [lines[0], *_indented(_mapping(inner, top + 1, before, after, offset), indent)]
        if isinstance(before, LineList) and isinstance(after, list) and after:
            return [lines[0], *_indented(_list(inner, top + 1, before, after, offset), indent)]
    match = _VALUE.fullmatch(lines[0]) if len(lines[0]) <= _LONGEST_LINE else None
    written = emit([{key: plain(after)}], offset)
    if match and not isinstance(before, Mapping | list) and not isinstance(after, Mapping | list):
        text = _like(after, match[2]) or written.partition(": ")[2].rstrip("\n")
        if text and "\n" not in text:
            return [f"{match[1]}{text}{match[3] or ''}\n", *lines[1:]]
    return [written]


def _like(value: Any, notation: str) -> str:
    """Return the text of a value in the same quotes as another one; empty if that has none, or they do not fit."""
    quote = notation[0]
    fits = quote in "'\"" and isinstance(value, str | int) and not isinstance(value, bool)
    return f"{quote}{value}{quote}" if fits and not re.search(r"['\"\\\n]", str(value)) else ""


def _list(lines: list[str], top: int, before: LineList, after: Sequence[Any], offset: int) -> list[str]:
    """Return the lines of a list, not indented, with other items. Items with the same name are the same."""
    starts = [*(line - top for line in before.lines), len(lines)]
    _check_block(lines[starts[0]], starts)
    places = {_name(item) or place: place for place, item in enumerate(before)}
    written = lines[: starts[0]]
    for number, item in enumerate(after):
        place = places.pop(_name(item) or number, None)
        if place is None:
            written.append(emit([[plain(item)]], offset))
            continue
        own, was = lines[starts[place] : starts[place + 1]], before[place]
        written += own if was == item else _item(own, top + starts[place], was, item, offset)
    return written


def _item(lines: list[str], top: int, before: Any, after: Any, offset: int) -> list[str]:
    dash = _ITEM.match(lines[0])
    if dash is None or not isinstance(before, LineMapping) or not isinstance(after, Mapping):
        return [emit([[plain(after)]], offset)]
    indent = len(dash[0])
    inner = [lines[0][indent:], *(_unindented(line, indent) for line in lines[1:])]
    changed = "".join(_indented(_mapping(inner, top, before, after, offset), indent))
    return [dash[0] + changed[indent:]]


def _check_block(first: str, starts: Iterable[int]) -> None:
    """Raise ValueError unless every key or item has its own lines."""
    if first.startswith(("{", "[", "? ")) or any(start >= end for start, end in pairwise(starts)):
        raise ValueError


def _name(item: Any) -> tuple[str, ...]:
    """Return what identifies an item of a list; empty if nothing does."""
    if not isinstance(item, Mapping):
        return ()
    metadata = item.get("metadata")
    of_object = (metadata.get("namespace"), metadata.get("name")) if isinstance(metadata, Mapping) else ()
    parts = (*map(item.get, _NAMES), *of_object)
    return tuple(map(str, parts)) if any(part is not None for part in parts) else ()


def _unindented(line: str, indent: int) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(indent, blanks) :]


def _indented(lines: Iterable[str], indent: int) -> list[str]:
    blanks = " " * indent
    return [blanks + line if line.strip() else line for text in lines for line in text.splitlines(keepends=True)]
