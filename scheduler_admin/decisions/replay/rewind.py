"""How the cluster was just before another scheduler preempted: kept, so that it can be decided again by its rules."""

from collections.abc import Mapping, Sequence

import msgspec

from engine.analysis.counterfactuals import Again
from engine.explain import Message, replay_lines
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import encode
from engine.model.message import gettext_noop
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions import EvictionSource, Observed, WorkloadReplay, agrees, decode, rules_of
from engine.observation.replay import repeated_decision
from engine.planning import journal
from engine.planning.journal import PassInputs
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.decisions.models import Decision, Rewound, Victim
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.journal.selectors.journal import chain
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.sync.models import UsedTree
from scheduler_admin.sync.used_trees import tree_used


def keep(
    rows: Sequence[Decision],
    found: Sequence[Observed],
    before: Mapping[int, ClusterState],
    trees: Mapping[int, UsedTree],
    *,
    state: ClusterState,
    entry: int,
) -> None:
    """Keep what was seen before each of the decisions, as far as it is not as in ``state``.

    ``rows`` hold what was ``found``; ``before`` and ``trees``: see history.observing.Seen; ``entry`` (id) of the
    journal has ``state``. What would have spared their victims is worked out later, where it can be. Called within a
    transaction.
    """
    whole = {row.pk: decode(row.document) for row in rows}
    kept = [
        Rewound(
            decision=rows[number],
            entry_id=entry,
            tree=trees.get(number),
            blob=journal.encode_changes(state, one, _moment(found[number], state)),
        )
        for number, one in before.items()
        if whole[rows[number].pk].hindsight == found[number].hindsight  # what joins it later may have another
    ]
    Rewound.objects.bulk_create(
        kept, update_conflicts=True, unique_fields=["decision"], update_fields=["entry", "blob", "tree"]
    )
    askable = {pk for pk, seen in whole.items() if agrees(seen)}
    Victim.objects.filter(decision__in=askable).update(changes=None)
    Victim.objects.filter(decision__in=whole.keys() - askable).update(changes=[])
    for pk, seen in whole.items():
        if seen.weighed is not None:
            _keep_spared(pk, seen.weighed)


def _keep_spared(decision: int, weighed: WorkloadReplay) -> None:
    """What of its own would have spared each victim of Kueue's: worked out with the rest of its answer."""
    for uid in {uid for gone in weighed.theirs for uid in gone.pods}:
        if changes := weighed.spared_pod(uid):
            Victim.objects.filter(decision=decision, uid=uid).update(changes=msgspec.to_builtins(changes))


def answers(row: Decision, seen: Observed) -> bool:
    """Whether another's decision can be decided again, and its rules came to the same then."""
    return row.revision_id is not None and hasattr(row, "rewound") and agrees(seen)


def as_it_was(row: Decision, seen: Observed) -> tuple[Again, EngineDecision]:
    """What another scheduler decided on, and what its own rules decide.

    Raises CannotReplayError, also for what it does not ``answers``, and engine.planning.journal.JournalError.
    """
    if row.revision is None or not answers(row, seen):
        raise CannotReplayError(f"Decision {row.pk} can't, or can no longer, be decided again.")
    state, moment = just_before(row)
    # What was learned of it first may have been of an earlier moment, and was not decided again.
    again = repeated_decision(msgspec.structs.replace(seen, at_ms=moment.now_ms), state, tree_gone_by(row))
    decision = again.as_it_was() if again is not None else None
    assert seen.hindsight is not None
    if again is None or decision is None or encode(decision) != encode(seen.hindsight.decision):
        raise CannotReplayError(f"Decision {row.pk} does not come out again.")
    return again, decision


GONE_BY = gettext_noop(
    "This replay uses the queue tree that %(scheduler)s used at that moment. It differs from revision "
    "%(number)s, which was published here at that time."
)


BY_RULES = gettext_noop("This replay uses the rules of %(scheduler)s %(version)s.")
BY_UNTRIED_RULES = gettext_noop(
    "This replay uses the rules of %(scheduler)s %(version)s. The cluster runs version %(running)s, for "
    "which these rules are not tested."
)


def again_lines(row: Decision, seen: Observed, running: str = "") -> tuple[Message, ...]:
    """What another scheduler's own rules answer; then by which tree, where it was not the revision's, and which rules.

    ``running``: which version of it runs in the cluster; empty where that is not known.
    """
    lines = replay_lines(seen)
    if not lines or (seen.hindsight is None and seen.weighed is None):
        return lines
    scheduler, rules = str(row.get_source_display()), rules_of(seen)
    told = {"scheduler": scheduler, "version": rules.version}
    tried = Message(BY_RULES, told)
    if running and not rules.cover(running):
        tried = Message(BY_UNTRIED_RULES, {**told, "running": running})
    other = row.revision is not None and hasattr(row, "rewound") and row.rewound.tree_id is not None
    number = str(row.revision.number) if row.revision else ""
    return (*lines, *([Message(GONE_BY, {"scheduler": scheduler, "number": number})] if other else ()), tried)


def _moment(seen: Observed, state: ClusterState) -> PassInputs:
    return PassInputs(now_ms=seen.at_ms, scheduler=state.scheduler, group_scheduling=state.group_scheduling)


def running_of(row: Decision) -> str:
    """Which version of the scheduler that decided runs in the cluster now; empty where that is not known."""
    status = status_of(row.cluster)
    name = "kube-scheduler" if row.source == EvictionSource.KUBE_SCHEDULER else str(row.get_source_display())
    return str(status.versions.get(name, "")) if status else ""


def tree_gone_by(row: Decision) -> QueueTree:
    """The tree that another scheduler went by, in a decision that can be decided again."""
    assert row.revision is not None
    return tree_of(row.revision) if row.rewound.tree is None else tree_used(row.rewound.tree)


def just_before(row: Decision) -> tuple[ClusterState, PassInputs]:
    """The cluster of just before another's decision, of which it is kept. Raises JournalError."""
    entry = row.rewound.entry
    return journal.read([*chain(entry.segment_id, entry.offset), bytes(row.rewound.blob)])
