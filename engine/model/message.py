"""A text before it is translated: a message id with its parameters. The catalogues hold the languages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.model.quantities import CPU, PODS, column, format_amount


class Name(str):
    """A name that people copy (a pod, a node's rule): pages set it in a fixed-width type."""

    __slots__ = ()


class Topic(str):
    """What a line is about: pages set it in bold."""

    __slots__ = ()


class Before(str):
    """What something said: pages strike it through."""

    __slots__ = ()


class After(str):
    """What it says now: pages set it off."""

    __slots__ = ()


class Timestamp(int):
    """Milliseconds since 1970: pages write it in the reader's time zone."""


class Cores(int):
    """Whole cores: pages write them with their word in the reader's language."""

    def __str__(self) -> str:
        return f"{int(self)} core" if self == 1 else f"{int(self)} cores"


Param = str | int
"""Names of queues and amounts are plain texts, ready to be read."""


@dataclass(frozen=True)
class Message:
    """A whole English sentence (or label) with %(name)s parameters; ``plural`` and ``count`` where it counts things."""

    id: str
    params: Mapping[str, Param] = field(default_factory=dict)
    plural: str = ""
    count: int | None = None


def gettext_noop(text: str) -> str:
    """Mark a text for extraction into the catalogues."""
    return text


def ngettext_noop(singular: str, plural: str) -> tuple[str, str]:
    """Mark a text that counts ``%(count)s`` things for extraction."""
    return singular, plural


def counted(forms: tuple[str, str], count: int, **params: Param) -> Message:
    """A message that counts; the count is a parameter too."""
    return Message(forms[0], {**params, "count": count}, plural=forms[1], count=count)


def amount(resource: str, value: int) -> Param:
    """An amount with its resource, as people say it: ``8 cores``, ``1500m cpu``, ``64Gi memory``."""
    if resource == CPU and value % 1000 == 0:
        return Cores(value // 1000)
    return f"{format_amount(resource, value)} {resource}"


def is_rounder(amounts: Mapping[str, int]) -> bool:
    """Whether amounts are shorter to write than those that are less by one: ``2`` than ``1999m``."""
    above = {name: value - 1 for name, value in amounts.items()}
    return len(listed(amounts)) < len(listed(above))


def listed(amounts: Mapping[str, int]) -> str:
    """Amounts in a row as a manifest lists them: ``cpu 8, memory 64Gi``; the pod itself is not counted."""
    shown = {name: value for name, value in amounts.items() if name != PODS and value} or amounts
    ordered = sorted(shown, key=column)
    return ", ".join(f"{name} {format_amount(name, shown[name])}" for name in ordered)


def short_names(paths: Iterable[str]) -> str:
    """The queues' own names, each once, in order: ``queue-b, queue-c``."""
    return ", ".join(dict.fromkeys(short_name(path) for path in paths))


def short_name(path: str) -> str:
    """A queue's own name, the last part of its path."""
    return path.rpartition(".")[2]
