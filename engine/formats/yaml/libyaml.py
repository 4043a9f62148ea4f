"""A reader of plain YAML on top of libyaml, a parser in C that takes a twentieth of the time of ruamel.yaml.

Values and line numbers are the same as from ruamel.yaml (YAML 1.2: ``on`` is no bool and ``010`` no octal number);
comments and the notation of values are lost. Whatever the two parsers may interpret differently, and whatever is not
valid YAML, is left to ruamel.yaml: tags, aliases, merges, dates, unusual numbers, repeated keys.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

LONGEST_ODD = 64 * 1024
"""Largest number of characters in a text that is left to ruamel.yaml, which takes two seconds for a text of this
length."""
_OWN_WAYS = re.compile("[\t\r\x85\u2028\u2029\ufeff]")
"""Tabs, and the additional line breaks of YAML 1.1."""
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}")
_NUMBER = re.compile(r"[-+.]?[0-9_.]|[-+]?\.(inf|nan)", re.IGNORECASE)
"""Pattern of the beginning of every number and date."""
_IN_NUMBERS = frozenset("0123456789abcdefABCDEFxXoOnNiItTzZ_:.+- ")
"""Characters that occur in numbers and dates."""
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_AFTER_ANCHORS = frozenset(("", " ", "\n"))
"""Characters that end the name of an anchor in every version of YAML."""
_MERGE, _VALUE = "<<", "="
_NOTHING = object()
_FEW = 8
"""Keys that are faster to go through than to look up."""


class NotPlainError(Exception):
    """A text that only ruamel.yaml can read.

    ``line``, from 1, is the place; ``problem`` is the error that libyaml reports.
    """

    def __init__(self, line: int | None = None, problem: str = "") -> None:
        super().__init__()
        self.line, self.problem = line, problem


class TooManyValuesError(Exception):
    """A text with more values than are read."""


class LineMapping(dict[Any, Any]):
    """A mapping that knows its line numbers, counted from zero; once it is changed, they are wrong."""

    __slots__ = ("_by_key", "line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []
        """Line of each key, in the order of the keys."""
        self._by_key: dict[Any, int] | None = None

    def line_of(self, key: Any) -> int | None:
        """Return the line of a key; None if the key is missing."""
        if len(self.lines) <= _FEW:
            for known, line in zip(self, self.lines, strict=False):
                if known == key:
                    return line
            return None
        if self._by_key is None:
            self._by_key = dict(zip(self, self.lines, strict=False))
        return self._by_key.get(key)


class LineList(list[Any]):
    """A list that knows its line numbers, counted from zero; once it is changed, they are wrong."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []
        """Line of each item."""

    def line_of(self, index: Any) -> int | None:
        """Return the line of the item at an index; None if there is no such item."""
        return self.lines[index] if isinstance(index, int) and 0 <= index < len(self.lines) else None


def load(text: str, deepest: int, most: int) -> list[Any]:
    """Return every document of a text.

    Raise NotPlainError for other than plain YAML, or nesting beyond ``deepest``, and TooManyValuesError for more than
    ``most`` values.
    """
    if special := _OWN_WAYS.search(text):
        raise NotPlainError(text.count("\n", 0, special.start()) + 1)
    try:
        return _documents(yaml.CSafeLoader(text), text, deepest, most)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise NotPlainError(mark.line + 1 if mark else None, error.problem or "") from error
    except (yaml.YAMLError, ValueError) as error:  # a character that YAML does not allow
        raise NotPlainError(None, str(error).partition("\n")[0]) from error


_NODES: Mapping[Any, Any] = {
    yaml.ScalarEvent: None,
    yaml.MappingStartEvent: LineMapping,
    yaml.SequenceStartEvent: LineList,
}
_ENDS = frozenset((yaml.MappingEndEvent, yaml.SequenceEndEvent))


class _Scalars:
    """The scalars of a text: equal ones are read once and become one object."""

    def __init__(self) -> None:
        self._words = dict(_WORDS)
        self._quoted: dict[str, str] = {}

    def value(self, event: yaml.ScalarEvent, line: int) -> Any:
        """Return the value of a scalar at a line. Raise NotPlainError for one that is left to ruamel.yaml."""
        word = event.value
        if event.style:
            return self._quoted.setdefault(word, word)
        value = self._words.get(word, _NOTHING)
        if value is _NOTHING:
            value = self._words[word] = _plain(word, line)
        return value


def _documents(parser: yaml.CSafeLoader, text: str, deepest: int, most: int) -> list[Any]:
    """Return the documents of a parser. Most of the time of a large document is spent in this loop."""
    documents, scalars, values_left = LineList(0), _Scalars(), most
    into: LineMapping | LineList = documents
    """The mapping or list that is being read."""
    key: Any = _NOTHING
    """In a mapping, the key whose value comes next."""
    opened: list[tuple[LineMapping | LineList, Any]] = []
    """The mappings and lists around it, each with its key."""
    event: Any
    while (kind := type(event := parser.get_event())) is not yaml.StreamEndEvent:
        if kind in _ENDS:
            into, key = opened.pop()
            continue
        if kind not in _NODES:
            _check_other(event)
            continue
        line = event.start_mark.line
        if event.tag is not None or (event.anchor and _anchor_continues(text, event)):
            raise NotPlainError(line + 1)
        value = scalars.value(event, line) if kind is yaml.ScalarEvent else _NODES[kind](line)
        if key is _NOTHING and isinstance(into, LineMapping):
            _take_key(into, value, line)
            key = value
            continue
        values_left -= 1
        if values_left < 0:
            raise TooManyValuesError
        if isinstance(into, LineMapping):
            into[key] = value
            key = _NOTHING
        else:
            into.lines.append(line)
            into.append(value)
        if kind is not yaml.ScalarEvent:
            opened.append((into, key))
            into, key = value, _NOTHING
            if len(opened) > deepest:
                raise NotPlainError(line + 1)
    return list(documents)


def _take_key(into: LineMapping, key: Any, line: int) -> None:
    """Add a key whose value comes next. Raise NotPlainError for one that is repeated, or is a mapping or list."""
    if isinstance(key, LineMapping | LineList) or key in into:
        raise NotPlainError(line + 1)
    into.lines.append(line)
    into[key] = None


def _check_other(event: yaml.Event) -> None:
    """Raise NotPlainError for an alias, and for a document that begins with directives."""
    directives = isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags)
    if directives or isinstance(event, yaml.AliasEvent):
        assert event.start_mark is not None
        raise NotPlainError(event.start_mark.line + 1)


def _plain(word: str, line: int) -> Any:
    """Return the value of a word without quotes at a line. Raise NotPlainError."""
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if word in {_MERGE, _VALUE} or (_NUMBER.match(word) and _IN_NUMBERS.issuperset(word)):
        raise NotPlainError(line + 1)
    return word


def _anchor_continues(text: str, event: yaml.NodeEvent) -> bool:
    """Return whether the name of an anchor continues in YAML 1.2 where libyaml ends it: ``&a:``."""
    assert event.start_mark is not None
    end = event.start_mark.index + 1 + len(event.anchor or "")
    return text[end : end + 1] not in _AFTER_ANCHORS
