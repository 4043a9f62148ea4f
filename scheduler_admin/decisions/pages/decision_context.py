"""What the page of one decision shows, ready for the template."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from engine.audit import failed_checks
from engine.explain import (
    Message,
    Tense,
    allowed,
    broken_invariant_text,
    change_sentence,
    invariant_text,
    lines,
    node_label,
    node_verdict,
    notices,
    observed_causes,
    observed_verdict,
    pod_label,
    pod_verdict,
    quirk_effects,
    reason,
    rejection_text,
    remedies,
    scheduler_message,
    shares,
    sort_checks,
    unit_verdict,
    wasted_preemption,
)
from engine.explain.group_kinds import about_group, kind_label
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import GroupFacts, NodeVerdict, Outcome, PodVerdict, Reason
from engine.model.message import format_amount_list
from engine.model.quantities import PODS, column, total
from engine.observation.evictions import agrees
from engine.policies import fence, foreign_dialects
from scheduler_admin.accounts.link_templates import FilledLink
from scheduler_admin.accounts.models import Site
from scheduler_admin.core.words import Unit, duration, work_text
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.presenters.decisions import whole_sentence
from scheduler_admin.decisions.presenters.figures import QueueLanes, ShareLine, observed_sides, share_lines, sides
from scheduler_admin.decisions.presenters.group_words import worded
from scheduler_admin.decisions.presenters.tool_links import victim_links
from scheduler_admin.decisions.replay.changes import own_changes, untold
from scheduler_admin.decisions.replay.rewind import again_lines, running_of
from scheduler_admin.decisions.selectors.decisions import Detail, work_of
from scheduler_admin.decisions.sentences import follow_up, offset, outcome, step, tense_of
from scheduler_admin.ledger.presenters import hit_again


@dataclass(frozen=True)
class VictimLine:
    """A victim, how long it had run, and what allowed it to be taken."""

    victim: Victim
    ran: str
    allowed: tuple[Message, ...]
    links: list[FilledLink]
    """Links to other tools, such as its logs."""


@dataclass(frozen=True)
class Verdict:
    """A pod or node that was not chosen, and why."""

    name: str
    why: Message


@dataclass(frozen=True)
class Counted:
    """How many there were for one reason."""

    label: Message
    number: int


@dataclass(frozen=True)
class LawLine:
    """One law held against the decision."""

    demand: Message
    holds: bool
    lines: tuple[Message, ...]


@dataclass(frozen=True)
class StepLine:
    """What happened, when, and how it is marked."""

    offset: str
    mark: str
    text: Message
    at: object


@dataclass(frozen=True)
class GroupPanel:
    """The group that was decided as a whole, and where its pods get a node."""

    facts: GroupFacts
    kind: Message
    """What it is in the cluster."""
    seats: list[tuple[str, str]]
    """A pod (``namespace/name``) and its node, in the order in which they were placed."""
    left: list[str]
    """The pods that get no node."""
    asked: str
    """What all of its pending pods request together."""


@dataclass(frozen=True)
class DecisionPage:
    """Everything on the page."""

    row: Decision
    sentence: Message | None
    because: list[Message]
    """What the sentence leaves open. If the decision is held back or was stopped, the first message says so."""
    asked: str
    kind: str
    word: str
    sides: list[QueueLanes]
    told: tuple[Message, ...]
    """Who is to give back for it, under policy ``deserved``."""
    shares: list[ShareLine]
    """What the queues on both sides use and deserve there."""
    group: GroupPanel | None
    whole: list[Verdict]
    """The groups that are evicted as a whole, then those that stay as a whole."""
    victims: list[VictimLine]
    units: list[Unit]
    lost: str
    """All the work that was thrown away; empty: none was, or not all of it is known."""
    again: tuple[Message, ...]
    """Of another's decision: what ours would have been, and where they differ. Then the trace is of ours."""
    departures: tuple[tuple[Message, ...], ...]
    """Of YuniKorn's: which of its departures from its own design changed that."""
    node: str
    """The one that the trace is about."""
    reprieved: list[Verdict]
    excluded: list[Verdict]
    excluded_counts: list[Counted]
    nodes: list[Verdict]
    node_counts: list[Counted]
    passed_over: int
    promised: bool
    """Whether the laws are what it is decided by; not where that are another scheduler's rules."""
    rules_of: str
    """That other scheduler."""
    laws: list[LawLine]
    holding: int
    steps: list[StepLine]
    prevention: tuple[Message, ...]
    untold: tuple[Message, ...]
    """Why that is not told."""
    working: bool
    """Whether that is still being worked out."""
    scattered: bool
    """Whether the victims were on several nodes."""
    by_quota: bool
    """Whether it is about quota and no node."""
    really: bool
    """Whether pods were really evicted: then it "would have" been prevented."""


