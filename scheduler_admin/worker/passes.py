"""One pass over one cluster: settle what is open, take a snapshot, decide, audit, hold back, store, carry out."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engine.audit import audit, audit_remaining_victims, failed_checks
from engine.model.decision import Interlock, Reason
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState, Protection, Safeguards, Snapshot, pending_workloads
from engine.model.snapshot.resource_quotas import TighterQuota
from engine.planning.journal import PassInputs, holds_of
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import UnknownPolicyError, audit_terms, find, guarded, is_enforceable, policy
from engine.policies.deserved import ShareStatus
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.breakers import unreadable
from scheduler_admin.clusters.safeguards.enforce_scope import limited
from scheduler_admin.clusters.safeguards.holds import Hold, counted, store_holds
from scheduler_admin.clusters.safeguards.stops import Stops
from scheduler_admin.clusters.services import keep_uid
from scheduler_admin.clusters.status.quota import store_quota
from scheduler_admin.clusters.status.store import queue_figures, store_error, store_status
from scheduler_admin.clusters.watching.group_scheduling import group_scheduling_of
from scheduler_admin.clusters.watching.ownership import claim, claimed_at
from scheduler_admin.clusters.watching.watchers import OWNER, Watch
from scheduler_admin.core.faults import reached
from scheduler_admin.core.monitoring.meters import Ended
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import read
from scheduler_admin.journal.models import Pass
from scheduler_admin.journal.services import journal
from scheduler_admin.ledger.repeat_victims import count_repeats
from scheduler_admin.ledger.services import book
from scheduler_admin.nodes.services import follow_nodes
from scheduler_admin.notifications.events.shortfalls import follow_shortfalls
from scheduler_admin.pending.waits import follow_waits
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors.lending import lent_by_queue
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.sync.used_trees import scheduler_of
from scheduler_admin.usage.samples import sample, slot
from scheduler_admin.worker import allocations, reclaim_notices
from scheduler_admin.worker.acting.disruption_budgets import Disruption, promised
from scheduler_admin.worker.acting.execution import Carrier
from scheduler_admin.worker.acting.safeguards import Interlocks, appeared, breakers_of, in_the_cluster, may_go, not_ours
from scheduler_admin.worker.acting.seats import leave_out_own_taints, opened_seats, reservations_of
from scheduler_admin.worker.deserved_shares import less, quotas, shares, standings
from scheduler_admin.worker.recorder.decisions import Finding, record
from scheduler_admin.worker.recorder.observe import Seen, look, record_others
from scheduler_admin.worker.recorder.replacements import follow_aftermath

_JITTER = timedelta(milliseconds=250)
"""Beat is not that punctual: a pass that comes this much early is no pass too many."""
_GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio: the fractional parts of its multiples are spread evenly, however many there are."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What a pass saw and worked out, before anything is done."""

    state: ClusterState
    moment: PassInputs
    snapshot: Snapshot
    standings: Mapping[str, ShareStatus]
    less: Mapping[str, TighterQuota]
    """The leaves whose namespaces may have less than the tree says."""
    findings: list[Finding]
    holds: list[Hold]
    took_us: int
    held: tuple[Pod, ...] = ()
    """Workloads that wait for quota, each as one pod."""


def run_pass(*, cluster: Cluster, watch: Watch) -> Ended:
    """Run one pass; a second at the same time, in this process or another, does nothing. How it ended."""
    if not watch.busy.acquire(blocking=False):
        return Ended.SKIPPED
    try:
        now = timezone.now()
        revision = cluster.hierarchy.current if cluster.hierarchy else None
        if revision is None or not claim(cluster=cluster, owner=OWNER, now=now):
            return Ended.SKIPPED
        if watch.wait_for_first_read():
            now = timezone.now()
        health = watch.watcher.health()
        watch.too_early = not health.synced
        if trouble := unreadable(health):
            if health.stranger:
                watch.resign()  # its lease is not ours to hold
            store_error(cluster=cluster, sentence=trouble, now=now)
            return Ended.UNREADABLE
        keep_uid(cluster=cluster, uid=watch.watcher.uid)
        return _pass(cluster, revision, watch, now)
    finally:
        watch.busy.release()


