"""Texts in YAML or JSON that people keep: read with the lines of everything, changed with all else as it was typed."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from io import StringIO
from itertools import accumulate, pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarstring import ScalarString

from engine.formats.yaml import libyaml
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.merge_keys import MOST_MERGED, UNREADABLE, merged
from engine.model.notes import ImportFailure, Note, Notebook, Severity, gettext_noop

DEEPEST = 100
"""Brackets nested deeper are refused unread: the time that the YAML reader takes grows with their depth squared."""
MOST_VALUES = 300_000
"""Of a document, those that aliases repeat counted again."""

_ANCHOR = re.compile(r"^[^#\n]*[\s\[{,]&\w", re.MULTILINE)
_KEY = re.compile(r"( *)[^\s#-][^#]*:\s*(#.*)?")
_ITEM = re.compile(r"( *)- ")


def load(text: str, *, kept: bool = False) -> list[Any]:
    """Every document of a text as mappings and lists that know their lines. Raises ImportFailure.

    ``kept``: with comments and all else that is to be written back, which takes twenty times as long.
    """
    if _depth(text) > DEEPEST:
        raise failure(None, gettext_noop("Brackets are nested more than %(most)s deep."), str(DEEPEST), "most")
    documents = _whole(text) if kept else _read(text)
    _check_size(documents)
    return documents


def _read(text: str) -> list[Any]:
    try:
        return libyaml.load(text, DEEPEST)
    except libyaml.NotPlainError as odd:
        if len(text) <= libyaml.LONGEST_ODD:
            return _whole(text)
        if odd.problem:
            raise failure(odd.line, gettext_noop("This is not YAML: %(problem)s."), odd.problem) from odd
        message = gettext_noop(
            "Longer than %(most)s KiB, a document may have no tags, aliases, merges, dates, odd numbers, tabs, or keys "
            "that repeat, and nothing nested more than a hundred deep."
        )
        raise failure(odd.line, message, str(libyaml.LONGEST_ODD // 1024), "most") from odd


def _whole(text: str) -> list[Any]:
    try:
        merges = merged(text)
        yaml = YAML(typ="rt")
        yaml.preserve_quotes = True
        documents = list(yaml.load_all(text)) if merges <= MOST_MERGED else []
    except UNREADABLE as error:
        raise failure(_line_of_error(error), gettext_noop("This is not YAML: %(problem)s."), _problem(error)) from error
    if merges > MOST_MERGED:
        raise failure(None, gettext_noop("More than %(most)s mappings are merged."), str(MOST_MERGED), "most")
    return documents


def _check_size(documents: Sequence[Any]) -> None:
    """Raise ImportFailure for more values than anybody types: aliases describe very many in a few lines."""
    left, pending = MOST_VALUES, list(documents)
    while pending:
        one = pending.pop()
        left -= 1
        if left < 0:
            raise failure(None, gettext_noop("There are more than %(most)s values."), str(MOST_VALUES), "most")
        if isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, list):
            pending += one


def dump(documents: Sequence[Any], like: str = "") -> str:
    """The documents as text: JSON where the text that they are ``like`` is JSON, else YAML indented as it is there."""
    if is_json(like):
        written = json.dumps(plain(documents[0]), indent=_json_indent(like), ensure_ascii=like.isascii())
        return written + ("\n" if like.endswith("\n") else "")
    yaml, stream = YAML(typ="rt"), StringIO()
    yaml.width = 4096
    yaml.allow_unicode = True
    yaml.preserve_quotes = True
    offset = _offset(like)
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    yaml.explicit_start = like.lstrip().startswith("---")
    yaml.dump_all(documents, stream)
    return stream.getvalue()


def typed_like(text: str, other: Any) -> Any:
    """An amount as it is typed beside another: in the same quotes, and without any where that has none."""
    if isinstance(other, ScalarString):
        return type(other)(text)
    bare = other is not None and text.isdecimal()
    return int(text) if bare else text


def commented(value: Any) -> Any:
    """A value as the YAML writer takes it beside what was read, in its own order."""
    if isinstance(value, Mapping):
        return CommentedMap((key, commented(item)) for key, item in value.items())
    return [commented(item) for item in value] if isinstance(value, list) else value


def expanded(text: str) -> str:
    """The same without anchors and aliases, so that each value can be changed by itself; comments are lost."""
    return dump([commented(plain(one)) for one in load(text, kept=True)], text)


def shares(text: str) -> bool:
    """Whether values of a text may be shared by anchors and aliases."""
    return _ANCHOR.search(text) is not None


def is_json(text: str) -> bool:
    """Whether a text is written as JSON, which YAML can be as well."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def rewritten(text: str, before: str, after: str) -> str:
    """``text`` with the lines changed that differ between two dumps, of what it said and of what it is to say.

    What only the dumping would change, such as blanks, stays as it was typed. Where that can't be told apart the dump
    is taken as it is: it always says the same as the answer.
    """
    if before == after:
        return text
    spliced = _spliced(text.splitlines(keepends=True), before.splitlines(True), after.splitlines(True))
    if before == text or _same(spliced, after):
        return spliced
    return after


