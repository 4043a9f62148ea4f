"""A decision as far as its reader may see it. Tenants see their own ask and victims; of others what the site tells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from engine.model.decision import Reason, decode
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.core.links import decision_url
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, DecisionQuerySet, Step, Victim
from scheduler_admin.decisions.presenters.decisions import decision_sentence
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.replay.rewind import again_lines, running_of
from scheduler_admin.decisions.selectors.decisions import read_observed, victims_of
from scheduler_admin.decisions.sentences import evicted_in_vain, why_victims, worded_for

_UNTOLD = ("entry", "retry_at", "successor", "successor_uid", "recreated_at", "running_at", "changes")
"""Columns of victims that no answer shows."""


def seen_by(user: Who) -> DecisionQuerySet:
    """Return the user's decisions, each with its cluster and revision."""
    return Decision.objects.restrict(user, "view").select_related("cluster", "revision")


@dataclass(frozen=True)
class SeenPendingPod:
    """A pending pod; of another tenant's what the site tells, all else None."""

    queue: str
    redacted: bool
    uid: str | None = None
    namespace: str | None = None
    name: str | None = None
    group: str | None = None
    group_kind: str | None = None
    application: str | None = None
    priority: int | None = None
    priority_class: str | None = None
    requests: Mapping[str, int] | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class SeenDecision:
    """A decision and those of its victims that its reader may see."""

    decision: Decision
    redaction: Redaction
    victims: Sequence[Victim] = ()
    everyones: Sequence[Victim] = ()
    """All of its victims: what became of them tells how far the decision has come."""

    @property
    def scope(self) -> Scope:
        """What the reader sees."""
        return self.redaction.scope

    @property
    def own(self) -> bool:
        """Whether the ask is the reader's to see."""
        return self.redaction.owns(self.decision)

    @property
    def pending_pod(self) -> SeenPendingPod:
        """The pending pod, or what of it is told."""
        row = self.decision
        if not self.own:
            told = self.redaction.preemptor(row)
            return SeenPendingPod(
                queue=told.queue,
                redacted=True,
                uid=told.uid or None,
                namespace=told.namespace or None,
                name=told.name or None,
            )
        return SeenPendingPod(
            queue=row.ask_queue,
            redacted=False,
            uid=row.ask_uid,
            namespace=row.ask_namespace,
            name=row.ask_name,
            group=row.group_name,
            group_kind=row.group_kind,
            application=row.ask_application,
            priority=row.ask_priority,
            priority_class=row.ask_priority_class,
            requests=row.ask_requests,
            since=row.ask_since,
        )

    @property
    def reason_detail(self) -> str | None:
        """What the reason's sentence names: told to the ask's own side, but for who is to give back for it."""
        others = self.decision.reason == Reason.GRACE and not self.scope.has_path(self.decision.detail)
        return self.decision.detail if self.own and not others else None

    @property
    def duration_seconds(self) -> float | None:
        """How long deciding took; of others' decisions nobody knows."""
        return self.decision.took_us / 1_000_000 if self.decision.source == Decision.Source.ENGINE else None

    @property
    def evicted_in_vain(self) -> int:
        """How many of the victims that the reader sees were evicted in vain."""
        return evicted_in_vain(self.decision, self.victims)

    @property
    def url(self) -> str:
        """The page of the decision."""
        return decision_url(self.decision.cluster.name, self.decision.pk)

    @property
    def sentence(self) -> str:
        """What was decided and why. It takes the document and the victims."""
        said = decision_sentence(self.redaction, self.decision, self.victims, self.everyones)
        [message] = worded_for(self.decision, [said])
        return text(message)

    @property
    def victim_sentences(self) -> dict[str, str]:
        """Why each victim was chosen, by its UID. It takes the document."""
        queue, victims = self.redaction.preemptor(self.decision).queue, self.victims
        messages = why_victims(self.decision, victims, queue=queue)
        return {victim.uid: text(message) for victim, message in zip(victims, messages, strict=True)}

    @property
    def document(self) -> dict[str, Any] | None:
        """The engine's decision with its trace: it names pods of everyone, so only for those who see everything."""
        return msgspec.json.decode(self.decision.document, type=dict) if self.scope.everything else None

    @property
    def group(self) -> dict[str, Any] | None:
        """The group that was decided as a whole, with its pods and their nodes, for who sees the ask."""
        if not (self.own and self.decision.ask_group and self.decision.source == Decision.Source.ENGINE):
            return None
        decided = decode(self.decision.document)
        if not decided.group:
            return None
        nodes = decided.group.nodes
        pods = [{"uid": pod.uid, "name": pod.name, "node": nodes.get(pod.uid, "")} for pod in decided.pending]
        own: dict[str, Any] = {
            "kind": decided.group.of_kind,
            "task_groups": [],
            "hard": None,
            "workload": "",
            "composites": [],
        }
        return {**own, **msgspec.to_builtins(decided.group), "pods": pods}

    @property
    def replay_sentences(self) -> list[str] | None:
        """Of another's: what its own rules answer, in sentences; they name pods and workloads of everyone."""
        if not self.scope.everything:
            return None
        seen = read_observed(self.decision)
        if seen is None:
            return []
        lines = again_lines(self.decision, seen, running_of(self.decision))
        return [text(message) for message in worded_for(self.decision, lines)]

    @property
    def safety_checks(self) -> list[dict[str, Any]]:
        """Each safety check and whether it passed; the lines that show it name pods of everyone."""
        checks: Sequence[dict[str, Any]] = self.decision.laws
        if self.scope.everything:
            return list(checks)
        return [{"law": check["law"], "holds": check["holds"], "sums": None} for check in checks]

    @property
    def steps(self) -> list[Step]:
        """What happened: everything, or what is about the reader's own pods, without the free text."""
        steps = self.decision.steps.all()
        if self.scope.everything:
            return list(steps)
        pods = {f"{victim.namespace}/{victim.name}" for victim in self.victims}
        if self.own:
            pods.add(f"{self.decision.ask_namespace}/{self.decision.ask_name}")
        return [Step(at=step.at, kind=step.kind, pod=step.pod) for step in steps.filter(pod__in=sorted(pods))]


def seen(rows: Iterable[Decision], user: Who) -> list[SeenDecision]:
    """Return decisions, which have their clusters, as far as the user may see them, with their victims. One query.

    For who does not see everything there is a second one, for the states of all victims.
    """
    found, scope = list(rows), scope_of(user, "view")
    own = victims_of(found, Victim.objects.restrict(user, "view").defer(*_UNTOLD).order_by("position"))
    every = own if scope.everything else victims_of(found, Victim.objects.only("decision_id", "state").order_by())
    for row in found:
        for victim in own[row.pk]:
            victim.cluster = row.cluster
    redaction = Redaction.of(scope)
    return [SeenDecision(row, redaction, own[row.pk], every[row.pk]) for row in found]
