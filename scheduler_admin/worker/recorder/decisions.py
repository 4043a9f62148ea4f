"""Storing what was decided. An ask that is considered again with the same outcome changes its row, and adds none."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import CharField, F, Model

from engine.model.decision import Decision as EngineDecision
from engine.model.decision import Outcome, Reason, encode
from engine.planning.scheduling_pass import AuditedDecision
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.bulk import create, insert, update
from scheduler_admin.core.monitoring.meters import count_begun
from scheduler_admin.core.times import LONGEST_GRACE, moment
from scheduler_admin.counts.services import recount
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.services import events
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.queues.models import Revision


def deadline(cluster: Cluster, graces: Iterable[int], now: datetime) -> datetime:
    """When victims that are told to go ``now`` are gone, by their grace in seconds, and the ask should be bound."""
    longest = min(max(graces, default=0), LONGEST_GRACE // timedelta(seconds=1))
    return now + timedelta(seconds=longest + cluster.bind_margin_s)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A decision of a pass, and what becomes of it now."""

    considered: AuditedDecision
    act: bool = False
    """Whether it is to be carried out now."""
    since_ms: int | None = None
    """Since when the scheduler finds no room for the ask."""
    priority_class: str = ""

    @property
    def hold(self) -> str:
        """The interlock that holds it back; empty: none."""
        return self.considered.hold

    @property
    def decision(self) -> EngineDecision:
        """What was decided."""
        return self.considered.decision

    @property
    def state(self) -> Decision.State:
        """The state that a row of it begins in."""
        if self.considered.refused:
            return Decision.State.CLOSED
        if self.act:
            return Decision.State.PLANNED
        return Decision.State.ON_HOLD if self.hold else Decision.State.RECORDED

    @property
    def worth_a_row(self) -> bool:
        """Whether a row is begun for it: not for asks that are simply on their way to a node."""
        return self.decision.outcome is not Outcome.FITS and self.decision.reason is not Reason.NOT_TRIED


def record(
    *, cluster: Cluster, revision: Revision, findings: Iterable[Finding], now: datetime, took_us: int
) -> tuple[list[tuple[Decision, Finding]], set[int]]:
    """Store the findings of one pass, taken at ``now``; ``took_us`` is how long deciding took.

    Returns every row that was stored with its finding, and those (ids) of them whose document is this pass's: begun,
    or with other figures than before. Called within a transaction.
    """
    findings = list(findings)
    former = _former(cluster, [finding.decision.ask.uid for finding in findings])
    same: dict[int, Finding] = {}
    rows: list[tuple[Decision, Finding]] = []
    new: list[tuple[Decision, Finding]] = []
    for finding in findings:
        known = former.get(finding.decision.ask.uid, {})
        row = known.get(_signature_of(finding, revision))
        if row is not None:
            same[row.pk] = finding
        elif finding.worth_a_row or known:
            row = _row(cluster, revision, finding, now, took_us)
            new.append((row, finding))
        else:
            continue
        rows.append((row, finding))
    begun = _begin(cluster, new, now)
    Decision.objects.filter(pk__in=same).update(last_seen=now, count=F("count") + 1)
    return rows, begun | _refresh(cluster, same)


def _begin(cluster: Cluster, new: list[tuple[Decision, Finding]], now: datetime) -> set[int]:
    """Store new rows with all that goes with them, in few queries however many there are; their ids."""
    if not new:
        return set()
    rows = create([row for row, _finding in new])
    insert(Victim, _OF_VICTIM, (one for row, finding in new for one in _victims(row, finding)))
    insert(Step, ("decision", "at", "kind", "note"), (one for row, finding in new for one in _steps(row, finding, now)))
    mention(rows)
    kinds = [(row.policy, row.outcome, str(row.ending)) for row in rows]
    transaction.on_commit(partial(count_begun, cluster.name, kinds))
    events.decided(cluster, rows, now)
    recount(cluster=cluster, at=[now])
    return {row.pk for row in rows}


Signature = tuple[str, str, str, str, str, int | None, str, tuple[str, ...]]


def _former(cluster: Cluster, uids: list[str]) -> dict[str, dict[Signature, Decision]]:
    """The rows of each ask that a same outcome changes: what was carried out is never taken up again."""
    known: dict[str, dict[Signature, Decision]] = {}
    rows = Decision.objects.filter(cluster=cluster, ask_uid__in=uids).defer("document", "laws").order_by("pk")
    for row in rows.prefetch_related("victims"):
        of_ask = known.setdefault(row.ask_uid, {})
        if row.state in (Decision.State.RECORDED, Decision.State.ON_HOLD) or row.ending == Decision.Ending.REJECTED:
            of_ask[_signature(row)] = row
    return known


