"""Why an ask waits, tier by tier, as its page tells it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from engine.analysis.pending_reasons import NODES, Need, PendingReasons, Tier, TierName
from engine.explain import (
    Message,
    all_remedies,
    pods_ahead,
    rejecting_nodes,
    remedy_sentence,
    staying_pods,
    tier_label,
    tier_sentence,
    workloads_ahead,
)
from engine.model.change import Change
from engine.model.message import short_name
from engine.model.quantities import format_amount
from engine.planning.journal import JournalError
from scheduler_admin.accounts.scopes import Scope, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.pending import reasons as history
from scheduler_admin.pending import wait_sentences
from scheduler_admin.pending.waits import is_late, wait_of
from scheduler_admin.site.live import Context

AT_ONCE = 20_000
"""In clusters of up to so many pods it is worked out with every look at the page; in larger ones when asked for."""


_OF_AMOUNTS = (
    TierName.HARD,
    TierName.DESERVED,
    TierName.QUOTA,
    TierName.GUARANTEE,
    TierName.POTENTIAL,
    TierName.NODE,
    TierName.AVAILABLE,
)
"""Tiers that need amounts; the others need a pod, and their sentence tells whether there is one."""


@dataclass(frozen=True)
class NeedLine:
    """One amount, as people read it."""

    what: str
    where: str
    required: str
    available: str
    evictable: str
    missing: str


@dataclass(frozen=True)
class TierLine:
    """One thing that the ask has to pass."""

    name: str
    label: Message
    passes: bool
    sentence: Message
    needs: list[NeedLine]
    nodes: tuple[tuple[Message, int], ...]
    staying: tuple[tuple[Message, int], ...]
    remedies: list[Message]


@dataclass(frozen=True)
class WaitingPart:
    """The part of the page; or what kept it from being worked out."""

    tiers: list[TierLine]
    ahead: Message | None = None
    together: Message | None = None
    wait: tuple[Message, ...] = ()
    """How long it may take."""
    less: tuple[Message, ...] = ()
    """The smaller requests each of which alone gets it room."""
    higher: tuple[Message, ...] = ()
    """The priority that alone gets it room."""
    at: datetime | None = None
    problem: str = ""

    @property
    def refusing(self) -> list[TierLine]:
        """What stops it."""
        return [tier for tier in self.tiers if not tier.passes]


def waiting_shell(request: HttpRequest, cluster: Cluster, row: Decision, *, helps: bool = False) -> Context:
    """What the part is shown from that a page leaves as it is when it refreshes itself; nothing where there is none.

    ``helps``: whether the page also says what its tenant can do, which is filled in from the same answer.
    """
    status = status_of(cluster)
    if request.headers.get("HX-Request") == "true" or not history.answers(row):
        return {}
    address = reverse("web:pod_waiting", args=[cluster.name, row.ask_namespace, row.ask_name])
    return {
        "waits": True,
        "waiting": waiting_part(scope_of(request.user, "view"), row) if "waiting" in request.GET else None,
        "asked": request.GET.get("decision", ""),
        "address": f"{address}?decision={row.pk}{'&helps=1' if helps else ''}",
        "at_once": status is not None and status.pods <= AT_ONCE,
    }


def waiting_part(scope: Scope, row: Decision) -> WaitingPart:
    """Work it out; it takes as long as the cluster is large."""
    try:
        found = history.why_waiting(row)
    except (CannotReplayError, JournalError):
        return WaitingPart(
            [], problem=_("The cluster state of that time can no longer be read, so this can’t be computed.")
        )
    told = history.seen_by(scope, found.waiting, row.ask_queue)
    return WaitingPart(
        wait=tuple(_wait(row.cluster, row.ask_uid)),
        tiers=[_line(tier, found.priority) for tier in told.tiers],
        ahead=pods_ahead(told.ahead),
        together=all_remedies() if told.together and len(told.refusing) > 1 else None,
        less=_enough(told, Change.REQUEST),
        higher=_enough(told, Change.PRIORITY),
        at=found.at,
    )


def workload_part(scope: Scope, cluster: Cluster, workload: PendingWorkload) -> WaitingPart:
    """Work it out for a workload that waits for Kueue's quota."""
    try:
        found = history.why_workload_waits(cluster, workload)
    except CannotReplayError:
        return WaitingPart(
            [], problem=_("This workload is no longer waiting, or its Kueue configuration is not supported here.")
        )
    told = history.seen_by(scope, found.waiting, workload.queue)
    return WaitingPart(
        wait=tuple(_wait(cluster, workload.uid)),
        tiers=[_line(tier, found.priority) for tier in told.tiers],
        ahead=workloads_ahead(told.ahead),
        at=found.at,
    )


def _enough(found: PendingReasons, change: Change) -> tuple[Message, ...]:
    """What a tenant can change alone, so that the ask gets room; each once."""
    remedies = [one for tier in found.refusing for one in tier.remedies if one.enough and one.change is change]
    return tuple(remedy_sentence(one) for place, one in enumerate(remedies) if one not in remedies[:place])


def _wait(cluster: Cluster, uid: str) -> Iterator[Message]:
    wait = wait_of(cluster, uid)
    if wait is not None:
        yield wait_sentences.told(wait.told, alike=wait.alike)
        if is_late(wait, timezone.now()):
            yield wait_sentences.late()


def _line(tier: Tier, priority: int) -> TierLine:
    return TierLine(
        name=tier.name.value,
        label=tier_label(tier.name),
        passes=tier.passes,
        sentence=tier_sentence(tier, priority),
        needs=[_need(tier, need) for need in tier.needs if tier.name in _OF_AMOUNTS and need.resource != NODES],
        nodes=rejecting_nodes(tier),
        staying=staying_pods(tier),
        remedies=[remedy_sentence(remedy) for remedy in tier.remedies],
    )


def _need(tier: Tier, need: Need) -> NeedLine:
    """Where of a guarantee something has to be left, that is one unit: told as more than so much."""
    above = tier.name is TierName.GUARANTEE and need.required == 1
    missing = _told(need.resource, need.missing - above)
    return NeedLine(
        what=need.resource,
        where=need.where if tier.name is TierName.NODE else short_name(need.where),
        required=f"> {_told(need.resource, 0)}" if above else _told(need.resource, need.required),
        available=_told(need.resource, need.available),
        evictable=_told(need.resource, need.evictable) if need.evictable else "",
        missing="" if not need.missing else f"> {missing}" if above else missing,
    )


def _told(resource: str, value: int) -> str:
    return f"−{format_amount(resource, -value)}" if value < 0 else format_amount(resource, value)
