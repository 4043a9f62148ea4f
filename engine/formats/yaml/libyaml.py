"""Plain YAML read with libyaml, a parser in C, which takes a twentieth of the time that ruamel.yaml takes.

Its values, and the lines of everything, are those that ruamel.yaml gives (YAML 1.2: ``on`` and ``010`` are no bool and
no octal number); comments and how values were written are lost. What the two may understand differently, and what is
no YAML, it leaves to ruamel.yaml: tags, aliases, merges, dates, odd numbers, keys that repeat.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

LONGEST_ODD = 64 * 1024
"""Characters of what is left to ruamel.yaml, at most: it takes two seconds for as many."""
_OWN_WAYS = re.compile("[\t\r\x85\u2028\u2029\ufeff]")
"""Tabs, and line breaks of YAML 1.1."""
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}")
_NUMBER = re.compile(r"[-+.]?[0-9_.]|[-+]?\.(inf|nan)", re.IGNORECASE)
"""How every number and date begins."""
_IN_NUMBERS = frozenset("0123456789abcdefABCDEFxXoOnNiItTzZ_:.+- ")
"""What they are made of."""
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_AFTER_ANCHORS = frozenset(("", " ", "\n"))
"""What ends the name of an anchor in every version of YAML."""
_MERGE, _VALUE = "<<", "="


class NotPlainError(Exception):
    """What takes ruamel.yaml to read it; ``line``, from one, where it is, ``problem`` what libyaml says is wrong."""

    def __init__(self, line: int | None = None, problem: str = "") -> None:
        super().__init__()
        self.line, self.problem = line, problem


@dataclass(slots=True)
class NodePlaces:
    """Where a mapping or a list stands, counted from zero, as ruamel.yaml's ``lc``."""

    line: int
    data: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    """Key, or place in a list -> the line of it."""


class Mapped(dict[Any, Any]):
    """A mapping that knows its lines."""

    __slots__ = ("lc",)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.lc = NodePlaces(line)


class Listed(list[Any]):
    """A list that knows its lines."""

    __slots__ = ("lc",)

    def __init__(self, line: int) -> None:
        super().__init__()
        self.lc = NodePlaces(line)


@dataclass(slots=True)
class _Open:
    """A mapping or list that is not at its end yet; of a mapping also the key that waits for its value."""

    into: Mapped | Listed
    key: Any = None
    waits: bool = False

    def take(self, value: Any, line: int) -> None:
        """Put in what comes next. Raises NotPlainError for a key that is there already, or is a mapping or a list."""
        if isinstance(self.into, Listed):
            self.into.lc.data[len(self.into)] = (line,)
            self.into.append(value)
        elif self.waits:
            self.into[self.key] = value
            self.waits = False
        elif isinstance(value, Mapped | Listed) or value in self.into:
            raise NotPlainError(line + 1)
        else:
            self.into.lc.data[value] = (line,)
            self.into[value] = None
            self.key, self.waits = value, True


def load(text: str, deepest: int) -> list[Any]:
    """Return every document of a text. Raises NotPlainError, also where more than ``deepest`` are nested."""
    if own := _OWN_WAYS.search(text):
        raise NotPlainError(text.count("\n", 0, own.start()) + 1)
    try:
        return _documents(yaml.parse(text, Loader=yaml.CSafeLoader), text, deepest)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise NotPlainError(mark.line + 1 if mark else None, error.problem or "") from error
    except (yaml.YAMLError, ValueError) as error:  # a character that YAML does not have
        raise NotPlainError(None, str(error).partition("\n")[0]) from error


def _documents(events: Iterable[yaml.Event], text: str, deepest: int) -> list[Any]:
    found: list[Any] = []
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
            found.append(value)
        if isinstance(value, Mapped | Listed):
            opened.append(_Open(value))
        if len(opened) > deepest:
            raise NotPlainError(line + 1)
    return found


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.line


def _check_document(event: yaml.Event) -> None:
    """Raise NotPlainError for one that begins with directives."""
    if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
        raise NotPlainError(_line(event) + 1)


def _value(event: yaml.NodeEvent, text: str) -> Any:
    """A scalar, or a mapping or list that is empty yet. Raises NotPlainError."""
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.tag is not None:
        raise NotPlainError(_line(event) + 1)
    if event.anchor and _goes_on(text, event):
        raise NotPlainError(_line(event) + 1)
    if isinstance(event, yaml.MappingStartEvent):
        return Mapped(_line(event))
    if isinstance(event, yaml.CollectionStartEvent):
        return Listed(_line(event))
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


def _goes_on(text: str, event: yaml.NodeEvent) -> bool:
    """Whether the name of an anchor goes on in YAML 1.2 where libyaml ends it: ``&a:``."""
    assert event.start_mark is not None
    end = event.start_mark.index + 1 + len(event.anchor or "")
    return text[end : end + 1] not in _AFTER_ANCHORS
