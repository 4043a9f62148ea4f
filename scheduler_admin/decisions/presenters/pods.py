"""What the pages of a tenant's pods show. Of other tenants what the site tells of preemptors, and nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.explain import (
    Message,
    Name,
    Tense,
    change_sentence,
    grace,
    label,
    lost_work_sentence,
    observed_flags,
    observed_preemptor,
    odd_checkpoint,
    preemptor_sentence,
    reason,
    remedies,
    replacement_sentence,
    scheduler_message,
)
from engine.formats.kubernetes.checkpoints import CHECKPOINT_ANNOTATION
from engine.model.decision import Decision as EngineDecision
from engine.model.decision import Outcome
from engine.model.message import format_amount_list, short_name
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.core.translation import text
from scheduler_admin.core.words import duration, span, work_text
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.presenters.figures import QueueLanes, ShareLine, lanes_of, observed_lanes, share_lines
from scheduler_admin.decisions.presenters.group_words import worded
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.replay.changes import own_changes, untold
from scheduler_admin.decisions.selectors.decisions import read_observed
from scheduler_admin.decisions.selectors.pods import PodEvent, seen_by
from scheduler_admin.decisions.sentences import (
    LOST,
    TOLD_TO_GO,
    ending_word,
    follow_up,
    for_whom,
    offset,
    outcome,
    seconds,
    tense_of,
    why_victim,
)
from scheduler_admin.ledger.presenters import hit_again
from scheduler_admin.pending.reasons import answers
from scheduler_admin.worker.recorder.replacements import WATCHED

UNREAD_ASK = gettext_noop("%(pod)s was waiting in queue %(queue)s when this decision was made.")
FIRST_SEEN = gettext_noop("The scheduler found no room for the pod.")
CHOSEN = gettext_noop("The pod was chosen for eviction.")
CONSIDERED = gettext_noop("This outcome was reached for the first time.")
DECIDED_FOR = gettext_noop("The decision was made to free capacity on %(node)s.")
HELD_BACK = gettext_noop("A disruption budget delayed the eviction, so it was retried.")
EVICTED = gettext_noop("Kubernetes accepted the eviction.")
EXITED = gettext_noop("The pod exited %(time)s after the eviction.")
EXITED_PLAIN = gettext_noop("The pod exited.")
SPARED = gettext_noop("The pod was spared.")
BOUND = gettext_noop("The pod was scheduled to a node.")
NOT_BOUND = gettext_noop("The decision ended: %(ending)s.")

_SEEN_LATE_S = 60
"""Found to be gone so long after its grace, perhaps nobody looked meanwhile: whether it was killed is not known."""


@dataclass(frozen=True)
class PodLine:
    """A line of the list."""

    event: PodEvent
    queue: str
    asked: str
    kind: str
    word: str
    why: str


@dataclass(frozen=True)
class Happened:
    """What happened to the pod, and when from the decision on."""

    offset: str
    mark: str
    text: Message
    at: datetime


@dataclass(frozen=True)
class PodPage:
    """One event of a pod, explained."""

    event: PodEvent
    sentence: Message
    because: list[Message]
    """What the sentence leaves open. If the decision is held back or was stopped, the first message says so."""
    asked: str
    priority: int | None
    ran: str
    kind: str
    word: str
    side: QueueLanes | None
    shares: list[ShareLine]
    """What its own queue uses and deserves, under policy ``deserved``."""
    prevention: tuple[Message, ...]
    untold: tuple[Message, ...]
    """Why that is not told."""
    working: bool
    """Whether that is still being worked out."""
    happened: list[Happened]
    meant: list[Message]
    """What it meant for its people: how it could stop, what it lost, and what came in its place."""
    waiting: bool
    really: bool


def pod_lines(redaction: Redaction, events: Iterable[PodEvent]) -> list[PodLine]:
    """Every event in a line."""
    return [_line(redaction, event) for event in events]


def _line(redaction: Redaction, event: PodEvent) -> PodLine:
    kind, word = fate(event)
    requests = event.victim.requests if event.victim else event.decision.ask_requests
    return PodLine(event, short_name(event.queue), format_amount_list(requests), kind, word, why(redaction, event))


def why(redaction: Redaction, event: PodEvent) -> str:
    """Return the reason of an event in a few words."""
    queue = redaction.preemptor(event.decision).queue
    if event.victim is not None and event.decision.reason == "below-guarantee" and queue:
        return _("%(queue)s was below its guarantee") % {"queue": short_name(queue)}
    return text(label(event.decision.reason))


def fate(event: PodEvent) -> tuple[str, str]:
    """The word for what became of the pod itself."""
    victim, row = event.victim, event.decision
    if victim is None:
        if row.outcome != "preempt":
            return ("wait", _("pending")) if event.current else ("none", _("was pending"))
        return outcome(row, ())
    if victim.state in LOST:
        return "warn", _("evicted") if row.source in Decision.EVICTORS else _("preempted")
    if victim.state == Victim.State.SPARED or row.state == Decision.State.CLOSED:
        return "ok", _("spared")
    if row.state in (Decision.State.RECORDED, Decision.State.ON_HOLD):
        return ("wait", _("would be preempted")) if event.current else ("none", _("would have been preempted"))
    return "wait", _("being evicted")


def pod_page(redaction: Redaction, event: PodEvent) -> PodPage:
    """Answer why, with the pod's own numbers."""
    row, victim, decision = event.decision, event.victim, seen_by(redaction.scope, event)
    victims = [victim] if victim else list(row.victims.all())  # the pod's own fate is told; of an ask, the decision's
    tense, (kind, word) = tense_of(row, victims), fate(event)
    started = victim.started_at if victim else None
    page = PodPage(
        event=event,
        sentence=event_sentence(redaction, event, decision, tense),
        because=[
            *follow_up(row, victims),
            *(for_whom(row, redaction.preemptor(row)) if victim else ()),
            *_because(redaction.scope, event, decision),
        ],
        asked=format_amount_list(victim.requests if victim else row.ask_requests),
        priority=victim.priority if victim else row.ask_priority,
        ran=duration((row.first_seen - started).total_seconds()) if started else "",
        kind=kind,
        word=word,
        side=_side(event, decision),
        shares=[line for line in share_lines(decision) if line.queue == event.queue] if decision else [],
        prevention=_prevention(event, decision, tense),
        untold=untold(row, victim) if victim else (),
        working=victim is not None and victim.changes is None and tense is not Tense.STOPPED,
        happened=_happened(event),
        meant=_meant(event.victim) if event.victim else [],
        waiting=victim is None,
        really=tense in (Tense.EVICTED, Tense.EVICTING),
    )
    return worded(page, row)