def _pass(cluster: Cluster, revision: Revision, watch: Watch, now: datetime) -> Ended:
    leads = cluster.mode == Cluster.Mode.ENFORCE and watch.lead()
    carrier = Carrier(
        cluster=cluster,
        executor=watch.actuator,
        pod=watch.watcher.pod,
        last_seen=watch.watcher.last_seen,
        nodes=watch.watcher.nodes,
        may_act=partial(may_go, cluster, watch),
        broken=lambda row: _broken_by_now(cluster, revision, watch, row),
        heard=watch.writes.note,
    )
    if cluster.mode == Cluster.Mode.ENFORCE:
        settled = _carry_open(cluster, carrier, leads=leads)
    else:
        settled = _leave(cluster, watch, carrier)
    settled |= carrier.follow()
    try:
        found = _work_out(cluster, revision, watch, now, leads=leads)
    except UnknownPolicyError as error:
        store_error(cluster=cluster, sentence=str(error), now=now)
        return Ended.FAILED
    events = "Event" not in watch.watcher.health().missing
    others = look(
        cluster=cluster,
        revision=revision,
        tree=found.snapshot.tree,
        state=found.state,
        settled=watch.settled,
        now=now,
        events=events,
    )
    rows = _store(cluster, revision, watch, found, others, now, settled=settled)
    for row, finding in rows:
        if finding.act:
            reached("intended")
            carrier.carry(row)
        elif _told_only(cluster, finding) and cluster.publish and row.first_seen == now:
            carrier.advise(row)
    if leads:
        decisions = [finding.considered.decision for finding in found.findings]
        allocations.tell(
            standings=found.standings,
            watch=watch,
            state=found.state,
            snapshot=found.snapshot,
            less=found.less,
            decisions=decisions,
        )
    if leads or (cluster.mode == Cluster.Mode.ADVISE and cluster.publish):
        reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=found.snapshot.pods)
    if leads and watch.leads():  # what is on the nodes may be another leader's by now
        owners = {seat.owner for seats in opened_seats(cluster) for seat in seats.each}
        watch.actuator.sweep(owners, forgotten=partial(_forgotten, cluster, found.snapshot))
    return Ended.DONE


def _forgotten(cluster: Cluster, snapshot: Snapshot, asks: Collection[str]) -> set[str]:
    """Of asks (uids) for which nodes are kept, those that wait, and of which no decision of ours ended after it began.

    So it is where our database was restored from before that: its victims are on their way out.
    """
    waiting = {ask.uid: (ask.namespace, ask.scheduling_group) for ask in snapshot.asks if ask.uid in asks}
    named = [name for _namespace, name in waiting.values() if name]
    closed = Decision.objects.filter(cluster=cluster, state=Decision.State.CLOSED)
    rows = closed.filter(Q(ask_uid__in=waiting) | Q(ask_group__in=named))
    begun = rows.exclude(ending__in=(Decision.Ending.REJECTED, Decision.Ending.SUPERSEDED)).order_by()
    ended = set(begun.values_list("ask_uid", "ask_namespace", "ask_group"))
    pods, groups = {uid for uid, *_group in ended}, {(namespace, name) for _uid, namespace, name in ended if name}
    return {uid for uid, group in waiting.items() if uid not in pods and group not in groups}


def _carry_open(cluster: Cluster, carrier: Carrier, *, leads: bool) -> bool:
    """Take every open decision further while we lead. Whether there was one."""
    opened = list(Decision.objects.filter(cluster=cluster).open())
    for row in opened if leads else ():
        carrier.carry(row)
    return bool(opened)


def _leave(cluster: Cluster, watch: Watch, carrier: Carrier) -> bool:
    """Where we act no longer: end what is open, take all that is ours off the nodes, then give the lease back.

    Until that is done the lease is ours, so that no installation that takes over finds its own reservations gone.
    Whether a decision was open.
    """
    opened = list(Decision.objects.filter(cluster=cluster).open())
    if not opened and not cluster.untidy:
        watch.resign()
        return False
    if watch.lead():
        for row in opened:
            carrier.leave(row, note=f"mode {cluster.mode}")
        ended = not Decision.objects.filter(cluster=cluster).open().exists()
        if ended and watch.leads() and watch.actuator.sweep((), thorough=True).done:
            Cluster.objects.filter(pk=cluster.pk).exclude(mode=Cluster.Mode.ENFORCE).update(untidy=False)
    elif watch.rival:  # whoever leads now sweeps what is not theirs
        for row in opened:
            carrier.end(row, Decision.Ending.TIMED_OUT, f"mode {cluster.mode}", released=())
    return bool(opened)


