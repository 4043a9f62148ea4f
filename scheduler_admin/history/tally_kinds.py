"""How many preemptions of each kind a stretch of time had: what a tally stores, and what is read of it.

Columns and not rows, because a month may have half a million kinds, and a page adds them up while somebody waits.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler_admin.accounts.scopes import is_inside
from scheduler_admin.history.filters import Filters
from scheduler_admin.history.models import Decision

T = TypeVar("T")
_Numbers = NDArray[Any]
_Stored = tuple[str, bytes]
"""A column: of what numbers, and those."""


class Sort(NamedTuple):
    """What decisions are filtered by, save for queues."""

    source: str
    reason: str
    state: str
    ending: str
    against_laws: bool
    again: bool

    def asked_for(self, filters: Filters) -> bool:
        """Whether the filters leave decisions of it, as ``Filters.apply`` says it of rows."""
        if filters.source not in ("", self.source):
            return False
        asked = {
            "preempt": True,
            "held": self.state == Decision.State.HELD,
            "shown": self.state == Decision.State.NOTED,
            "against": self.against_laws,
            "again": self.again,
        }
        return asked.get(filters.outcome, self.ending == filters.outcome)


class Lost(NamedTuple):
    """The victims of a decision out of one queue."""

    queue: str
    pods: int
    """That were really evicted."""
    waiting: int
    """That are not, and would be in another mode."""


class Kind(NamedTuple):
    """Decisions that are the same to whoever counts."""

    sort: Sort
    asker: str
    """The ask's queue."""
    victims: tuple[Lost, ...]
    """By queue, those of which nobody was evicted too."""


Kinds = Counter[Kind]


@dataclass(frozen=True)
class Sums:
    """What there is of the decisions that some filters leave."""

    decisions: int
    refused: int
    waiting: int
    lost: dict[str, int]
    """Pods evicted, by what they are stacked by."""


class _Document(msgspec.Struct, array_like=True, frozen=True):
    sorts: list[Sort]
    queues: list[str]
    sort: _Stored
    asker: _Stored
    decisions: _Stored
    places: _Stored
    """How many entries of the next columns each kind has."""
    queue: _Stored
    pods: _Stored
    waiting: _Stored


_READ = msgspec.msgpack.Decoder(_Document)


def pack(kinds: Kinds) -> bytes:
    """Kinds as they are stored."""
    sorts, queues = _numbered(kind.sort for kind in kinds), _numbered(_queues(kinds))
    victims = [victim for kind in kinds for victim in kind.victims]
    document = _Document(
        sorts=list(sorts),
        queues=list(queues),
        sort=_column([sorts[kind.sort] for kind in kinds]),
        asker=_column([queues[kind.asker] for kind in kinds]),
        decisions=_column(list(kinds.values())),
        places=_column([len(kind.victims) for kind in kinds]),
        queue=_column([queues[victim.queue] for victim in victims]),
        pods=_column([victim.pods for victim in victims]),
        waiting=_column([victim.waiting for victim in victims]),
    )
    return zlib.compress(msgspec.msgpack.encode(document), 1)


def unpack(document: bytes | memoryview) -> Kinds:
    """Stored kinds."""
    found = _READ.decode(zlib.decompress(document))
    victims = zip(*(_numbers(column).tolist() for column in (found.queue, found.pods, found.waiting)), strict=True)
    columns = (_numbers(column).tolist() for column in (found.sort, found.asker, found.places, found.decisions))
    kinds = Kinds()
    for sort, asker, places, decisions in zip(*columns, strict=True):
        lost = tuple(Lost(found.queues[queue], *pods) for queue, *pods in islice(victims, places))
        kinds[Kind(found.sorts[sort], found.queues[asker], lost)] = decisions
    return kinds


def summed(document: bytes | memoryview, filters: Filters) -> Sums:
    """What the filters, whose time is not looked at, leave of stored kinds."""
    found = _READ.decode(zlib.decompress(document))
    sort, queue = _numbers(found.sort), _numbers(found.queue)
    kind = np.repeat(np.arange(len(sort)), _numbers(found.places))  # whose victims they are
    left = np.array([one.asked_for(filters) for one in found.sorts], np.bool_)[sort]
    if filters.queue:
        inside = np.array([is_inside(name, filters.queue) for name in found.queues], np.bool_)
        left &= inside[_numbers(found.asker)] | (np.bincount(kind[inside[queue]], minlength=len(sort)) > 0)
    decisions = _numbers(found.decisions) * left.astype(np.int64)
    refused = np.array([one.ending == Decision.Ending.REFUSED for one in found.sorts], np.bool_)[sort]
    pods = _numbers(found.pods) * decisions[kind]
    names = found.queues if filters.stack == "queue" else [getattr(one, filters.stack) for one in found.sorts]
    return Sums(
        decisions=int(decisions.sum()),
        refused=int(decisions[refused].sum()),
        waiting=int((_numbers(found.waiting) * decisions[kind]).sum()),
        lost=_by_name(names, queue if filters.stack == "queue" else sort[kind], pods),
    )


def _by_name(names: Sequence[str], which: _Numbers, pods: _Numbers) -> dict[str, int]:
    totals: dict[str, int] = {}
    # Added up as floats, which hold every whole number that so many pods could be.
    for name, total in zip(names, np.bincount(which, pods, len(names)).tolist(), strict=True):
        if total:
            totals[name] = totals.get(name, 0) + int(total)
    return totals


def _queues(kinds: Kinds) -> Iterator[str]:
    for kind in kinds:
        yield kind.asker
        yield from (victim.queue for victim in kind.victims)


def _numbered(values: Iterable[T]) -> dict[T, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def _column(values: list[int]) -> _Stored:
    column = np.array(values, np.min_scalar_type(max(values, default=0)))
    return column.dtype.str, column.tobytes()


def _numbers(column: _Stored) -> _Numbers:
    return np.frombuffer(column[1], column[0])
