"""The list of a tenant's pods: a row for each pod, with its present state and what led to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from django.utils.translation import gettext as _

from engine.model.message import short_name
from engine.model.snapshot.node_listing import ListedPod, PodPhase
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.presenters.pods import fate, why
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors.pods import PodEvent
from scheduler_admin.decisions.sentences import LOST, seconds
from scheduler_admin.nodes.own_pods import OwnPod
from scheduler_admin.nodes.search import FoundPod
from scheduler_admin.pending.models import Wait

_GROUP = 3
"""Rows from which on a group is shorter to read than its rows."""


@dataclass(frozen=True)
class PodState:
    """What a pod is doing now. ``name`` is pending, running, preempted or gone, or empty if it is none of these."""

    name: str
    kind: str
    word: str
    since: datetime | None


@dataclass(frozen=True)
class PodRow:
    """A row of the list."""

    own: OwnPod
    state: PodState
    why: str
    usual: str
    """How long pods like it usually wait; empty unless it is pending and that is known."""

    @property
    def event(self) -> PodEvent:
        """Return the event that says most about the pod."""
        return self.own.event

    @property
    def queue(self) -> str:
        """Return the name of its queue."""
        return short_name(self.event.queue)

    @property
    def pending(self) -> bool:
        """Return whether it waits for room."""
        return self.state.name == "pending"


@dataclass(frozen=True)
class OtherPodRow:
    """A row about a pod that no decision on the page is about."""

    cluster: str
    pod: ListedPod
    state: PodState

    @property
    def queue(self) -> str:
        """Return the name of its queue."""
        return short_name(self.pod.queue or "")


def other_rows(found: Iterable[FoundPod]) -> list[OtherPodRow]:
    """Return a row for each pod that a search finds, whether or not a decision is about it."""
    return [OtherPodRow(one.cluster, one.pod, _listed_state(one.pod)) for one in found]


def pod_rows(redaction: Redaction, pods: Iterable[OwnPod]) -> list[PodRow]:
    """Return a row for each pod."""
    return [_row(redaction, own) for own in pods]


def grouped_rows(rows: list[PodRow]) -> list[list[PodRow]]:
    """Return the rows in their order: those of at least three pods that read the same as one group."""
    runs = (list(run) for _same, run in groupby(rows, key=_sameness))
    return [group for run in runs for group in ([run] if len(run) >= _GROUP else ([one] for one in run))]


def _sameness(row: PodRow) -> tuple[str | int, ...]:
    """Return all that a row shows, but the name of the pod."""
    event, state = row.event, row.state
    since = f"{state.since:%Y-%m-%d %H:%M:%S}" if state.since else ""
    of = (event.decision.cluster_id, event.namespace, event.application, event.queue)
    return state.kind, state.word, row.why, row.usual, since, *of


def _row(redaction: Redaction, own: OwnPod) -> PodRow:
    state, wait = present_state(own), own.wait
    usual = ""
    if state.name == "pending" and wait is not None and wait.half_ms is not None:
        usual = _("usually %(time)s") % {"time": seconds(wait.half_ms / 1000)}
    return PodRow(own, state, _why_now(redaction, own, state), usual)


def present_state(own: OwnPod) -> PodState:
    """Return what a pod is doing now: as the last pass saw it, or as its newest event says."""
    event, victim, now = own.event, own.event.victim, own.now
    kind, word = fate(event)
    if victim is not None and kind == "wait" and not own.again:  # it is, or would be, evicted: that comes first
        return PodState("", kind, word, event.at)
    lost = victim is not None and victim.state in LOST
    if now is not None and now.leaving and lost and not own.again:
        return PodState("", "wait", _("being evicted"), event.at)
    if now is not None:
        return _listed_state(now, again=own.again)
    if victim is not None and victim.state in LOST:
        return PodState("preempted", kind, word, victim.evicted_at or victim.gone_at or event.at)
    if own.known and not (event.asked and event.current):
        return PodState("gone", "none", _("gone"), _gone_at(own))
    if event.asked and event.current:
        return PodState("pending", "wait", _("pending"), event.decision.ask_since or event.at)
    return PodState("", kind, word, event.at)


def _listed_state(now: ListedPod, *, again: bool = False) -> PodState:
    """Return the state of a pod that there is, or of another one that has its name now."""
    since = datetime.fromtimestamp(now.since_ms / 1000, UTC)
    if now.leaving:
        left = now.leaving_ms if now.leaving_ms is not None else now.since_ms
        return PodState("", "shut", _("terminating"), datetime.fromtimestamp(left / 1000, UTC))
    if now.phase in (PodPhase.PENDING, PodPhase.GATED):
        return PodState("pending", "wait", _("pending again") if again else _("pending"), since)
    if now.phase is PodPhase.STARTING:
        return PodState("running", "ok", _("starting again") if again else _("starting"), since)
    return PodState("running", "ok", _("running again") if again else _("running"), since)


def _gone_at(own: OwnPod) -> datetime | None:
    victim, row, wait = own.event.victim, own.event.decision, own.wait
    if victim is not None:
        return victim.gone_at
    pod_gone = wait is not None and wait.ending == Wait.Ending.POD_GONE
    return wait.until if wait is not None and pod_gone else row.closed_at if row.ending == "pod-gone" else None


def _why_now(redaction: Redaction, own: OwnPod, state: PodState) -> str:
    """Return what led to the present state, as far as decisions tell."""
    event, wait = own.event, own.wait
    if state.name not in ("running", "gone"):
        fits = event.victim is None and event.decision.reason == "fits"
        return _("a node has room") if fits else why(redaction, event)
    if event.victim is not None:
        if event.victim.state in LOST:
            return _("was preempted: %(why)s") % {"why": why(redaction, event)}
        if event.victim.state == Victim.State.SPARED or event.decision.state == Decision.State.CLOSED:
            return _("was spared")
        return _("would have been preempted")
    if wait is not None and wait.until is not None:
        return _("was pending for %(time)s") % {"time": seconds((wait.until - wait.since).total_seconds())}
    return _("was pending: %(why)s") % {"why": why(redaction, event)}