def _told_only(cluster: Cluster, finding: Finding) -> bool:
    """Whether what would be done is told and not done: in advise, and in enforce where that is limited."""
    return cluster.mode == Cluster.Mode.ADVISE or finding.hold == Interlock.OUT_OF_SCOPE


def _broken_by_now(cluster: Cluster, revision: Revision, watch: Watch, row: Decision) -> str:
    """The first law, or else interlock, that a decision would break as cluster and tree are now; empty when none.

    Of one that was begun: the laws on who may be taken, for those victims that are still to go.
    """
    decision = read(row)
    if decision is None:
        return "unknown"
    tree, agreed = tree_of(revision), audit_terms(revision.policy, revision.dialect, revision.parameters)
    now = timezone.now()
    state = journal.seen(watch=watch, now=now)
    state.scheduler = scheduler_of(cluster, revision)
    state.group_scheduling = group_scheduling_of(cluster, watch, state)
    leave_out_own_taints(state, row)
    moment = _moment(cluster, revision, state, Stops.of(cluster, now), now, but=row)
    moment = msgspec.structs.replace(moment, safeguards=None)  # these are asked below, and before each eviction
    if row.state != Decision.State.PLANNED:
        left, gone = _by_progress(row)
        moment = msgspec.structs.replace(moment, going=moment.going | gone)
        snapshot = moment.snapshot(state, tree)
        laws = audit_remaining_victims(snapshot, snapshot.tree, decision, left, terms=agreed)
        return next((f"law {check.law}" for check in failed_checks(laws)), "")
    snapshot = moment.snapshot(state, tree)
    for check in failed_checks(audit(snapshot, snapshot.tree, decision, terms=agreed)):
        return f"law {check.law}"
    disruption = Disruption(snapshot, promised(cluster, but=row))
    allowed = disruption.allows(row.victims.values_list("uid", "namespace"))
    return "" if allowed else f"interlock {Interlock.DISRUPTION_BUDGET}"


def _by_progress(row: Decision) -> tuple[frozenset[str], frozenset[str]]:
    """The victims (uids) that are still to go, and the others."""
    pending = (Victim.State.CHOSEN, Victim.State.ON_HOLD)
    states = dict(row.victims.values_list("uid", "state"))
    left = frozenset(uid for uid, state in states.items() if state in pending)
    return left, frozenset(states) - left


def _moment(
    cluster: Cluster,
    revision: Revision,
    state: ClusterState,
    stops: Stops,
    now: datetime,
    *,
    but: Decision | None = None,
) -> PassInputs:
    """What people paused, and what open decisions (all ``but`` one) will leave: their room kept, their victims going.

    Also those that the API server still holds back: what they hold is promised, and nobody else may count on it.
    """
    opened = Decision.objects.filter(cluster=cluster).open().defer("document", "laws").prefetch_related("victims")
    acting = cluster.mode != Cluster.Mode.OBSERVE
    within = guarded(revision.policy, revision.dialect, acting=acting)
    others = sorted((row for row in opened if row != but), key=lambda row: (row.ask_uid, row.pk))
    return PassInputs(
        now_ms=int(now.timestamp() * 1000),
        protection=Protection(namespaces=frozenset(cluster.protected_namespaces), min_run_ms=cluster.min_run_s * 1000),
        reservations=tuple(held for row in others for held in reservations_of(row)),
        going=frozenset(victim.uid for row in others for victim in row.victims.all()),
        notices=reclaim_notices.told(cluster),
        scheduler=state.scheduler,
        group_scheduling=state.group_scheduling,
        quotas=quotas(revision, state),
        safeguards=_safeguards(cluster, stops) if within else None,
    )


def _safeguards(cluster: Cluster, stops: Stops) -> Safeguards:
    """What people stopped, and in enforce the places that it is limited to."""
    enforce = cluster.mode == Cluster.Mode.ENFORCE
    return Safeguards(
        paused=stops.paused_queues,
        queues=tuple(cluster.enforce_queues) if enforce else (),
        namespaces=tuple(cluster.enforce_namespaces) if enforce else (),
    )