def _signature(row: Decision) -> Signature:
    victims = tuple(victim.uid for victim in row.victims.all())
    return (row.outcome, row.reason, row.detail, row.node, row.hold, row.revision_id, row.state, victims)


def _signature_of(finding: Finding, revision: Revision) -> Signature:
    decision = finding.decision
    victims = tuple(verdict.pod.uid for verdict in decision.to_evict)
    node = decision.node or ""
    return (
        decision.outcome.value,
        decision.reason.value,
        fitting("detail", decision.detail),
        node,
        finding.hold,
        revision.pk,
        finding.state.value,
        victims,
    )


def _refresh(cluster: Cluster, same: Mapping[int, Finding]) -> set[int]:
    """Keep the newest figures of outcomes that stay the same, and their audits; the rows (ids) where any changed."""
    changed: dict[int, tuple[str, Any, bool, int]] = {}
    judged_anew: set[datetime] = set()
    stored = Decision.objects.filter(pk__in=same).values_list("pk", "document", "against_laws", "first_seen")
    for pk, document, against_laws, at in stored:
        considered = same[pk].considered
        new = encode(considered.decision).decode()
        if new != document:
            changed[pk] = (new, considered.laws, considered.against_laws, pk)
            judged_anew |= {at} if against_laws != considered.against_laws else set()
    update(Decision, ("document", "laws", "against_laws"), changed.values())
    recount(cluster=cluster, at=judged_anew)
    Victim.objects.filter(decision__in=changed).update(changes=None)
    return set(changed)


def fitting(field: str, text: str, model: type[Model] = Decision) -> str:
    """As much of a text as its column holds: owners' names, for one, may be of any length."""
    column = model._meta.get_field(field)  # noqa: SLF001 - Django's documented name
    assert isinstance(column, CharField)
    return text[: column.max_length]


def _row(cluster: Cluster, revision: Revision, finding: Finding, now: datetime, took_us: int) -> Decision:
    decision, ask = finding.decision, finding.decision.ask
    refused = finding.considered.refused
    return Decision(
        cluster=cluster,
        revision=revision,
        mode=cluster.mode,
        policy=decision.policy,
        dialect=decision.dialect,
        ask_uid=ask.uid,
        ask_namespace=ask.namespace,
        ask_name=ask.name,
        ask_group=fitting("ask_group", decision.group.reference) if decision.group else "",
        ask_queue=ask.queue,
        ask_application=fitting("ask_application", ask.application),
        ask_controller=fitting("ask_controller", ask.controller),
        ask_priority=ask.priority,
        ask_priority_class=finding.priority_class,
        ask_requests=ask.requests,
        ask_since=moment(finding.since_ms),
        outcome=decision.outcome.value,
        reason=decision.reason.value,
        detail=fitting("detail", decision.detail),
        node=decision.node or "",
        document=encode(decision).decode(),
        laws=finding.considered.laws,  # whoever reads the row again finds the maps that JSON makes of them
        against_laws=finding.considered.against_laws,
        state=finding.state,
        ending=Decision.Ending.REJECTED if refused else "",
        hold=finding.hold,
        first_seen=now,
        last_seen=now,
        took_us=took_us,
        closed_at=now if refused else None,
    )


def _steps(row: Decision, finding: Finding, now: datetime) -> Iterator[tuple[int, datetime, Step.Kind, str]]:
    if not finding.decision.evicts:
        return
    if row.ask_since is not None:
        yield row.pk, row.ask_since, Step.Kind.SEEN, ""
    yield row.pk, now, Step.Kind.DECIDED, ""
    if finding.hold:
        yield row.pk, now, Step.Kind.ON_HOLD, finding.hold


_OF_VICTIM = (
    "decision",
    "cluster",
    "position",
    "uid",
    "namespace",
    "name",
    "queue",
    "application",
    "priority",
    "requests",
    "node",
    "started_at",
    "checkpoint_at",
    "odd_checkpoint",
    "controller",
    "grace_s",
    "reason",
)


def _victims(row: Decision, finding: Finding) -> Iterator[tuple[Any, ...]]:
    """What is known of each, in the order of its names."""
    for position, verdict in enumerate(finding.decision.to_evict if finding.decision.evicts else ()):
        pod = verdict.pod
        yield (
            row.pk,
            row.cluster_id,
            position,
            pod.uid,
            pod.namespace,
            pod.name,
            pod.queue,
            fitting("application", pod.application, Victim),
            pod.priority,
            pod.requests,
            pod.node,
            moment(pod.started_ms),
            moment(pod.checkpoint_ms),
            pod.odd_checkpoint,
            fitting("controller", pod.controller, Victim),
            pod.grace_s,
            verdict.reason.value,
        )