def _spliced(text: list[str], before: list[str], after: list[str]) -> str:
    """The lines of ``text``; those that stand for a changed part of ``before`` become that part of ``after``."""
    at: dict[int, int] = {-1: -1, len(before): len(text)}  # a line of before -> the line of the text that it is
    alike = _edits([_words(line) for line in before], [_words(line) for line in text])
    for _kind, start, end, there, there_end in alike:
        if end - start == there_end - there:  # the same, or the same lines written otherwise
            at |= {start + step: there + step for step in range(end - start)}
    written: list[str] = []
    done = 0
    for kind, start, end, new_start, new_end in _edits(before, after):
        if kind == "equal":
            continue
        first, last = start, end
        while first not in at and first - 1 not in at:
            first -= 1
        while last - 1 not in at and last not in at:
            last += 1
        begins = at[first] if first in at and first < last else at[first - 1] + 1 if first - 1 in at else at[first]
        ends = begins if first == last else at[last - 1] + 1 if last - 1 in at else max(begins, at[last])
        written += [*text[done:begins], *before[first:start], *after[new_start:new_end], *before[end:last]]
        done = max(done, ends)
    return "".join([*written, *text[done:]])


def _edits(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _words(line: str) -> str:
    return " ".join(line.split())


def _same(one: str, other: str) -> bool:
    """Whether two texts say the same, comments aside."""
    try:
        return [plain(part) for part in load(one)] == [plain(part) for part in load(other)]
    except (ImportFailure, RecursionError):
        return False


def line_of(mapping: Any, key: Any) -> int | None:
    """The line of a key, or of a list's item, counted from one; None where it does not come from text."""
    places = getattr(getattr(mapping, "lc", None), "data", None) or {}
    return places[key][0] + 1 if key in places else None


def line_of_start(value: Any) -> int | None:
    """The line at which a mapping or list begins, likewise."""
    line = getattr(getattr(value, "lc", None), "line", None)
    return None if line is None else line + 1


def mapping_at(parent: Mapping[str, Any], key: str, path: str, book: Notebook) -> Mapping[str, Any]:
    """What stands there, nothing where it is no mapping, which is an error noted."""
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        book.add(Severity.ERROR, path, line_of(parent, key), gettext_noop("%(key)s must be a mapping."), key=key)
        return {}
    return value


def list_at(parent: Mapping[str, Any], key: str, path: str, book: Notebook) -> list[Any]:
    """Likewise of a list."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        book.add(Severity.ERROR, path, line_of(parent, key), gettext_noop("%(key)s must be a list."), key=key)
        return []
    return value


def note_others(
    mapping: Mapping[str, Any], read: Collection[str], path: str, book: Notebook, *, known: Collection[str] = ()
) -> None:
    """Say of each field that is not ``read`` what becomes of it.

    What its own system knows is kept though it means nothing here; what nobody knows is most likely misspelled.
    """
    for field in sorted(set(mapping) - set(read), key=str):
        line, name = line_of(mapping, field), str(field)
        book.others[path, name] = line, plain(mapping[field])
        if field in known:
            message = gettext_noop("%(field)s has no counterpart here; it is kept and written back.")
            book.add(Severity.INFO, path, line, message, field=name)
        elif near := nearest(name, {*read, *known}):
            message = gettext_noop("%(field)s is not known here and counts for nothing. Did you mean %(near)s?")
            book.add(Severity.WARNING, path, line, message, field=name, near=near)
        else:
            message = gettext_noop("%(field)s is not known here and counts for nothing.")
            book.add(Severity.WARNING, path, line, message, field=name)


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known key that somebody most likely meant, whatever its capitals; None where none is near."""
    by_small = {one.lower(): one for one in sorted(known)}
    near = get_close_matches(name.lower(), by_small, 1)
    return by_small[near[0]] if near else None


def failure(line: int | None, message: str, value: str = "", name: str = "problem") -> ImportFailure:
    """The failure of a whole document, with one error whose message names ``value`` as ``name``."""
    params = {name: value} if value else {}
    return ImportFailure((Note(severity=Severity.ERROR, path="", line=line, message=message, params=params),))


def _depth(text: str) -> int:
    """How deep brackets nest, those inside of texts counted too."""
    steps = (1 if mark in "[{" else -1 for mark in text if mark in "[]{}")
    return max(accumulate(steps), default=0)


def _offset(text: str) -> int:
    """By how much the items of lists stand to the right of their key; 2 where the text has none."""
    lines = text.splitlines()
    for above, below in pairwise(lines):
        key, item = _KEY.fullmatch(above), _ITEM.match(below)
        if key and item and len(item[1]) >= len(key[1]):
            return min(len(item[1]) - len(key[1]), 8)
    return 2


def _json_indent(text: str) -> int | None:
    match = re.match(r"\s*[\[{]\n( +)", text)
    return len(match[1]) if match else None


def _problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, YAMLError | ValueError):
        return "it has a key or a value that can't be read"
    return str(getattr(error, "problem", None) or str(error).partition("\n")[0])


def _line_of_error(error: Exception) -> int | None:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    return mark.line + 1 if mark is not None else None