def _work_out(cluster: Cluster, revision: Revision, watch: Watch, now: datetime, *, leads: bool) -> _Plan:
    began = time.perf_counter_ns()
    decide = policy(revision.policy, revision.dialect, revision.parameters)
    stops = Stops.of(cluster, now)
    state = journal.seen(watch=watch, now=now)
    state.scheduler = scheduler_of(cluster, revision)
    state.group_scheduling = group_scheduling_of(cluster, watch, state)
    moment = _moment(cluster, revision, state, stops, now)
    snapshot = moment.snapshot(state, tree_of(revision))
    enforced = cluster.mode == Cluster.Mode.ENFORCE and is_enforceable(revision.policy, revision.dialect)
    stands = standings(revision, snapshot)
    watch.appeared = appeared(cluster, snapshot.pods) if enforced else []
    breakers = breakers_of(watch) if enforced else []
    options: dict[str, Any] = {}
    if enforced:  # where nothing is carried out, nothing is held back
        names, trial = [one.interlock for one in breakers], watch.writes.may_try
        limits = Interlocks(
            cluster, snapshot, now, stops=stops, breakers=names, trial=trial, lease=not_ours(watch, leads=leads)
        )
        options["hold"] = limits.hold
    considered = plan(
        snapshot,
        snapshot.tree,
        decide,
        terms=audit_terms(revision.policy, revision.dialect, revision.parameters),
        **options,
    )
    standing = [*stops.holds(), *([*in_the_cluster(watch), *limited(cluster)] if enforced else ()), *breakers]
    return _Plan(
        state=state,
        moment=msgspec.structs.replace(moment, holds=holds_of(considered)),
        snapshot=snapshot,
        standings=stands,
        less=less(revision, state),
        findings=_findings(snapshot, considered, enforced=enforced),
        holds=counted(standing, [one.hold for one in considered]),
        took_us=(time.perf_counter_ns() - began) // 1000,
        held=pending_workloads(state.quota(now_ms=snapshot.now_ms), snapshot.tree) if state.workloads else (),
    )


def _findings(snapshot: Snapshot, considered: list[AuditedDecision], *, enforced: bool) -> list[Finding]:
    asks = {ask.uid: ask for ask in snapshot.asks}
    return [
        Finding(
            considered=one,
            act=enforced and one.decision.evicts and not one.refused and not one.hold,
            since_ms=asks[one.decision.ask.uid].waiting_ms,
            priority_class=asks[one.decision.ask.uid].priority_class,
        )
        for one in considered
    ]


def _sampled(
    cluster: Cluster,
    snapshot: Snapshot,
    figures: Mapping[str, Mapping[str, Any]],
    held: tuple[Pod, ...],
    now: datetime,
) -> bool:
    """Take a sample of what queues use, and of who is short, if it is time for one; whether it is."""
    if Pass.objects.filter(cluster=cluster, sampled=True, at__gte=slot(now)).exists():
        return False
    tree = snapshot.tree
    sample(cluster=cluster, tree=tree, capacity=snapshot.capacity, figures=figures, now=now)
    follow_shortfalls(cluster=cluster, tree=tree, figures=figures, asks=(*snapshot.asks, *held), now=now)
    return True


@transaction.atomic
def _store(
    cluster: Cluster, revision: Revision, watch: Watch, found: _Plan, others: Seen, now: datetime, *, settled: bool
) -> list[tuple[Decision, Finding]]:
    """One transaction for all that a pass found: the intents are durable before the first of them is carried out."""
    began = time.perf_counter_ns()
    rows, decided = record(cluster=cluster, revision=revision, findings=found.findings, now=now, took_us=found.took_us)
    kept, moment = found.state, found.moment
    entry = journal.write(cluster=cluster, watch=watch, state=kept, moment=moment, decided=bool(decided), now=now)
    Decision.objects.filter(pk__in=decided).update(entry=entry)
    health = watch.watcher.health()
    follow_waits(cluster=cluster, asks=(*found.snapshot.asks, *found.held), state=found.state, now=now)
    news = record_others(cluster=cluster, revision=revision, state=found.state, seen=others, entry=entry, now=now)
    news |= follow_aftermath(cluster=cluster, state=found.state, now=now)
    news |= count_repeats(cluster=cluster)
    news |= reclaim_notices.follow(
        cluster=cluster,
        before=moment.notices,
        decisions=(one.decision for one in found.findings),
        now=now,
    )
    news |= book(cluster=cluster)
    moved = store_quota(cluster=cluster, state=found.state, known=health.quota_known, waits=bool(found.held), now=now)
    moved |= follow_nodes(cluster=cluster, watch=watch, snapshot=found.snapshot)
    figures = _figures(revision, found)
    due = _sampled(cluster, found.snapshot, figures, found.held, now)
    acting = [finding for finding in found.findings if finding.act]
    took_us = found.took_us + (time.perf_counter_ns() - began) // 1000
    if due or acting:
        Pass.objects.create(
            cluster=cluster,
            revision=revision,
            at=now,
            took_us=took_us,
            asks=len(found.findings),
            decided=sum(1 for one in found.findings if one.decision.evicts),
            refused=sum(1 for one in found.findings if one.considered.refused),
            dropped=sum(1 for one in found.findings if one.considered.hold),
            evictions=sum(len(one.decision.to_evict) for one in acting),
            sampled=due,
        )
    store_holds(cluster=cluster, holds=found.holds, now=now)
    store_status(
        cluster=cluster,
        revision_number=revision.number,
        snapshot=found.snapshot,
        state=found.state,
        tree=found.snapshot.tree,
        figures=figures,
        now=now,
        pass_us=took_us,
        news=bool(decided) or settled or news,
        moved=moved,
        missing=watch.missing,
        yunikorn=watch.yunikorn,
        odd=health.odd,
        held=found.held,
    )
    return rows


