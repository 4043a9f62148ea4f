"""Reading of YAML and JSON texts with line numbers, and changing them without altering the rest of the text."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from io import StringIO
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarstring import ScalarString

from engine.formats.yaml import libyaml
from engine.formats.yaml.long_texts import offset_of
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.merge_keys import MOST_MERGED, UNREADABLE, count_merges
from engine.model.message import Message, gettext_noop
from engine.model.notes import ImportFailure, Note, NoteCollector, Severity

DEEPEST = 100
"""Deepest nesting of brackets that is read: the time that the YAML reader takes grows with the square of the depth."""
MOST_VALUES = 1_000_000
"""Largest number of values in a document; values that aliases repeat count each time."""

MOST_NOTES = 200_000
"""Largest number of notes on unknown fields; each field of 20,000 queues that has no counterpart here gets one."""

_ANCHOR = re.compile(r"^[^#\n]*[\s\[{,]&\w", re.MULTILINE)


def load(text: str, *, for_writing: bool = False) -> list[Any]:
    """Return every document of a text as mappings and lists that know their lines. Raise ImportFailure.

    ``for_writing``: keep comments and everything else that is written back, which takes twenty times as long.
    """
    return _whole(text) if for_writing else _read(text)


def _read(text: str) -> list[Any]:
    try:
        return libyaml.load(text, DEEPEST, MOST_VALUES)
    except libyaml.TooManyValuesError:
        raise _too_many_values() from None
    except libyaml.NotPlainError as odd:
        _check_depth(text)
        if len(text) <= libyaml.LONGEST_ODD:
            return _whole(text)
        if odd.problem:
            raise failure(odd.line, gettext_noop("This is not valid YAML: %(problem)s."), odd.problem) from odd
        message = gettext_noop(
            "A document longer than %(most)s KiB must not use tags, aliases, merge keys, dates, unusual "
            "number formats, tabs or duplicate keys. Its nesting is limited to 100 levels."
        )
        raise failure(odd.line, message, str(libyaml.LONGEST_ODD // 1024), "most") from odd


def _whole(text: str) -> list[Any]:
    _check_depth(text)
    try:
        merges = count_merges(text)
        yaml = YAML(typ="rt")
        yaml.preserve_quotes = True
        documents = list(yaml.load_all(text)) if merges <= MOST_MERGED else []
    except UNREADABLE as error:
        raise failure(
            _line_of_error(error), gettext_noop("This is not valid YAML: %(problem)s."), _problem(error)
        ) from error
    if merges > MOST_MERGED:
        raise failure(None, gettext_noop("The document merges more than %(most)s mappings."), str(MOST_MERGED), "most")
    _check_size(documents)
    return documents


def _check_depth(text: str) -> None:
    """Raise ImportFailure for brackets that are nested too deeply, brackets inside strings included."""
    steps = (1 if mark in "[{" else -1 for mark in text if mark in "[]{}")
    if max(accumulate(steps), default=0) > DEEPEST:
        raise failure(None, gettext_noop("Brackets are nested more than %(most)s levels deep."), str(DEEPEST), "most")


def _check_size(documents: Sequence[Any]) -> None:
    """Raise ImportFailure for too many values: with aliases, a few lines can describe a very large number of values."""
    values_left, pending = MOST_VALUES, list(documents)
    while pending:
        value = pending.pop()
        values_left -= 1
        if values_left < 0:
            raise _too_many_values()
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _too_many_values() -> ImportFailure:
    return failure(None, gettext_noop("The document has more than %(most)s values."), str(MOST_VALUES), "most")


def dump(documents: Sequence[Any], sample: str = "") -> str:
    """Return the documents as text in the notation of ``sample``: JSON if that is JSON, else YAML with its indents."""
    if is_json(sample):
        written = json.dumps(plain(documents[0]), indent=_json_indent(sample), ensure_ascii=sample.isascii())
        return written + ("\n" if sample.endswith("\n") else "")
    yaml, stream = YAML(typ="rt"), StringIO()
    yaml.width = 4096
    yaml.allow_unicode = True
    yaml.preserve_quotes = True
    offset = offset_of(sample)
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    yaml.explicit_start = sample.lstrip().startswith("---")
    yaml.dump_all(documents, stream)
    return stream.getvalue()


def typed_like(text: str, sample: Any) -> Any:
    """Return an amount in the notation of another value: in the same quotes, or without quotes if it has none."""
    if isinstance(sample, ScalarString):
        return type(sample)(text)
    is_number = sample is not None and text.isdecimal()
    return int(text) if is_number else text


def to_commented(value: Any) -> Any:
    """Return a value in the types of the YAML writer, which keep the order of its keys among values that were read."""
    if isinstance(value, Mapping):
        return CommentedMap((key, to_commented(item)) for key, item in value.items())
    return [to_commented(item) for item in value] if isinstance(value, list) else value


def expand_aliases(text: str) -> str:
    """Return a text without anchors and aliases, so that each value can be changed by itself; comments are lost."""
    return dump([to_commented(plain(document)) for document in load(text, for_writing=True)], text)


def may_have_aliases(text: str) -> bool:
    """Return whether a text may contain values that are shared through anchors and aliases."""
    return _ANCHOR.search(text) is not None


def is_json(text: str) -> bool:
    """Return whether a text is written as JSON, which is also valid YAML."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def splice_changes(text: str, before: str, after: str) -> str:
    """Return ``text`` with only those lines changed that differ between ``before`` and ``after``.

    ``before`` and ``after`` are dumps of the content before and after the change. Details that only the dump would
    change, such as blanks, keep their original notation. If the lines can't be matched reliably, ``after`` is returned:
    the result always has the same content as ``after``.
    """
    if before == after:
        return text
    spliced = _splice(text.splitlines(keepends=True), before.splitlines(True), after.splitlines(True))
    if before == text or _same(spliced, after):
        return spliced
    return after


