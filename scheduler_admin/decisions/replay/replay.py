"""Decisions decided again from what was stored: the journal, the revision, and nothing else."""

from collections.abc import Iterator
from itertools import groupby

from django.db.models import QuerySet

from engine.model.decision import Decision as EngineDecision
from engine.model.decision import encode
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.journal import PassInputs, numbered_frames, read, replay
from engine.planning.scheduling_pass import AuditedDecision, plan_steps
from engine.policies import UnknownPolicyError, audit_terms, policy
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.selectors.journal import chain
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import tree_of


class CannotReplayError(LookupError):
    """What a decision rests on is not stored, or no longer. ``str()`` is a sentence."""


def replayable(rows: QuerySet[Decision]) -> QuerySet[Decision]:
    """Those of which everything is still there."""
    return rows.filter(entry__isnull=False, revision__isnull=False)


def replayed(row: Decision) -> bytes:
    """A decision as the engine takes it on what was seen then, as engine.model.decision.encode writes it; empty: none.

    Raises CannotReplayError, engine.planning.journal.JournalError, and what engine.policies.policy raises.
    """
    for _row, document in each_replayed(Decision.objects.filter(pk=row.pk)):
        return document
    raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be replayed.")


def same(row: Decision) -> bool:
    """Whether a decision comes out again to the byte. Raises as ``replayed`` does."""
    return replayed(row) == row.document.encode()


def each_replayed(rows: QuerySet[Decision]) -> Iterator[tuple[Decision, bytes]]:
    """``replayed`` of all that can be, each segment read and each pass run once. Raises JournalError."""
    found = replayable(rows).select_related("entry", "revision", "cluster").defer("entry__blob", "laws")
    ordered = found.order_by("entry__segment", "entry__offset", "revision", "pk").iterator(chunk_size=500)
    for segment, in_segment in groupby(ordered, key=lambda row: _place(row)[0]):
        by_offset = {offset: list(at) for offset, at in groupby(in_segment, key=lambda row: _place(row)[1])}
        for offset, state, moment in numbered_frames(chain(segment, max(by_offset))):
            for revision, decided in groupby(by_offset.get(offset, ()), key=lambda row: row.revision):
                assert revision is not None
                documents = _documents(state, moment, revision)
                yield from ((row, documents.get(row.ask_uid, b"")) for row in decided)


def as_it_was(row: Decision) -> tuple[Snapshot, EngineDecision, Pod]:
    """The snapshot that it was taken on, with the asks before it served; the decision, and its ask.

    Raises CannotReplayError and engine.planning.journal.JournalError.
    """
    if row.entry is None or row.revision is None:
        raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be replayed.")
    state, moment = read(chain(row.entry.segment_id, row.entry.offset))
    try:
        decided = each_decided(state, moment, row.revision)
    except UnknownPolicyError as error:
        raise CannotReplayError(str(error)) from error
    for snapshot, one in decided:
        if one.decision.ask.uid == row.ask_uid and encode(one.decision) == row.document.encode():
            ask = next(pod for pod in snapshot.asks if pod.uid == row.ask_uid)
            return snapshot, one.decision, ask
    raise CannotReplayError(f"Decision {row.pk} does not come out again.")


def each_decided(
    state: ClusterState, moment: PassInputs, revision: Revision
) -> Iterator[tuple[Snapshot, AuditedDecision]]:
    """What a pass decides one by one, each with the snapshot that it is decided on."""
    decide = policy(revision.policy, revision.dialect, revision.parameters)
    whole = moment.snapshot(state, tree_of(revision))
    return plan_steps(
        whole,
        whole.tree,
        decide,
        terms=audit_terms(revision.policy, revision.dialect, revision.parameters),
        hold=moment.hold,
    )


def _place(row: Decision) -> tuple[int, int]:
    assert row.entry is not None
    return row.entry.segment_id, row.entry.offset


def _documents(state: ClusterState, moment: PassInputs, revision: Revision) -> dict[str, bytes]:
    """An ask's uid -> what the whole pass decides about it."""
    decide = policy(revision.policy, revision.dialect, revision.parameters)
    considered = replay(
        state,
        moment,
        tree_of(revision),
        decide,
        terms=audit_terms(revision.policy, revision.dialect, revision.parameters),
    )
    return {one.decision.ask.uid: encode(one.decision) for one in considered}
