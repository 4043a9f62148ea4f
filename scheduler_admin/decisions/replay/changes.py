"""What would have been decided otherwise, worked out on what the pass saw: beside the passes, for it takes its time."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import transaction

from engine.analysis.anomalies import Anomaly, find_anomalies
from engine.analysis.counterfactuals import Again, Counterfactual, counterfactuals, counterfactuals_of_victim
from engine.analysis.optimum import Optimal, is_supported, optimal
from engine.explain import Message, no_counterfactuals_reason
from engine.model.decision import Decision as EngineDecision
from engine.planning.journal import JournalError
from engine.policies import decisions_of_other_policies, policy, priority, yunikorn
from scheduler_admin.clusters.status.store import mark_news
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.replay import rewind
from scheduler_admin.decisions.replay.replay import CannotReplayError, as_it_was
from scheduler_admin.decisions.selectors.decisions import read_observed

log = logging.getLogger(__name__)

_AT_ONCE = 50
"""So many victims are looked at in one go."""
_FIRST = 20
"""Of so many victims of a decision it is worked out."""


@dataclass(frozen=True)
class Otherwise:
    """Everything that was worked out for one decision."""

    decision: EngineDecision
    counterfactuals: tuple[Counterfactual, ...] = ()
    troubles: tuple[Anomaly, ...] = ()
    least: Optimal | None = None
    quirks: tuple[yunikorn.QuirkEffect, ...] = ()
    """YuniKorn's departures from its own design that changed it."""
    others: tuple[EngineDecision, ...] = ()
    """The same ask at the same moment by every other policy."""


def answers(row: Decision) -> bool:
    """Whether it can be worked out: everything is still stored, and another scheduler's rules come to the same."""
    seen = read_observed(row)
    return rewind.answers(row, seen) if seen else _ours(row)


def _ours(row: Decision) -> bool:
    return row.source == Decision.Source.ENGINE and row.replayable and row.outcome != "fits"


def otherwise(row: Decision) -> Otherwise:
    """Decide again, as it was and with something changed.

    Raises CannotReplayError, also for decisions that don't ``answers``, and engine.planning.journal.JournalError.
    """
    again, decision = _as_it_was(row)
    snapshot, ask = again.snapshot, again.ask
    parameters = _parameters(row)
    others = tuple(decisions_of_other_policies(snapshot, snapshot.tree, ask, decision))
    if decision.dialect == yunikorn.DIALECT:
        partition = msgspec.convert(parameters, yunikorn.Parameters)
        quirks = yunikorn.effects(snapshot, snapshot.tree, ask, decision, partition)
        return Otherwise(decision=decision, quirks=quirks, others=others)
    by_priority, sets = decision.dialect == priority.DIALECT, is_supported(decision.policy, decision.dialect)
    return Otherwise(
        decision=decision,
        counterfactuals=counterfactuals(again, decision),
        troubles=find_anomalies(snapshot, ask, decision) if by_priority else (),
        least=optimal(snapshot, snapshot.tree, ask, decision, parameters) if sets else None,
        others=others,
    )


def _parameters(row: Decision) -> dict[str, Any]:
    """What it was decided by: another scheduler is not told our revision's."""
    if row.revision is None or row.source != Decision.Source.ENGINE:
        return {}
    return dict(row.revision.parameters)


def work_out(*, for_s: float) -> None:
    """Store what would have spared each victim that this was not worked out for yet.

    The newest decision in turn with the oldest: shown ones get new figures pass by pass, and keep nobody waiting so.
    After one of each no further one is begun after ``for_s`` seconds. What can't be decided again is left without an
    answer, and so are all but the first victims of a decision.
    """
    until_s = time.monotonic() + for_s
    waiting = Victim.objects.filter(changes__isnull=True).values_list("decision_id", flat=True)
    newest, oldest = waiting.order_by("-decision_id")[:_AT_ONCE], waiting.order_by("decision_id")[:_AT_ONCE]
    pairs = zip(newest, oldest, strict=False)  # a pass may have written in between
    for begun, pk in enumerate(dict.fromkeys(pk for pair in pairs for pk in pair), 1):
        row = Decision.objects.select_related("entry", "revision").defer("entry__blob").filter(pk=pk).first()
        if row is not None:  # else its victims went for another ask, as is known by now, or it was long ago
            _keep(row, _own_changes(row))
        if begun > 1 and time.monotonic() >= until_s:
            return


def _own_changes(row: Decision) -> dict[str, list[Counterfactual]]:
    """By the victims' uids."""
    try:
        again, decision = _as_it_was(row)
        return {
            one.pod.uid: list(counterfactuals_of_victim(again, decision, one.pod.uid))
            for one in decision.to_evict[:_FIRST]
        }
    except (CannotReplayError, JournalError):
        return {}
    except Exception:  # one that fails would keep all others from their turn
        log.exception("Finding what would have spared the victims of decision %s failed", row.pk)
        return {}


def _keep(row: Decision, found: Mapping[str, list[Counterfactual]]) -> None:
    """By the victims' uids; nothing where a pass has found other figures since: those are worked out next."""
    with transaction.atomic():
        stored = Decision.objects.select_for_update().filter(pk=row.pk).values_list("document", flat=True)
        if list(stored) != [row.document]:
            return
        for uid in row.victims.filter(changes__isnull=True).values_list("uid", flat=True):
            row.victims.filter(uid=uid).update(changes=msgspec.to_builtins(found.get(uid, [])))
        mark_news(row.cluster_id)


def own_changes(victim: Victim) -> list[Counterfactual]:
    """What of its own would have spared a victim; empty while it is not worked out, or where there is nothing."""
    return msgspec.convert(victim.changes or [], list[Counterfactual])


def untold(row: Decision, victim: Victim) -> tuple[Message, ...]:
    """Why nothing of that is told of a victim of another scheduler's; empty where there is nothing to say."""
    seen = read_observed(row)
    if seen is None or victim.changes is None or victim.changes:
        return ()
    return no_counterfactuals_reason(seen, is_stored=rewind.answers(row, seen))


def _as_it_was(row: Decision) -> tuple[Again, EngineDecision]:
    """What it was decided on, with the asks before it served."""
    seen = read_observed(row)
    if seen is not None:
        return rewind.as_it_was(row, seen)
    if not _ours(row) or row.revision is None:
        raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be decided otherwise.")
    snapshot, decision, ask = as_it_was(row)
    decide = policy(row.revision.policy, row.revision.dialect, row.revision.parameters)
    return Again(snapshot, snapshot.tree, ask, decide), decision