_SPARED_UP_TO = 3
_SPECIAL = (Reason.DAEMONSET, Reason.LAST_RESORT)
"""Preemptions that no guarantee was the reason for."""


def decision_page(detail: Detail, site: Site) -> DecisionPage:
    """Put one decision into words and numbers."""
    row, engine, victims = detail.row, detail.engine, detail.victims
    tense, (kind, word) = tense_of(row, victims), outcome(row, victims)
    seen, by = detail.observed, str(row.get_source_display())
    traced = engine or (seen.hindsight.decision if seen and seen.hindsight else None)
    promised = row.source == Decision.Source.ENGINE and row.dialect not in foreign_dialects()
    trace, policy = (traced.trace, traced.policy) if traced else (None, "")
    preventable = seen is not None or (engine is not None and not failed_checks(detail.checks))
    judged_by = row.policy or fence.POLICY  # what others did is held against the invariants of ``fence``
    laws = [
        LawLine(invariant_text(check.law, judged_by, row.dialect), check.holds, lines(check))
        for check in sort_checks(detail.checks)
    ]
    page = DecisionPage(
        row=row,
        sentence=whole_sentence(row, engine, seen, victims),
        because=[*_because(detail, by), *hit_again(victims)],
        asked=format_amount_list(row.ask_requests),
        kind=kind,
        word=word,
        sides=sides(engine) if engine else observed_sides(seen) if seen else [],
        told=notices(engine) if engine else (),
        shares=share_lines(engine) if engine else [],
        group=_group(traced) if traced and (engine or (seen and agrees(seen))) else None,
        whole=[Verdict(unit.group, unit_verdict(unit)) for unit in traced.trace.units or ()] if traced else [],
        victims=_victims(detail, site),
        units=_units(victims),
        lost=_lost(victims),
        again=again_lines(row, seen, running_of(row)) if seen else (),
        departures=quirk_effects(seen) if seen else (),
        node=(traced.node if traced else None) or row.node or _looked_at(traced),
        reprieved=_pods(traced.trace.reprieved, traced) if traced else [],
        excluded=_pods(traced.trace.excluded, traced) if traced else [],
        excluded_counts=_counted(trace.excluded_counts, lambda why: pod_label(why, policy)) if trace else [],
        nodes=_nodes(trace.nodes) if trace else [],
        node_counts=_counted(trace.node_counts, node_label) if trace else [],
        passed_over=sum(trace.node_counts.values()) if trace else 0,
        promised=promised,
        rules_of=Decision.Source.name_of(row.dialect),
        laws=laws,
        holding=sum(each.holds for each in laws),
        steps=[_step(each, row, victims) for each in detail.steps],
        prevention=_prevention(detail) if preventable else (),
        untold=untold(row, victims[0]) if victims else (),
        working=preventable and any(victim.changes is None for victim in victims),
        scattered=len({victim.node for victim in victims if victim.node}) > 1,
        by_quota=engine is not None and engine.by_quota,
        really=tense in (Tense.EVICTED, Tense.EVICTING),
    )
    return worded(page, row)


def _group(decision: EngineDecision) -> GroupPanel | None:
    if not decision.group:
        return None
    pods, nodes = {pod.uid: pod for pod in decision.pending}, decision.group.nodes
    return GroupPanel(
        facts=decision.group,
        kind=kind_label(decision.group.of_kind),
        seats=[(pods[uid].key, node) for uid, node in nodes.items() if uid in pods],
        left=[pod.key for uid, pod in pods.items() if uid not in nodes] if nodes else [],
        asked=format_amount_list(
            {name: amount for name, amount in total(pod.requests for pod in pods.values()).items() if name != PODS}
        ),
    )


