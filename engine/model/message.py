"""A text before it is translated: a message ID with its parameters. The message catalogs hold the translations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.model.quantities import CPU, PODS, column, format_amount


class Name(str):
    """A name that people copy, such as that of a pod or of a node's rule. Pages set it in a fixed-width font."""

    __slots__ = ()


class Topic(str):
    """The topic of a line, which pages set in bold."""

    __slots__ = ()


class Before(str):
    """An old text, which pages strike through."""

    __slots__ = ()


class After(str):
    """A new text, which pages highlight."""

    __slots__ = ()


class Timestamp(int):
    """A time in milliseconds since 1970 (UTC), which pages write in the reader's time zone."""


class Cores(int):
    """A number of whole cores, which pages write with the word for cores in the reader's language."""

    def __str__(self) -> str:
        return f"{int(self)} core" if self == 1 else f"{int(self)} cores"


Param = str | int
"""A parameter of a message. Names of queues and amounts are plain texts, ready to be read."""


@dataclass(frozen=True)
class Message:
    """A whole English sentence or label with ``%(name)s`` parameters; ``plural`` and ``count`` are set if it counts."""

    id: str
    params: Mapping[str, Param] = field(default_factory=dict)
    plural: str = ""
    count: int | None = None

    def __str__(self) -> str:
        """Return the English text. Without parameters it is as it was given: others' texts may contain a ``%``."""
        text = self.plural if self.count is not None and self.count != 1 else self.id
        return text % self.params if self.params else text


class MessageError(Exception):
    """An error that says in a translatable sentence what is wrong. ``str()`` is the English one."""

    def __init__(self, sentence: str | Message, **params: Param) -> None:
        self.sentence = sentence if isinstance(sentence, Message) else Message(sentence, params)
        super().__init__(str(self.sentence))


def gettext_noop(text: str) -> str:
    """Mark a text for extraction into the message catalogs."""
    return text


def ngettext_noop(singular: str, plural: str) -> tuple[str, str]:
    """Mark a text that counts ``%(count)s`` things for extraction into the message catalogs."""
    return singular, plural


def plural_message(forms: tuple[str, str], count: int, **params: Param) -> Message:
    """Return a message that counts things; the count is a parameter too."""
    return Message(forms[0], {**params, "count": count}, plural=forms[1], count=count)


def amount(resource: str, value: int) -> Param:
    """Return an amount with its resource as people write it: ``8 cores``, ``1500m cpu``, ``64Gi memory``."""
    if resource == CPU and value % 1000 == 0:
        return Cores(value // 1000)
    return f"{format_amount(resource, value)} {resource}"


def is_shorter(amounts: Mapping[str, int]) -> bool:
    """Return whether amounts are shorter to write than amounts one unit lower: ``2`` is shorter than ``1999m``."""
    above = {name: value - 1 for name, value in amounts.items()}
    return len(format_amount_list(amounts)) < len(format_amount_list(above))


def format_amount_list(amounts: Mapping[str, int]) -> str:
    """Return amounts as a list, as in a manifest: ``cpu 8, memory 64Gi``.

    The number of pods and amounts of 0 are left out, unless nothing else remains.
    """
    shown = {name: value for name, value in amounts.items() if name != PODS and value} or amounts
    ordered = sorted(shown, key=column)
    return ", ".join(f"{name} {format_amount(name, shown[name])}" for name in ordered)


def short_names(paths: Iterable[str]) -> str:
    """Return the queues' short names, each once, in order: ``queue-b, queue-c``."""
    return ", ".join(dict.fromkeys(short_name(path) for path in paths))


def short_name(path: str) -> str:
    """Return a queue's short name, which is the last part of its path."""
    return path.rpartition(".")[2]
