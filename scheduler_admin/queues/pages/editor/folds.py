"""Which rows of a draft's grid are shown, and where each stands in the tree."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import msgspec

K = TypeVar("K")


class Fold(msgspec.Struct, frozen=True, gc=False):
    """Where a row stands: its place among so many siblings, whether it holds others, and what of that is shown."""

    place: int
    siblings: int
    holds: bool
    folded: bool
    hidden: bool
    """Whether a queue above it is folded."""
    wrong: int
    """Errors in the queues below it."""


def folds(
    queues: Sequence[tuple[K, K | None]],
    folded: Collection[K] = (),
    errors: Mapping[K, int] = MappingProxyType({}),
) -> list[Fold]:
    """Where each queue stands, in their order: parents before children.

    ``queues``: what each is known as, and the queue above it. ``errors``: how many errors each has, if it has any.
    """
    below = Counter([above for _own, above in queues])
    wrong = _errors_below(queues, errors) if errors else {}
    place: Counter[K | None] = Counter()
    hidden: set[K | None] = set()
    found = []
    for own, above in queues:
        place[above] += 1
        holds = own in below
        closed = holds and own in folded
        if closed or above in hidden:
            hidden.add(own)
        found.append(Fold(place[above], below[above], holds, closed, above in hidden, wrong.get(own, 0)))
    return found


def _errors_below(queues: Sequence[tuple[K, K | None]], errors: Mapping[K, int]) -> Counter[K | None]:
    wrong: Counter[K | None] = Counter()
    for own, above in reversed(queues):
        wrong[above] += errors.get(own, 0) + wrong[own]
    return wrong
