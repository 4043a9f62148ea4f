"""What a tally stores beside its kinds: their totals by sort and losing queue, all that most pages ask for."""

from collections import Counter
from datetime import datetime

import msgspec
import numpy as np

from scheduler_admin.counts.columns import Stored, column, names_of, numbers, packed
from scheduler_admin.counts.kinds import Kinds, Sort, Sums
from scheduler_admin.counts.stacked import Stacked
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.history_filters import Filters


class _Totals(msgspec.Struct, array_like=True, frozen=True):
    names: bytes
    """Of sorts, and of queues."""
    decisions: list[int]
    """By sort, as is what is waiting."""
    waiting: list[int]
    places: Stored
    """How many entries of the next columns each sort has."""
    queue: Stored
    pods: Stored


_READ = msgspec.msgpack.Decoder(_Totals)
_NAMES = msgspec.msgpack.Decoder(tuple[list[Sort], list[str]])


def pack_totals(kinds: Kinds) -> bytes:
    """Totals of kinds as they are stored."""
    decisions, waiting = Counter[Sort](), Counter[Sort]()
    lost: dict[Sort, Counter[str]] = {}
    for kind, many in kinds.items():
        decisions[kind.sort] += many
        of_sort = lost.setdefault(kind.sort, Counter())
        for victim in kind.victims:
            waiting[kind.sort] += victim.waiting * many
            of_sort[victim.queue] += victim.pods * many
    sorts, queues = sorted(lost), sorted({queue for of_sort in lost.values() for queue in +of_sort})
    entries = [sorted((+lost[sort]).items()) for sort in sorts]
    number_of = {queue: number for number, queue in enumerate(queues)}
    totals = _Totals(
        names=packed((sorts, queues)),
        decisions=[decisions[sort] for sort in sorts],
        waiting=[waiting[sort] for sort in sorts],
        places=column([len(of_sort) for of_sort in entries]),
        queue=column([number_of[queue] for of_sort in entries for queue, _pods in of_sort]),
        pods=column([pods for of_sort in entries for _queue, pods in of_sort]),
    )
    return msgspec.msgpack.encode(totals)


def summed_totals(document: bytes | memoryview, filters: Filters, at: datetime, lost: Stacked) -> Sums:
    """What filters leave that ask for no queue, as ``summed`` tells it of the kinds themselves."""
    found = _READ.decode(document)
    sorts, queues = names_of(found.names, _NAMES)
    asked = [one.asked_for(filters) for one in sorts]
    sort = np.repeat(np.arange(len(sorts)), numbers(found.places))
    pods = numbers(found.pods) * np.array(asked, np.bool_)[sort]
    by_queue = filters.stack == "queue"
    refused = [one.ending == Decision.Ending.REJECTED for one in sorts]
    stacks = queues if by_queue else [getattr(one, filters.stack) for one in sorts]
    lost.add_all(at, stacks, numbers(found.queue) if by_queue else sort, pods)
    return Sums(
        decisions=sum(many for many, left in zip(found.decisions, asked, strict=True) if left),
        refused=sum(many for many, *left in zip(found.decisions, asked, refused, strict=True) if all(left)),
        waiting=sum(pods for pods, left in zip(found.waiting, asked, strict=True) if left),
    )
