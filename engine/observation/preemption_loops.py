"""Find preemption loops that really happen: applications whose pods repeatedly preempt each other in a circle."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

REPEATED_FROM = 2
"""Minimum number of evictions of one application for another that counts as repeated."""
HIDDEN = "…"
"""Shown in place of the path of a hidden queue."""


class Member(NamedTuple):
    """An application in its queue."""

    queue: str
    namespace: str
    application: str


Loop = tuple[Member, ...]
"""Each member lost pods to the next one, and the last to the first; begins with the first member by name."""


def loops(times: Mapping[tuple[Member, Member], int]) -> list[Loop]:
    """Return the smallest loop that each pair of applications is in, the smallest first, then by name.

    ``times``: how often pods of the first application were evicted for the second. An application that preempts its own
    pods does not thereby form a loop. The running time is quadratic in the number of pairs, however many loops they
    form.
    """
    takers: dict[Member, list[Member]] = defaultdict(list)
    for loser, taker in sorted(pair for pair, count in times.items() if count >= REPEATED_FROM):
        if loser != taker:
            takers[loser].append(taker)
    pairs = ((loser, taker) for loser in takers for taker in takers[loser])
    loops_by_name = {_by_name(loop) for loser, taker in pairs if (loop := _smallest(loser, taker, takers))}
    return sorted(loops_by_name, key=lambda loop: (len(loop), loop))


def named(queues: Sequence[str]) -> str:
    """Return a loop as the queues of its members: ``root.a → root.b → root.a``."""
    return " → ".join(queue or HIDDEN for queue in (*queues, queues[0]))


def _smallest(loser: Member, taker: Member, takers: Mapping[Member, Iterable[Member]]) -> Loop:
    """Return the shortest path from the taker back to the loser, the first by name; empty if there is none."""
    before: dict[Member, Member] = {taker: loser}
    waiting = deque([taker])
    while waiting:
        current = waiting.popleft()
        if current == loser:
            return _walked(before, loser)
        for following in takers.get(current, ()):
            if following not in before:
                before[following] = current
                waiting.append(following)
    return ()


def _walked(before: Mapping[Member, Member], loser: Member) -> Loop:
    walked = [loser]
    while (member := before[walked[-1]]) != loser:
        walked.append(member)
    return tuple(reversed(walked))


def _by_name(loop: Loop) -> Loop:
    first = loop.index(min(loop))
    return loop[first:] + loop[:first]
