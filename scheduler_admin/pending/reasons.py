"""Why an ask waits, tier by tier, worked out on what a pass saw: on demand, for it takes its time."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from django.core.cache import cache
from django.utils import timezone

from engine.analysis import pending_reasons as engine
from engine.analysis.pending_reasons import WORKLOADS, Need, PendingReasons, Tier, TierName
from engine.model.decision import Outcome, ReclaimNotice
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.policies.cohort import strategies_of
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload
from scheduler_admin.clusters.status.quota import moment_at, moment_of
from scheduler_admin.core.entity_tags import keyed
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import CannotReplayError, as_it_was, each_decided
from scheduler_admin.decisions.selectors.pods import PodEvent
from scheduler_admin.journal.selectors.journal import live, newest_entry
from scheduler_admin.queues.models import Revision

REMEMBERED_S = 60
"""So long an answer serves whoever looks next, unless the cluster has changed since."""


@dataclass(frozen=True)
class AskWaits:
    """What was worked out, and as of when."""

    waiting: PendingReasons
    priority: int
    at: datetime


def answers(row: Decision) -> bool:
    """Whether it can be worked out: our own decision to do nothing, of which everything is still stored."""
    if row.source != Decision.Source.ENGINE or not engine.explains(row.policy, row.dialect):
        return False
    return row.replayable and row.outcome in (Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT, Outcome.NOT_ELIGIBLE)


def why_waiting(row: Decision) -> AskWaits:
    """As the cluster was last seen, while its passes still consider the ask; else as it was when it was decided.

    Raises CannotReplayError, also for decisions that don't ``answers``, and engine.planning.journal.JournalError.
    """
    if not answers(row) or row.revision is None:
        raise CannotReplayError(f"Why the ask of decision {row.pk} waits can't, or can no longer, be worked out.")
    key = _key(row, row.revision)
    known: AskWaits | None = cache.get(key)
    if known is None:
        known = _worked_out(row, row.revision)
        cache.set(key, known, REMEMBERED_S)
    return known


def _key(row: Decision, revision: Revision) -> str:
    """Under which it is kept: the ask, what was seen of the cluster, and the tree that held."""
    seen = f"then-{row.entry_id}"
    if PodEvent(row, None).current and row.cluster.hierarchy is not None:
        seen = f"now-{newest_entry(row.cluster)}-{row.cluster.hierarchy.current_id}"
    return f"waiting:{row.pk}:{revision.pk}:{seen}"


def _worked_out(row: Decision, revision: Revision) -> AskWaits:
    snapshot, ask = (_now(row) if PodEvent(row, None).current else None) or _then(row)
    found = engine.pending_reasons_of(snapshot, snapshot.tree, ask, row.policy, row.dialect, revision.parameters)
    return AskWaits(found, ask.priority, datetime.fromtimestamp(snapshot.now_ms / 1000, UTC))


def _now(row: Decision) -> tuple[Snapshot, Pod] | None:
    """At its turn in a pass over the newest that is known; None where it waits no more, or another tree holds."""
    revision, known = row.revision, live(row.cluster)
    if known is None or revision is None or row.cluster.hierarchy is None:
        return None
    if row.cluster.hierarchy.current_id != revision.pk:
        return None
    for snapshot, one in each_decided(known.state, known.moment, revision):
        if one.decision.ask.uid == row.ask_uid:
            return snapshot, next(pod for pod in snapshot.asks if pod.uid == row.ask_uid)
    return None


def _then(row: Decision) -> tuple[Snapshot, Pod]:
    snapshot, _decision, ask = as_it_was(row)
    return snapshot, ask


def why_workload_waits(cluster: Cluster, workload: PendingWorkload) -> AskWaits:
    """Work out why a workload waits for Kueue's quota, as the cluster was last seen.

    Raises CannotReplayError where it waits no more, or Kueue is set in a way that is not known here.
    """
    key = keyed(f"waiting {cluster.pk} {workload.namespace}/{workload.name} {moment_at(cluster)}")
    found: AskWaits | None = cache.get(key)
    if found is None:
        found = _by_kueues_rules(cluster, workload)
        cache.set(key, found, REMEMBERED_S)
    return found


def _by_kueues_rules(cluster: Cluster, workload: PendingWorkload) -> AskWaits:
    status = status_of(cluster)
    at = status.pass_at if status and status.pass_at else timezone.now()
    kept = moment_of(cluster, at)
    asks = kept.quota.workloads if kept is not None else ()
    ask = next((one for one in asks if (one.namespace, one.name) == (workload.namespace, workload.name)), None)
    if kept is None or ask is None or ask.holds or ask.queue not in kept.quota.queues:
        raise CannotReplayError(f"Workload {workload.namespace}/{workload.name} does not wait in any queue any more.")
    try:
        strategies = next((strategies_of(one) for one in kept.sharing), None)
        waiting = engine.pending_workload_reasons(kept.quota, ask, strategies, workload.queue or ask.queue)
    except ValueError as error:  # strategies of a newer Kueue, or cohorts in a ring
        raise CannotReplayError(str(error)) from error
    return AskWaits(waiting, ask.priority, at)


def seen_by(scope: Scope, found: PendingReasons, queue: str) -> PendingReasons:
    """For a tenant with an ask of ``queue``: without counts, nor figures of queues that are not theirs."""
    if scope.everything:
        return found

    def own(path: str) -> bool:
        return path == queue or scope.has_path(path)

    tiers = tuple(_seen(tier, own) for tier in found.tiers)
    # What does it together is told only with all of it in sight.
    told = all(seen.remedies[:1] == tier.remedies[:1] for seen, tier in zip(tiers, found.tiers, strict=True))
    return msgspec.structs.replace(found, tiers=tiers, together=found.together and told)


_TOLD = (TierName.POTENTIAL, TierName.DESERVED, TierName.GROUP, TierName.GROUP_GATES, TierName.GROUP_NODES)
"""Tiers that are about a tenant's own queue or group, so the tenant sees them unchanged."""


def _seen(tier: Tier, own: Callable[[str], bool]) -> Tier:
    needs: tuple[Need, ...] = tier.needs
    if tier.name in (TierName.QUOTA, TierName.HARD):
        needs = tuple(need for need in needs if own(need.where))
    elif tier.name is TierName.GUARANTEE:  # what others would give up for it is theirs
        needs = tuple(need for need in needs if own(need.where) and not need.evictable)
    elif tier.name is TierName.NODE:
        needs = tuple(_joined(need) for need in needs)
    elif tier.name is TierName.AVAILABLE:  # likewise
        needs = tuple(msgspec.structs.replace(need, evictable=0) for need in needs)
    elif tier.passes and tier.name not in _TOLD:
        # That it is about workloads is told, not of how many.
        needs = tuple(
            msgspec.structs.replace(need, available=need.required) for need in needs if need.resource == WORKLOADS
        )
    limit = tier.limit if tier.limit is not None and own(tier.limit.queue) else None
    return msgspec.structs.replace(
        tier,
        needs=needs,
        reached=tuple(one for one in tier.reached if own(one.queue)),
        held={},
        staying=dict.fromkeys(tier.staying, 0),
        notices=tuple(
            one if own(one.queue) else ReclaimNotice(queue="", over={}, due_ms=one.due_ms) for one in tier.notices
        ),
        limited=tier.limited if limit else "",
        limit=limit,
        remedies=tuple(one for one in tier.remedies if all(map(own, one.queues))),
    )


def _joined(need: Need) -> Need:
    """What others could give is not told apart from what is free."""
    return msgspec.structs.replace(need, available=need.available + need.evictable, evictable=0)