def _looked_at(decision: EngineDecision | None) -> str:
    """The node that would be chosen, of a decision that is not taken yet."""
    if decision is None or decision.group:
        return ""
    pods = (*decision.trace.reprieved, *decision.trace.excluded)
    return next((each.pod.node for each in pods), "")


def _prevention(detail: Detail) -> tuple[Message, ...]:
    """What of their own would have spared the first victims; or what would make the ask eligible."""
    if detail.engine is not None and not detail.victims:
        return remedies(detail.engine)
    changes = [one for victim in detail.victims[:_SPARED_UP_TO] for one in own_changes(victim)]
    # What spares a workload or a group spares each of its pods.
    same = [(one.change, one.group, one.priority) if one.group else one for one in changes]
    return tuple(change_sentence(one) for place, one in enumerate(changes) if same[place] not in same[:place])


def _because(detail: Detail, by: str) -> list[Message]:
    """What the sentence leaves open: that it is held back or was stopped, which law refused it or was broken, why."""
    row, engine = detail.row, detail.engine
    if detail.observed is not None:
        came = next((one.note for one in detail.steps if one.kind == Step.Kind.CLOSED), "")
        vain = wasted_preemption(row.ending, row.node, came) if row.source == Decision.Source.KUBE_SCHEDULER else None
        return [*observed_causes(detail.observed, by=by), *([vain] if vain else [])]
    broken = [
        broken_invariant_text(check.law) if row.dialect in foreign_dialects() else rejection_text(check.law, row.policy)
        for check in failed_checks(detail.checks)
    ]
    refused = broken and row.ending == Decision.Ending.REJECTED  # each of these says so
    found = broken if refused else [*follow_up(row, detail.victims, engine), *broken]
    if engine is not None and (
        engine.by_quota or engine.group or engine.outcome is not Outcome.PREEMPT or engine.reason in _SPECIAL
    ):
        found += [reason(engine), *shares(engine)]
    if engine is not None and engine.group:
        found += about_group(engine.group)
    said = scheduler_message(engine) if engine else None
    return [*found, said] if said else found


def _victims(detail: Detail, site: Site) -> list[VictimLine]:
    row = detail.row
    why: dict[str, tuple[Message, ...]] = {}
    if detail.engine is not None:
        pairs = zip(detail.engine.victims, allowed(detail.engine), strict=True)
        why = {verdict.pod.uid: (message,) for verdict, message in pairs}
    elif detail.observed is not None:
        why = {one.pod.uid: observed_verdict(detail.observed, one) for one in detail.observed.victims}
    return [
        VictimLine(victim, _ran(row, victim), why.get(victim.uid, ()), victim_links(site, row, victim))
        for victim in detail.victims
    ]


def _lost(victims: list[Victim]) -> str:
    lost = work_of(victims)
    return "" if lost is None else work_text(lost)


def _ran(row: Decision, victim: Victim) -> str:
    if victim.started_at is None:
        return ""
    return duration(max(timedelta(), row.first_seen - victim.started_at).total_seconds())


def _units(victims: list[Victim]) -> list[Unit]:
    names = {name for victim in victims for name in victim.requests} - {PODS}
    ordered = sorted(names, key=column)
    return [Unit.of(name, [victim.requests.get(name, 0) for victim in victims]) for name in ordered]


def _pods(verdicts: tuple[PodVerdict, ...], decision: EngineDecision) -> list[Verdict]:
    return [Verdict(verdict.pod.name, pod_verdict(verdict, decision)) for verdict in verdicts]


def _nodes(verdicts: tuple[NodeVerdict, ...]) -> list[Verdict]:
    return [Verdict(verdict.node, node_verdict(verdict)) for verdict in verdicts]


def _counted(counts: Mapping[str, int], label: Callable[[str], Message]) -> list[Counted]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Counted(label(name), number) for name, number in ordered]


def _step(of: Step, row: Decision, victims: list[Victim]) -> StepLine:
    held = of.kind in (Step.Kind.ON_HOLD, Step.Kind.REFUSED)
    mark = "held" if held else "big" if of.kind in (Step.Kind.DECIDED, Step.Kind.CLOSED) else ""
    return StepLine(offset((of.at - row.first_seen).total_seconds()), mark, step(of, row, victims), of.at)
