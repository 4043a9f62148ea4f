"""Compares sides at one moment: the forecast, in a comparison's figures."""

import msgspec

from engine.model.snapshot import ClusterState
from engine.planning.comparison.compared_sides import ComparedSide
from engine.planning.comparison.figures import SideFigures
from engine.planning.comparison.outcome_counts import OutcomeCounts
from engine.planning.comparison.queue_demand import QueueDemand
from engine.planning.forecast import Settling, forecast, origin
from engine.planning.journal import PassInputs


def at_moment(state: ClusterState, moment: PassInputs, side: ComparedSide) -> SideFigures:
    """Return what would happen without other changes, until nothing moves any more; ``state`` is unchanged.

    It has no durations, as the length of a forecast's round is unknown. So the lost work is that of pods which ran at
    the moment, up to then; pods that start later have done none.
    """
    result = forecast(state, moment, side.tree, side.decide, terms=side.terms, foreign=side.foreign)
    tally = OutcomeCounts()
    tally.decisions = sum(len(round_.preemptions) for round_ in result.rounds)
    for eviction in result.evictions:  # pods that start after the moment have done no work by then
        tally.evict(origin(eviction.victim.uid), eviction.victim, at_ms=moment.now_ms)
    for placed in result.placed:
        tally.serve(origin(placed.ask.uid))
    end = PassInputs(now_ms=result.rounds[-1].now_ms, protection=moment.protection).snapshot(result.end, side.tree)
    waiting = {origin(pod.uid) for pod in end.asks}
    figures = tally.figures(QueueDemand(end.tree, end.capacity, end.pods), waiting)
    loop = result.loop.queues if result.loop else ()
    return msgspec.structs.replace(figures, loop=loop, settles=result.settles is Settling.STABLE)
