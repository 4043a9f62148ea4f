"""What would have been decided otherwise, worked out on what the pass saw: on demand, for it takes its time."""

from dataclasses import dataclass

import msgspec

from engine import journal
from engine.counterfactual import Counterfactual, counterfactuals
from engine.decision import Decision as EngineDecision
from engine.decision import encode
from engine.optimal import Optimal, optimal
from engine.planning import each
from engine.policies import policy, priority, terms, yunikorn
from engine.snapshot import Pod, Snapshot
from engine.troubles import Recognised, troubles
from scheduler_admin.history.journal_selectors import chain
from scheduler_admin.history.models import Decision
from scheduler_admin.history.replay import CannotReplayError
from scheduler_admin.queues.services import tree_of


@dataclass(frozen=True)
class Otherwise:
    """Everything that was worked out for one decision."""

    decision: EngineDecision
    counterfactuals: tuple[Counterfactual, ...] = ()
    troubles: tuple[Recognised, ...] = ()
    least: Optimal | None = None
    quirks: tuple[yunikorn.Effect, ...] = ()
    """YuniKorn's departures from its own design that changed it."""


def answers(row: Decision) -> bool:
    """Whether it can be worked out: a decision by priority or YuniKorn's rules, of which everything is still stored."""
    by_rules = row.policy == priority.POLICY or row.dialect == yunikorn.DIALECT
    return row.source == Decision.Source.ENGINE and by_rules and row.replayable and row.outcome != "fits"


def otherwise(row: Decision) -> Otherwise:
    """Decide again, as it was and with something changed.

    Raises CannotReplayError, also for decisions that don't ``answers``, and engine.journal.JournalError.
    """
    snapshot, decision, ask = _as_it_was(row)
    if decision.dialect == yunikorn.DIALECT:
        assert row.revision is not None
        partition = msgspec.convert(row.revision.parameters, yunikorn.Parameters)
        found = yunikorn.effects(snapshot, snapshot.tree, ask, decision, partition)
        return Otherwise(decision=decision, quirks=found)
    return Otherwise(
        decision=decision,
        counterfactuals=counterfactuals(snapshot, ask, decision),
        troubles=troubles(snapshot, ask, decision),
        least=optimal(snapshot, snapshot.tree, ask, decision),
    )


def _as_it_was(row: Decision) -> tuple[Snapshot, EngineDecision, Pod]:
    """The snapshot that it was taken on, with the asks before it served."""
    if not answers(row) or row.entry is None or row.revision is None:
        raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be decided otherwise.")
    state, moment = journal.read(chain(row.entry.segment_id, row.entry.offset))
    parameters = row.revision.parameters
    decide = policy(row.revision.policy, row.revision.dialect, parameters)
    whole = moment.snapshot(state, tree_of(row.revision))
    passed = each(whole, whole.tree, decide, terms=terms(parameters), hold=moment.hold)
    for snapshot, one in passed:
        if one.decision.ask.uid == row.ask_uid and encode(one.decision) == row.document.encode():
            ask = next(pod for pod in snapshot.asks if pod.uid == row.ask_uid)
            return snapshot, one.decision, ask
    raise CannotReplayError(f"Decision {row.pk} does not come out again.")
