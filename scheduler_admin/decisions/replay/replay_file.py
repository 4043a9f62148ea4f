"""A decision with all that it rests on, as a file that ``python -m engine replay`` reads."""

import msgspec

from engine.model.decision import decode
from engine.planning import journal
from engine.planning.bundle import SavedDecision, pack
from engine.planning.journal import PassInputs
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay import rewind
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.selectors.decisions import read_observed
from scheduler_admin.journal.selectors.journal import chain
from scheduler_admin.queues.services.hierarchies import terms_of, tree_of


def replays(row: Decision) -> bool:
    """Whether there is such a file: everything is still stored, and another scheduler's rules come to the same."""
    seen = read_observed(row)
    return rewind.answers(row, seen) if seen else row.source == Decision.Source.ENGINE and row.replayable


def replay_file(row: Decision) -> bytes:
    """The zip of engine.planning.bundle; of another scheduler's decision what its own rules decided.

    Raises CannotReplayError, and engine.planning.journal.JournalError.
    """
    if not replays(row) or row.revision is None:
        raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be replayed.")
    seen = read_observed(row)
    if seen is None:
        assert row.entry is not None
        state, moment = journal.read(chain(row.entry.segment_id, row.entry.offset))
        return pack(
            state,
            moment,
            tree_of(row.revision),
            terms_of(row.revision)._asdict(),
            SavedDecision(decision=decode(row.document)),
        )
    again, decision = rewind.as_it_was(row, seen)
    state, moment = rewind.just_before(row)
    state.pods[again.ask.uid] = msgspec.structs.replace(state.pods[again.ask.uid], nominated_node="")
    terms = {"policy": decision.policy, "dialect": decision.dialect, "parameters": {}}
    tree = rewind.tree_gone_by(row)
    return pack(
        state,
        PassInputs(now_ms=moment.now_ms, scheduler=moment.scheduler, group_scheduling=moment.group_scheduling),
        tree,
        terms,
        SavedDecision(decision=decision, alone=True),
    )