def _splice(text: list[str], before: list[str], after: list[str]) -> str:
    """Return ``text`` with the counterpart of each changed part of ``before`` replaced by that part of ``after``."""
    at: dict[int, int] = {-1: -1, len(before): len(text)}  # line number in before -> its line number in the text
    matching = _edits([_words(line) for line in before], [_words(line) for line in text])
    for _kind, start, end, text_start, text_end in matching:
        if end - start == text_end - text_start:  # equal lines, or the same lines in another notation
            at |= {start + step: text_start + step for step in range(end - start)}
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


def _same(first: str, second: str) -> bool:
    """Return whether two texts have the same content, apart from comments."""
    try:
        return [plain(part) for part in load(first)] == [plain(part) for part in load(second)]
    except (ImportFailure, RecursionError):
        return False


def line_of(mapping: Any, key: Any) -> int | None:
    """Return the line, from 1, of a key or of an item of a list; None if the value was not read from text."""
    if isinstance(mapping, libyaml.LineMapping | libyaml.LineList):
        at = mapping.line_of(key)
        return None if at is None else at + 1
    places = getattr(getattr(mapping, "lc", None), "data", None) or {}
    return places[key][0] + 1 if key in places else None


def line_of_start(value: Any) -> int | None:
    """Return the line, from 1, at which a mapping or list begins; None if it was not read from text."""
    if isinstance(value, libyaml.LineMapping | libyaml.LineList):
        return value.line + 1
    line = getattr(getattr(value, "lc", None), "line", None)
    return None if line is None else line + 1


def mapping_at(parent: Mapping[str, Any], key: str, path: str, book: NoteCollector) -> Mapping[str, Any]:
    """Return the mapping under a key, empty if it is missing; a value that is no mapping is an error."""
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        book.add(Severity.ERROR, path, line_of(parent, key), gettext_noop("%(key)s must be a mapping."), key=key)
        return {}
    return value


def list_at(parent: Mapping[str, Any], key: str, path: str, book: NoteCollector) -> list[Any]:
    """Return the list under a key, empty if it is missing; a value that is no list is an error."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        book.add(Severity.ERROR, path, line_of(parent, key), gettext_noop("%(key)s must be a list."), key=key)
        return []
    return value


def note_others(
    mapping: Mapping[str, Any], read: Collection[str], path: str, book: NoteCollector, *, known: Collection[str] = ()
) -> None:
    """Add a note for each field that is not in ``read``.

    A field in ``known`` has a meaning in its own system; it is kept although it means nothing here. Any other field is
    most likely misspelled.
    """
    unread = [field for field in mapping if field not in read]
    if len(book.notes) + len(unread) > MOST_NOTES:
        message = gettext_noop("The document has more than %(most)s unknown fields.")
        raise failure(None, message, str(MOST_NOTES), "most")
    for field in sorted(unread, key=str):
        line, name = line_of(mapping, field), str(field)
        book.others[path, name] = line, plain(mapping[field])
        if field in known:
            message = gettext_noop("%(field)s has no counterpart here. It is kept and written back unchanged.")
            book.add(Severity.INFO, path, line, message, field=name)
        elif near := book.is_suggesting and closest_match(name, {*read, *known}):
            message = gettext_noop("%(field)s is not a known field, so it is ignored. Did you mean %(near)s?")
            book.add(Severity.WARNING, path, line, message, field=name, near=near)
        else:
            message = gettext_noop("%(field)s is not a known field, so it is ignored.")
            book.add(Severity.WARNING, path, line, message, field=name)


def closest_match(name: str, known: Collection[str]) -> str | None:
    """Return the known key that is most similar to a name, ignoring case; None if none is similar."""
    by_small = {key.lower(): key for key in sorted(known)}
    near = get_close_matches(name.lower(), by_small, 1)
    return by_small[near[0]] if near else None


def failure(line: int | None, message: str, value: str = "", name: str = "problem") -> ImportFailure:
    """Return the failure of a whole document, with one error whose message has ``value`` as parameter ``name``."""
    params = {name: value} if value else {}
    return ImportFailure((Note(severity=Severity.ERROR, path="", line=line, message=Message(message, params)),))


def _json_indent(text: str) -> int | None:
    match = re.match(r"\s*[\[{]\n( +)", text)
    return len(match[1]) if match else None


def _problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the document is nested too deeply"
    if not isinstance(error, YAMLError | ValueError):
        return "it has a key or a value that can't be read"
    return str(getattr(error, "problem", None) or str(error).partition("\n")[0])


def _line_of_error(error: Exception) -> int | None:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    return mark.line + 1 if mark is not None else None