def _because(scope: Scope, event: PodEvent, decision: EngineDecision | None) -> list[Message]:
    """What the sentence leaves open, in so far as it is the tenant's own."""
    victim, seen = event.victim, read_observed(event.decision)
    if seen is not None and victim is not None:
        by = str(event.decision.get_source_display())
        sees = scope.has_path
        return list(observed_flags(seen, victim.uid, by=by, sees=lambda path: path == event.queue or sees(path)))
    found = [reason(decision)] if decision and victim is None and decision.outcome is not Outcome.PREEMPT else []
    if decision is not None and victim is None and (said := scheduler_message(decision)):
        found.append(said)
    return found


def _side(event: PodEvent, decision: EngineDecision | None) -> QueueLanes | None:
    """The pod's own queue, before and after."""
    side, seen = "gave" if event.victim else "asked", read_observed(event.decision)
    if seen is not None:
        return observed_lanes(seen, event.queue, side)
    return lanes_of(decision, event.queue, side) if decision else None


def event_sentence(redaction: Redaction, event: PodEvent, decision: EngineDecision | None, tense: Tense) -> Message:
    """Why a pod was preempted or waits, to its own tenant; ``decision`` as they see it."""
    row, victim, seen = event.decision, event.victim, read_observed(event.decision)
    if victim is not None:
        # Of the whole decision, to choose the same resource as its own page; it tells of the pod's own queue only.
        return why_victim(row, victim, tense, queue=redaction.preemptor(row).queue)
    if seen is not None:
        return observed_preemptor(seen, by=str(row.get_source_display()))
    if decision is None:
        return Message(UNREAD_ASK, {"pod": Name(event.name), "queue": short_name(event.queue)})
    return preemptor_sentence(decision, tense)