def _figures(revision: Revision, found: _Plan) -> dict[str, dict[str, Any]]:
    """As ClusterStatus.queues."""
    snapshot, tree = found.snapshot, found.snapshot.tree
    divided = shares(found.standings, snapshot)
    compared = find(revision.policy, revision.dialect).queue_shares(snapshot, tree, revision.parameters)
    narrow = {leaf: {"above_quota": one._asdict()} for leaf, one in found.less.items()}
    own = queue_figures(snapshot, tree, found.held)
    figures = {path: one | divided.get(path, {}) | narrow.get(path, {}) for path, one in own.items()}
    for path, share in compared.items():
        figures[path]["share"] = msgspec.to_builtins(share)
    for path, amounts in lent_by_queue(figures, revision, tree).items():
        figures[path]["lent"] = amounts
    for path, unknown in _without_preemption(found).items():
        figures[path]["unknown"] = unknown
    return figures


def _without_preemption(found: _Plan) -> dict[str, str]:
    """Leaf whose asks may preempt nobody -> the queue of whose usage something can't be read, so that it isn't known.

    An ask that can't be read itself is left alone without harm to others.
    """
    unread = {ask.uid for ask in found.snapshot.asks if ask.unread}
    refused = (one.considered.decision for one in found.findings if one.considered.decision.reason is Reason.UNREAD)
    return {
        one.ask.queue: one.detail or one.ask.queue for one in refused if one.ask.queue and one.ask.uid not in unread
    }


def due_clusters(now: datetime) -> list[Cluster]:
    """Return the clusters whose next pass is due, the one that had none for the longest time first.

    A pass that no worker begins before the next one is due is dropped. On a busy machine these are often the last ones,
    so they are the first ones next time. Each is moved on to its next turn by compare-and-swap. Only the columns that
    ownership needs are read.
    """
    due = []
    never = datetime.min.replace(tzinfo=UTC)
    clusters = Cluster.objects.filter(hierarchy__current__isnull=False).order_by("pk")
    clusters = clusters.only("interval_ms", "next_pass_at", "owner", "owned_until")
    for cluster in sorted(clusters, key=lambda each: claimed_at(each) or never):  # a pass claims it as it begins
        turn = now + timedelta(milliseconds=cluster.interval_ms) - _JITTER
        # A turn later than the next one is from before the clock was set back: it is not waited for.
        if cluster.next_pass_at is not None and now < cluster.next_pass_at <= turn:
            continue
        if cluster.next_pass_at is None:
            turn -= _offset(cluster)
        mine = Cluster.objects.filter(pk=cluster.pk, next_pass_at=cluster.next_pass_at).update(next_pass_at=turn)
        if mine:
            due.append(cluster)
    return due


def _offset(cluster: Cluster) -> timedelta:
    """Return how much sooner the second pass of a cluster comes: less than half of its interval.

    So the passes of clusters that begin together are spread over the time between two of them.
    """
    return cluster.pk * _GOLDEN % 1 / 2 * timedelta(milliseconds=cluster.interval_ms)
