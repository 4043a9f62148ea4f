"""How many preemptions of each kind a stretch of time had: what a tally stores, and what is read of it.

Columns and not rows, because a month may have half a million kinds, and a page adds them up while somebody waits.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler_admin.counts.columns import Numbers, Stored, column, names_of, numbers, packed
from scheduler_admin.counts.stacked import Stacked
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.history_filters import Filters


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
            "on-hold": self.state == Decision.State.ON_HOLD,
            "dry-run": self.state == Decision.State.RECORDED,
            "failed-checks": self.against_laws,
            "repeated": self.again,
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


class _Document(msgspec.Struct, array_like=True, frozen=True):
    names: bytes
    """Of sorts, and of queues in their order."""
    sort: Stored
    asker: Stored
    decisions: Stored
    places: Stored
    """How many entries of the next columns each kind has."""
    queue: Stored
    pods: Stored
    waiting: Stored


_READ = msgspec.msgpack.Decoder(_Document)
_NAMES = msgspec.msgpack.Decoder(tuple[list[Sort], list[str]])


def pack(kinds: Kinds) -> bytes:
    """Kinds as they are stored."""
    names = sorted({kind.sort for kind in kinds}), sorted(set(_queues(kinds)))
    sorts, queues = ({name: number for number, name in enumerate(each)} for each in names)
    # Like stands by like: it takes less room so, and less time to read.
    rows = sorted(kinds.items(), key=lambda row: (sorts[row[0].sort], queues[row[0].asker]))
    victims = [victim for kind, _many in rows for victim in kind.victims]
    document = _Document(
        names=packed(names),
        sort=column([sorts[kind.sort] for kind, _many in rows]),
        asker=column([queues[kind.asker] for kind, _many in rows]),
        decisions=column([many for _kind, many in rows]),
        places=column([len(kind.victims) for kind, _many in rows]),
        queue=column([queues[victim.queue] for victim in victims]),
        pods=column([victim.pods for victim in victims]),
        waiting=column([victim.waiting for victim in victims]),
    )
    return msgspec.msgpack.encode(document)


def unpack(document: bytes | memoryview) -> Kinds:
    """Stored kinds."""
    found = _READ.decode(document)
    sorts, queues = names_of(found.names, _NAMES)
    victims = zip(*(numbers(stored).tolist() for stored in (found.queue, found.pods, found.waiting)), strict=True)
    columns = (numbers(stored).tolist() for stored in (found.sort, found.asker, found.places, found.decisions))
    kinds = Kinds()
    for sort, asker, places, decisions in zip(*columns, strict=True):
        lost = tuple(Lost(queues[queue], *pods) for queue, *pods in islice(victims, places))
        kinds[Kind(sorts[sort], queues[asker], lost)] = decisions
    return kinds


def paired(document: bytes | memoryview) -> Iterator[tuple[Sort, str, str, int]]:
    """Yield how many pods of stored kinds were evicted for whom: sort of decision, both queues, and pods."""
    found = _READ.decode(document)
    sorts, queues = names_of(found.names, _NAMES)
    places = numbers(found.places).astype(np.int64)
    of_sort, of_asker = (np.repeat(numbers(each), places).astype(np.int64) for each in (found.sort, found.asker))
    many = np.repeat(numbers(found.decisions), places).astype(np.int64)
    pods = numbers(found.pods).astype(np.int64) * many
    code = (of_sort * len(queues) + of_asker) * len(queues) + numbers(found.queue)
    alike, where = np.unique(code[pods > 0], return_inverse=True)
    sums = np.bincount(where, weights=pods[pods > 0], minlength=len(alike)).astype(np.int64)
    for number, total in zip(alike.tolist(), sums.tolist(), strict=True):
        rest, victim = divmod(number, len(queues))
        sort, asker = divmod(rest, len(queues))
        yield sorts[sort], queues[asker], queues[victim], total


def summed(document: bytes | memoryview, filters: Filters, at: datetime, lost: Stacked) -> Sums:
    """What the filters, whose time is not looked at, leave of stored kinds; who lost pods goes to ``lost``."""
    found = _READ.decode(document)
    sorts, queues = names_of(found.names, _NAMES)
    asked = np.array([one.asked_for(filters) for one in sorts], np.bool_)
    sort, places, queue = numbers(found.sort), numbers(found.places).astype(np.int64), numbers(found.queue)
    ends = np.cumsum(places)
    left = np.flatnonzero(asked[sort])
    if filters.queue:
        within = [_within(queues, path) for path in filters.queues]
        left = left[_about(numbers(found.asker), queue, ends, within)[left]]
    # Where the victims are of the kinds that are left.
    lengths = places[left]
    entry = np.arange(lengths.sum()) + np.repeat(ends[left] - np.cumsum(lengths), lengths)
    decisions = numbers(found.decisions)[left].astype(np.int64)
    times = np.repeat(decisions, lengths)
    refused = np.array([one.ending == Decision.Ending.REJECTED for one in sorts], np.bool_)[sort[left]]
    by_queue = filters.stack == "queue"
    stacks = queues if by_queue else [getattr(one, filters.stack) for one in sorts]
    which = queue[entry] if by_queue else np.repeat(sort[left], lengths)
    lost.add_all(at, stacks, which, numbers(found.pods)[entry] * times)
    return Sums(
        decisions=int(decisions.sum()),
        refused=int(decisions[refused].sum()),
        waiting=int((numbers(found.waiting)[entry] * times).sum()),
    )


def _within(queues: Sequence[str], path: str) -> tuple[int, int, int]:
    """The number of a queue, and from which to before which those below it have theirs; none has a negative one."""
    own = bisect_left(queues, path)
    below = bisect_left(queues, f"{path}."), bisect_left(queues, f"{path}/")  # the character next after a dot
    return own if queues[own : own + 1] == [path] else -1, *below


def _about(asker: Numbers, queue: Numbers, ends: Numbers, within: Sequence[tuple[int, int, int]]) -> NDArray[np.bool_]:
    """For each kind, whether its ask or one of its victims lies within any."""

    def inside(column_of: Numbers) -> NDArray[np.bool_]:
        found = np.zeros(len(column_of), np.bool_)
        for own, first, last in within:
            found |= (column_of == own) | ((column_of >= first) & (column_of < last))
        return found

    about = inside(asker)
    about[np.searchsorted(ends, np.flatnonzero(inside(queue)), "right")] = True
    return about


def _queues(kinds: Kinds) -> Iterator[str]:
    for kind in kinds:
        yield kind.asker
        yield from (victim.queue for victim in kind.victims)
