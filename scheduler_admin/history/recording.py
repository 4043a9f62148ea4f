"""Storing what was decided. An ask that is considered again with the same outcome changes its row, and adds none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
from django.db import transaction
from django.db.models import CharField, F, Model

from engine.decision import Decision as EngineDecision
from engine.decision import Outcome, Reason, encode
from engine.planning import Considered
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history import happenings
from scheduler_admin.history.mentions import mention
from scheduler_admin.history.meters import count_begun
from scheduler_admin.history.models import Decision, Step, Victim
from scheduler_admin.history.tallies import recount
from scheduler_admin.queues.models import Revision

LONGEST_GRACE = timedelta(days=30)
"""So long a victim is waited for at most: Kubernetes takes any number of seconds."""


def moment(ms: int | None) -> datetime | None:
    """Milliseconds since 1970 as an aware time."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def deadline(cluster: Cluster, graces: Iterable[int], now: datetime) -> datetime:
    """When victims that are told to go ``now`` are gone, by their grace in seconds, and the ask should be bound."""
    longest = min(max(graces, default=0), LONGEST_GRACE // timedelta(seconds=1))
    return now + timedelta(seconds=longest + cluster.bind_margin_s)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A decision of a pass, and what becomes of it now."""

    considered: Considered
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
            return Decision.State.INTENDED
        return Decision.State.HELD if self.hold else Decision.State.NOTED

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
    begun: set[int] = set()
    for finding in findings:
        known = former.get(finding.decision.ask.uid, {})
        row = known.get(_signature_of(finding, revision))
        if row is not None:
            same[row.pk] = finding
        elif finding.worth_a_row or known:
            row = _begin(cluster, revision, finding, now, took_us)
            begun.add(row.pk)
        else:
            continue
        rows.append((row, finding))
    mention(row for row, _finding in rows if row.pk in begun)
    Decision.objects.filter(pk__in=same).update(last_seen=now, count=F("count") + 1)
    new = [(row.policy, row.outcome, str(row.ending)) for row, _finding in rows if row.pk in begun]
    transaction.on_commit(partial(count_begun, cluster.name, new))
    happenings.decided(cluster, [row for row, _finding in rows if row.pk in begun], now)
    if begun:
        recount(cluster=cluster, at=[now])
    return rows, begun | _refresh(cluster, same)


Signature = tuple[str, str, str, str, str, int | None, str, tuple[str, ...]]


def _former(cluster: Cluster, uids: list[str]) -> dict[str, dict[Signature, Decision]]:
    """The rows of each ask that a same outcome changes: what was carried out is never taken up again."""
    known: dict[str, dict[Signature, Decision]] = {}
    rows = Decision.objects.filter(cluster=cluster, ask_uid__in=uids).defer("document", "laws").order_by("pk")
    for row in rows.prefetch_related("victims"):
        of_ask = known.setdefault(row.ask_uid, {})
        if row.state in (Decision.State.NOTED, Decision.State.HELD) or row.ending == Decision.Ending.REFUSED:
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
    changed: set[int] = set()
    judged_anew: set[datetime] = set()
    stored = Decision.objects.filter(pk__in=same).values_list("pk", "document", "against_laws", "first_seen")
    for pk, document, against_laws, at in stored:
        considered = same[pk].considered
        new = encode(considered.decision).decode()
        if new != document:
            laws = msgspec.to_builtins(considered.laws)
            Decision.objects.filter(pk=pk).update(document=new, laws=laws, against_laws=considered.against_laws)
            changed.add(pk)
            judged_anew |= {at} if against_laws != considered.against_laws else set()
    recount(cluster=cluster, at=judged_anew)
    Victim.objects.filter(decision__in=changed).update(changes=None)
    return changed


def fitting(field: str, text: str, model: type[Model] = Decision) -> str:
    """As much of a text as its column holds: owners' names, for one, may be of any length."""
    column = model._meta.get_field(field)  # noqa: SLF001 - Django's documented name
    assert isinstance(column, CharField)
    return text[: column.max_length]


def _begin(cluster: Cluster, revision: Revision, finding: Finding, now: datetime, took_us: int) -> Decision:
    decision, ask = finding.decision, finding.decision.ask
    refused = finding.considered.refused
    row = Decision.objects.create(
        cluster=cluster,
        revision=revision,
        mode=cluster.mode,
        policy=decision.policy,
        dialect=decision.dialect,
        ask_uid=ask.uid,
        ask_namespace=ask.namespace,
        ask_name=ask.name,
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
        laws=msgspec.to_builtins(finding.considered.laws),
        against_laws=finding.considered.against_laws,
        state=finding.state,
        ending=Decision.Ending.REFUSED if refused else "",
        hold=finding.hold,
        first_seen=now,
        last_seen=now,
        took_us=took_us,
        closed_at=now if refused else None,
    )
    if decision.evicts:
        _store_victims(row, decision)
        if row.ask_since is not None:
            Step.objects.create(decision=row, at=row.ask_since, kind=Step.Kind.SEEN)
        Step.objects.create(decision=row, at=now, kind=Step.Kind.DECIDED)
        if finding.hold:
            Step.objects.create(decision=row, at=now, kind=Step.Kind.HELD, note=finding.hold)
    return row


def _store_victims(row: Decision, decision: EngineDecision) -> None:
    Victim.objects.bulk_create(
        Victim(
            decision=row,
            cluster=row.cluster,
            position=position,
            uid=verdict.pod.uid,
            namespace=verdict.pod.namespace,
            name=verdict.pod.name,
            queue=verdict.pod.queue,
            application=fitting("application", verdict.pod.application, Victim),
            priority=verdict.pod.priority,
            requests=verdict.pod.requests,
            node=verdict.pod.node,
            started_at=moment(verdict.pod.started_ms),
            checkpoint_at=moment(verdict.pod.checkpoint_ms),
            odd_checkpoint=verdict.pod.odd_checkpoint,
            controller=fitting("controller", verdict.pod.controller, Victim),
            grace_s=verdict.pod.grace_s,
            reason=verdict.reason.value,
        )
        for position, verdict in enumerate(decision.to_evict)
    )
