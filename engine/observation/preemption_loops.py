"""Loops that really happen: applications whose pods go for each other's asks, in turn and again."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

AGAIN = 2
"""From so many times on that pods went for the same asker it is more than an exchange."""
UNTOLD = "…"
"""Stands for a queue that is not told."""


class Member(NamedTuple):
    """An application in its queue."""

    queue: str
    namespace: str
    application: str


Loop = tuple[Member, ...]
"""Pods of each went for an ask of the next, those of the last for one of the first; begins with the first by name."""


def loops(times: Mapping[tuple[Member, Member], int]) -> list[Loop]:
    """The smallest loop that each pair is in, if it is in any; the smallest first, then by name.

    ``times``: how often pods of the first went for asks of the second. An application that takes from itself is in no
    loop by that. Takes time with the square of the pairs, however many loops they may form.
    """
    takers: dict[Member, list[Member]] = defaultdict(list)
    for loser, taker in sorted(pair for pair, count in times.items() if count >= AGAIN):
        if loser != taker:
            takers[loser].append(taker)
    pairs = ((loser, taker) for loser in takers for taker in takers[loser])
    found = {_by_name(loop) for loser, taker in pairs if (loop := _smallest(loser, taker, takers))}
    return sorted(found, key=lambda loop: (len(loop), loop))


def named(queues: Sequence[str]) -> str:
    """A loop by the queues of its members: ``root.a → root.b → root.a``."""
    return " → ".join(queue or UNTOLD for queue in (*queues, queues[0]))


def _smallest(loser: Member, taker: Member, takers: Mapping[Member, Iterable[Member]]) -> Loop:
    """The shortest way from the taker back to the loser, of equally short ones the first by name; empty if none."""
    before: dict[Member, Member] = {taker: loser}
    waiting = deque([taker])
    while waiting:
        here = waiting.popleft()
        if here == loser:
            return _walked(before, loser)
        for there in takers.get(here, ()):
            if there not in before:
                before[there] = here
                waiting.append(there)
    return ()


def _walked(before: Mapping[Member, Member], loser: Member) -> Loop:
    walked = [loser]
    while (member := before[walked[-1]]) != loser:
        walked.append(member)
    return tuple(reversed(walked))


def _by_name(loop: Loop) -> Loop:
    first = loop.index(min(loop))
    return loop[first:] + loop[:first]