def _prevention(event: PodEvent, decision: EngineDecision | None, tense: Tense) -> tuple[Message, ...]:
    """What would have prevented it or would make the ask eligible."""
    victim, seen = event.victim, read_observed(event.decision)
    if victim is not None:
        chosen = decision is not None and any(verdict.pod.uid == victim.uid for verdict in decision.victims)
        preventable = seen is not None or (chosen and tense is not Tense.STOPPED)
        return tuple(map(change_sentence, own_changes(victim))) if preventable else ()
    # Where its tiers are told, so is what would get it past them.
    return () if seen is not None or decision is None or answers(event.decision) else remedies(decision)


def _meant(victim: Victim) -> list[Message]:
    at = victim.evicted_at
    if at is None or victim.state not in LOST:
        return []
    found = []
    if victim.grace_s is not None and (victim.gone_at or victim.state == Victim.State.EVICTED):
        took_s = (victim.gone_at - at).total_seconds() if victim.gone_at else None
        if took_s is None or took_s <= victim.grace_s + _SEEN_LATE_S:
            found.append(grace(victim.grace_s, took_s, "" if took_s is None else seconds(took_s)))
    found += [*_thrown_away(victim), *hit_again([victim])]
    after, then = (
        seconds(max(0.0, (each - at).total_seconds())) if each else ""  # a pod is dated by whole seconds
        for each in (victim.recreated_at, victim.running_at)
    )
    over = timezone.now() - at > WATCHED
    return [
        *found,
        replacement_sentence(victim.controller, successor=victim.successor, after=after, then=then, over=over),
    ]


def _thrown_away(victim: Victim) -> list[Message]:
    unsaved_s, lost = victim.unsaved_s, victim.work_lost
    found = [odd_checkpoint(CHECKPOINT_ANNOTATION, victim.odd_checkpoint)] if victim.odd_checkpoint else []
    if unsaved_s is None or lost is None:
        return found
    saved = victim.started_at is not None and (victim.checkpoint_at or victim.started_at) > victim.started_at
    words = {"time": span(unsaved_s), "held": format_amount_list(victim.requests), "work": work_text(lost)}
    return [*found, lost_work_sentence(unsaved_s, saved=saved, **words)]


def _happened(event: PodEvent) -> list[Happened]:
    found = _to_victim(event.victim, event.at) if event.victim else _to_ask(event.decision)
    return [
        Happened(offset((at - event.at).total_seconds()), mark, message, at)
        for at, mark, message in sorted(found, key=lambda each: each[0])
    ]


def _to_victim(victim: Victim, decided: datetime) -> list[tuple[datetime, str, Message]]:
    found = _told_to_go(victim, decided)
    if victim.gone_at is not None:
        length = (victim.gone_at - victim.evicted_at).total_seconds() if victim.evicted_at else None
        gone = Message(EXITED_PLAIN) if length is None else Message(EXITED, {"time": seconds(length)})
        found.append((victim.gone_at, "big", gone))
    if victim.state == Victim.State.SPARED and victim.decision.closed_at is not None:
        found.append((victim.decision.closed_at, "big", Message(SPARED)))
    return found


def _told_to_go(victim: Victim, decided: datetime) -> list[tuple[datetime, str, Message]]:
    """How it came to that; what others did on the way there is not known."""
    row = victim.decision
    if row.source != Decision.Source.ENGINE:
        return [(victim.evicted_at or decided, "big", Message(TOLD_TO_GO, {"by": str(row.get_source_display())}))]
    found = [(decided, "big", Message(CHOSEN))]
    if victim.evicted_at is not None:
        if victim.attempts > 1:
            found.append((victim.evicted_at, "held", Message(HELD_BACK)))
        found.append((victim.evicted_at, "", Message(EVICTED)))
    return found


def _to_ask(row: Decision) -> list[tuple[datetime, str, Message]]:
    decided = Message(DECIDED_FOR, {"node": Name(row.node)}) if row.outcome == "preempt" else Message(CONSIDERED)
    found = [(row.first_seen, "big", decided)]
    if row.ask_since is not None:
        found.append((row.ask_since, "", Message(FIRST_SEEN)))
    if row.closed_at is not None:
        bound = row.ending in (Decision.Ending.BOUND, Decision.Ending.BOUND_ELSEWHERE)
        ended = Message(BOUND) if bound else Message(NOT_BOUND, {"ending": ending_word(row)})
        found.append((row.closed_at, "big", ended))
    return found
