"""Usage over time as it is stored: a sample holds every queue at one moment, a run one queue over a time.

JSON and not MessagePack, because amounts may be larger than 64 bits hold.
"""

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import mul
from typing import Any, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class Level(NamedTuple):
    """How finely usage is kept: points of ``step`` seconds, in blocks of ``span`` seconds counted from 1970 on."""

    step: int
    span: int

    def start(self, at: int) -> int:
        """Where the block begins that holds a time."""
        return at - at % self.span


LEVELS = (Level(10, 600), Level(60, 4 * 3_600), Level(3_600, 7 * 86_400))
"""The finest first. Each one's blocks are whole in those of the next."""


class Amount(msgspec.Struct, array_like=True, frozen=True):
    """Of one resource at one moment."""

    used: int = 0
    guaranteed: int | None = None
    max: int | None = None
    deserved: int | None = None
    """None where nothing was divided by shares."""


class Now(msgspec.Struct, array_like=True, frozen=True):
    """One queue at one moment."""

    asks: int
    amounts: dict[str, Amount]


class Columns(msgspec.Struct, array_like=True, frozen=True):
    """One resource, a value for each time of a run."""

    used: list[int]
    """The mean of what was sampled in that time."""
    highest: list[int]
    guaranteed: list[int | None]
    """As the time began, and so is ``max``: drawn in steps it is exact."""
    max: list[int | None]
    deserved: list[int | None]
    """The mean."""

    @classmethod
    def nothing(cls, length: int) -> "Columns":
        """Of a resource that nobody knew then."""
        zeros: list[int] = [0] * length
        unsaid: list[int | None] = [None] * length
        return cls(zeros, zeros, unsaid, unsaid, unsaid)


class Run(msgspec.Struct, frozen=True):
    """One queue over a time, as columns."""

    times: list[int]
    """Seconds since 1970, ascending."""
    samples: list[int]
    """How many each stands for."""
    asks: list[int]
    """The most that waited."""
    amounts: dict[str, Columns]


class _Part(msgspec.Struct, frozen=True):
    times: list[int]
    samples: list[int]
    asks: list[int]
    amounts: dict[str, msgspec.Raw]


_COLUMNS, _PART = msgspec.json.Decoder(Columns), msgspec.json.Decoder(_Part)
_RUN, _NOW = msgspec.json.Decoder(Run), msgspec.json.Decoder(Now)
_QUEUES = msgspec.json.Decoder(dict[str, msgspec.Raw])


def pack(said: Run | Mapping[str, Now]) -> bytes:
    """A run, or a sample, as it is stored. Of a thousand queues at once, so quick before small."""
    return zlib.compress(msgspec.json.encode(said), 1)


def unpack(document: bytes | memoryview) -> Run:
    """A stored run."""
    return _RUN.decode(zlib.decompress(document))


def unpack_of(document: bytes | memoryview, resource: str) -> Run | None:
    """One resource of a stored run; None where nobody knew it then."""
    part = _PART.decode(zlib.decompress(document))
    found = part.amounts.get(resource)
    if found is None:
        return None
    return Run(part.times, part.samples, part.asks, {resource: _COLUMNS.decode(found)})


def unpack_sample(document: bytes | memoryview) -> dict[str, msgspec.Raw]:
    """Queue -> what ``read_now`` reads."""
    return _QUEUES.decode(zlib.decompress(document))


def unpack_sample_of(document: bytes | memoryview, queue: str) -> Now | None:
    """One queue of a stored sample, the others skipped; None where there was none."""
    found: Now | None = _only(queue).decode(zlib.decompress(document)).now
    return found


@lru_cache(maxsize=64)
def _only(queue: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(msgspec.defstruct("_Only", [("now", Now | None, None)], rename={"now": queue}))


def read_now(said: msgspec.Raw) -> Now:
    """One queue of a sample."""
    return _NOW.decode(said)


def run_of(moments: Sequence[tuple[int, Now]]) -> Run:
    """Moments of one queue (seconds since 1970), in order, as a run."""
    names = dict.fromkeys(name for _at, one in moments for name in one.amounts)
    nothing = Amount()
    amounts = {}
    for name in names:
        series = [one.amounts.get(name, nothing) for _at, one in moments]
        used = [each.used for each in series]
        promised = [each.guaranteed for each in series], [each.max for each in series]
        amounts[name] = Columns(used, used, *promised, [each.deserved for each in series])
    return Run([at for at, _one in moments], [1] * len(moments), [one.asks for _at, one in moments], amounts)


def joined(runs: Sequence[Run]) -> Run:
    """Several runs, one after the other."""
    names = dict.fromkeys(name for run in runs for name in run.amounts)
    amounts = {}
    for name in names:
        parts = [run.amounts.get(name) or Columns.nothing(len(run.times)) for run in runs]
        amounts[name] = Columns(
            used=_chained(part.used for part in parts),
            highest=_chained(part.highest for part in parts),
            guaranteed=_chained(part.guaranteed for part in parts),
            max=_chained(part.max for part in parts),
            deserved=_chained(part.deserved for part in parts),
        )
    times, samples = _chained(run.times for run in runs), _chained(run.samples for run in runs)
    return Run(times, samples, _chained(run.asks for run in runs), amounts)


def _chained(lists: Iterable[list[T]]) -> list[T]:
    return list(chain.from_iterable(lists))


def cut(run: Run, since: int, until: int) -> Run:
    """What of a run lies in ``[since, until)``."""
    part = slice(bisect_left(run.times, since), bisect_left(run.times, until))
    if part == slice(0, len(run.times)):
        return run
    amounts = {
        name: Columns(one.used[part], one.highest[part], one.guaranteed[part], one.max[part], one.deserved[part])
        for name, one in run.amounts.items()
    }
    return Run(run.times[part], run.samples[part], run.asks[part], amounts)


def thinned(run: Run, step: int) -> Run:
    """A point for each ``step`` seconds in which there is one: the mean of what was used, and the highest."""
    slots = [at - at % step for at in run.times]
    edges = [at for at in range(len(slots)) if at == 0 or slots[at] != slots[at - 1]]
    parts = [slice(begin, end) for begin, end in pairwise([*edges, len(slots)])]
    samples = [sum(run.samples[part]) for part in parts]
    return Run(
        times=[slots[edge] for edge in edges],
        samples=samples,
        asks=[max(run.asks[part]) for part in parts],
        amounts={name: _thinned(one, parts, edges, run.samples, samples) for name, one in run.amounts.items()},
    )


def _thinned(
    one: Columns, parts: Sequence[slice], edges: Sequence[int], weights: Sequence[int], sums: Sequence[int]
) -> Columns:
    weighed = list(map(mul, one.used, weights))
    shared = one.deserved.count(None) < len(one.deserved)
    return Columns(
        used=[sum(weighed[part]) // all_of_it for part, all_of_it in zip(parts, sums, strict=True)],
        highest=[max(one.highest[part]) for part in parts],
        guaranteed=[one.guaranteed[edge] for edge in edges],
        max=[one.max[edge] for edge in edges],
        deserved=[_mean(one.deserved[part], weights[part]) if shared else None for part in parts],
    )


def _mean(values: Sequence[int | None], weights: Sequence[int]) -> int | None:
    """Of those that are known."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    return sum(value * weight for value, weight in known) // sum(weight for _value, weight in known) if known else None
