"""A reader of plain YAML on top of libyaml, a parser in C that takes a twentieth of the time of ruamel.yaml.

Values and line numbers are the same as from ruamel.yaml (YAML 1.2: ``on`` is no bool and ``010`` no octal number);
comments and the notation of values are lost. Whatever the two parsers may interpret differently, and whatever is not
valid YAML, is left to ruamel.yaml: tags, aliases, merges, dates, unusual numbers, repeated keys.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
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


class NotPlainError(Exception):
    """A text that only ruamel.yaml can read.

    ``line``, from 1, is the place; ``problem`` is the error that libyaml reports.
    """

    def __init__(self, line: int | None = None, problem: str = "") -> None:
        super().__init__()
        self.line, self.problem = line, problem


@dataclass(slots=True)
class NodePlaces:
    """Position of a mapping or list, counted from zero, in the form of ruamel.yaml's ``lc``."""

    line: int
    data: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    """Key, or index in a list -> a tuple with its line."""


class LineMapping(dict[Any, Any]):
    """A mapping that knows its line numbers."""

    __slots__ = ("lc",)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.lc = NodePlaces(line)


class LineList(list[Any]):
    """A list that knows its line numbers."""

    __slots__ = ("lc",)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.lc = NodePlaces(line)


@dataclass(slots=True)
class _Open:
    """A mapping or list that is still being read; for a mapping, also the key whose value comes next."""

    into: LineMapping | LineList
    key: Any = None
    waits: bool = False

    def take(self, value: Any, line: int) -> None:
        """Add the next value or key.

        Raise NotPlainError for a key that is repeated, or that is a mapping or list.
        """
        if isinstance(self.into, LineList):
            self.into.lc.data[len(self.into)] = (line,)
            self.into.append(value)
        elif self.waits:
            self.into[self.key] = value
            self.waits = False
        elif isinstance(value, LineMapping | LineList) or value in self.into:
            raise NotPlainError(line + 1)
        else:
            self.into.lc.data[value] = (line,)
            self.into[value] = None
            self.key, self.waits = value, True


def load(text: str, deepest: int) -> list[Any]:
    """Return every document of a text. Raise NotPlainError for other than plain YAML, or nesting beyond ``deepest``."""
    if special := _OWN_WAYS.search(text):
        raise NotPlainError(text.count("\n", 0, special.start()) + 1)
    try:
        return _documents(yaml.parse(text, Loader=yaml.CSafeLoader), text, deepest)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise NotPlainError(mark.line + 1 if mark else None, error.problem or "") from error
    except (yaml.YAMLError, ValueError) as error:  # a character that YAML does not allow
        raise NotPlainError(None, str(error).partition("\n")[0]) from error


def _documents(events: Iterable[yaml.Event], text: str, deepest: int) -> list[Any]:
    documents: list[Any] = []
    opened: list[_Open] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        if not isinstance(event, yaml.NodeEvent):
            _check_document(event)
            continue
        value, line = _value(event, text), _line(event)
        if opened:
            opened[-1].take(value, line)
        else:
            documents.append(value)
        if isinstance(value, LineMapping | LineList):
            opened.append(_Open(value))
        if len(opened) > deepest:
            raise NotPlainError(line + 1)
    return documents


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.line


def _check_document(event: yaml.Event) -> None:
    """Raise NotPlainError for a document that begins with directives."""
    if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
        raise NotPlainError(_line(event) + 1)


def _value(event: yaml.NodeEvent, text: str) -> Any:
    """Return a scalar, or an empty mapping or list to be filled. Raise NotPlainError."""
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.tag is not None:
        raise NotPlainError(_line(event) + 1)
    if event.anchor and _anchor_continues(text, event):
        raise NotPlainError(_line(event) + 1)
    if isinstance(event, yaml.MappingStartEvent):
        return LineMapping(_line(event))
    if isinstance(event, yaml.CollectionStartEvent):
        return LineList(_line(event))
    word = event.value
    if event.style:
        return word
    if word in _WORDS:
        return _WORDS[word]
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if word in {_MERGE, _VALUE} or (_NUMBER.match(word) and _IN_NUMBERS.issuperset(word)):
        raise NotPlainError(_line(event) + 1)
    return word


def _anchor_continues(text: str, event: yaml.NodeEvent) -> bool:
    """Return whether the name of an anchor continues in YAML 1.2 where libyaml ends it: ``&a:``."""
    assert event.start_mark is not None
    end = event.start_mark.index + 1 + len(event.anchor or "")
    return text[end : end + 1] not in _AFTER_ANCHORS
