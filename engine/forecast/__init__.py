"""What-if: roll a cluster forward under a tree until nothing moves any more, or name the loop.

A forecast says what would happen in the end, not when: between two rounds so much time passes that every ask has
waited long enough, every victim is gone and every node that was found is taken. It knows no interlocks and no
disruption budgets, which hold back and let go again. Victims whose controller makes them again come back and ask;
others don't, nor do pods that were on their way out when it began, as what replaces them is there already. No pod is
started, finished or deleted by anyone else.
"""

from engine.decision import PodFacts
from engine.forecast.results import (
    Difference,
    Eviction,
    Forecast,
    Group,
    Placed,
    Round,
    Settling,
    Toll,
    difference,
    grouped,
    origin,
)
from engine.forecast.rolling import Rolling
from engine.journal import Moment
from engine.planning import plan
from engine.policies import Decide
from engine.queues import QueueTree
from engine.snapshot import ClusterState

__all__ = [
    "Difference",
    "Eviction",
    "Forecast",
    "Group",
    "Placed",
    "Round",
    "Settling",
    "Toll",
    "difference",
    "forecast",
    "grouped",
    "origin",
]

PASSES = 30
"""More rounds than a change that comes to rest needs."""


def forecast(
    state: ClusterState,
    moment: Moment,
    tree: QueueTree,
    decide: Decide,
    *,
    last_resort: str = "daemonset",
    passes: int = PASSES,
) -> Forecast:
    """Roll a cluster forward from a moment under a tree, published or not, for at most ``passes`` rounds (1 or more).

    The first round is what the next pass would decide if no interlock held it back. ``state`` stays as it is.
    """
    rolling = Rolling(state, moment)
    rounds: list[Round] = []
    seen: dict[tuple[tuple[str, str | None], ...], int] = {}
    settles, loop = Settling.UNSETTLED, tuple[PodFacts, ...]()
    while len(rounds) < passes:
        number, now = len(rounds) + 1, rolling.moment
        snapshot = now.snapshot(rolling.state, tree)
        considered = plan(snapshot, snapshot.tree, decide, last_resort=last_resort)
        left, placed = rolling.move_on(snapshot, considered, number)
        rounds.append(Round(number=number, now_ms=now.now_ms, considered=tuple(considered), placed=placed, left=left))
        if number > 1 and not rounds[-1].moves:  # in the first some may still wait for their delay
            settles = Settling.QUIET
            break
        if rounds[-1].preemptions:
            before = seen.setdefault(rolling.signature(), number)
            if before < number:
                settles, loop = Settling.LOOP, _askers(rounds[before:])
                break
    return Forecast(rounds=tuple(rounds), settles=settles, loop=loop, end=rolling.state)


def _askers(rounds: list[Round]) -> tuple[PodFacts, ...]:
    """The asks that evict in these rounds, each once however often it came back."""
    found: dict[str, PodFacts] = {}
    for one in rounds:
        for decision in one.preemptions:
            found.setdefault(origin(decision.ask.uid), decision.ask)
    return tuple(found.values())
