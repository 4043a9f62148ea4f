"""Forecasts what-if: rolls a cluster forward under a tree until nothing moves any more, or names the loop.

A forecast predicts what would happen in the end, not when: between two rounds so much time passes that every pod has
waited long enough, every victim has exited and every node that was found is taken. It applies the lasting safeguards
(disruption budgets, pauses of queues) where the pass inputs have them, and no limits that only delay. Victims with a
controller come back and are pending again; others don't, nor do pods that were terminating at the beginning, as their
replacements exist already. No pod is started, finished or deleted by anything else, unless ``changes`` say so.

Under policy `fence` it ends: what all queues lack of their guarantees (the sum of invariant 8, in integers) falls with
every decision except those for DaemonSets, which are as many as these have pods to place; victims come back pending, so
the sum does not rise by itself. With a sum of N there are at most N such decisions, and each evicts at most the pods of
one node.
"""

from collections.abc import Sequence

from engine.audit import AuditTerms
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.forecast.outcome import (
    ClusterChange,
    Eviction,
    EvictionCount,
    EvictionGroup,
    Forecast,
    ForecastDifference,
    Loop,
    PlacedPod,
    Round,
    Settling,
    difference,
    group_evictions,
    origin,
)
from engine.planning.forecast.rolling import RollingCluster
from engine.planning.forecast.unreached import UnreachedGuarantee, unreached_guarantees
from engine.planning.journal import PassInputs
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import Decide

__all__ = [
    "ClusterChange",
    "Eviction",
    "EvictionCount",
    "EvictionGroup",
    "Forecast",
    "ForecastDifference",
    "Loop",
    "PlacedPod",
    "Round",
    "Settling",
    "UnreachedGuarantee",
    "difference",
    "forecast",
    "group_evictions",
    "origin",
    "unreached_guarantees",
]

_SERVED = "served"
"""The hold of a decision whose pod has preempted before."""
PASSES = 30
"""The limit on rounds: more than a change that reaches a stable state needs."""


def forecast(
    state: ClusterState,
    moment: PassInputs,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
    passes: int = PASSES,
    foreign: bool = False,
    changes: Sequence[ClusterChange] = (),
) -> Forecast:
    """Roll a cluster forward under a tree, published or not, for at most ``passes`` rounds (1 or more).

    The first round is what the next pass would decide if no safeguard held it back. ``foreign``: the dialect is another
    scheduler's; for one pending pod it preempts only once, as YuniKorn does. ``changes``: other changes; the
    forecast does not end before the last of them. ``state`` is unchanged.
    """
    rolling, last_change = RollingCluster(state, moment), max((change.round for change in changes), default=0)
    rounds: list[Round] = []
    served: set[str] = set()

    def hold(considered: AuditedDecision) -> str:
        return _SERVED if foreign and considered.decision.ask.uid in served else ""

    round_by_signature: dict[bytes, int] = {}
    settles, loop = Settling.UNDECIDED, None
    while len(rounds) < passes:
        number, now = len(rounds) + 1, rolling.moment
        rolling.apply_changes(change for change in changes if change.round == number)
        snapshot = now.snapshot(rolling.state, tree)
        considered = plan(snapshot, snapshot.tree, decide, terms=terms, hold=hold)
        exited, placed = rolling.move_on(snapshot, considered, number)
        rounds.append(Round(number=number, now_ms=now.now_ms, considered=tuple(considered), placed=placed, left=exited))
        served |= {decision.ask.uid for decision in rounds[-1].preemptions}
        if number <= last_change:  # a pod that was created in it waits for its delay
            continue
        waits = number == 1 or rolling.moment.notices != now.notices
        if not rounds[-1].moves and not waits:  # no pod is in a delay, and no queue in a grace period
            settles = Settling.STABLE
            break
        if rounds[-1].preemptions:
            before = round_by_signature.setdefault(rolling.signature(), number)
            if before < number:
                settles, loop = Settling.LOOP, Loop.of(rounds[before:])
                break
    return Forecast(rounds=tuple(rounds), settles=settles, loop=loop, end=rolling.state)
