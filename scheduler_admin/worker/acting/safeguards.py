"""Limits on carrying out. They drop whole decisions, never single victims, and say which limit it was."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Case, Count, Max, Value, When
from django.utils import timezone

from engine.model.decision import Decision as EngineDecision
from engine.model.decision import Interlock
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import AuditedDecision
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.breakers import open_breakers, unreadable
from scheduler_admin.clusters.safeguards.enforce_scope import acts_within, places_of
from scheduler_admin.clusters.safeguards.holds import Hold
from scheduler_admin.clusters.safeguards.stops import Stops
from scheduler_admin.clusters.status.store import schedulers
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.worker.acting.disruption_budgets import Disruption, promised
from scheduler_admin.worker.acting.eviction_budgets import Budgets, Loss
from scheduler_admin.worker.acting.seats import opened_seats

COOL_DOWN = timedelta(seconds=30)
"""After a decision that brought its ask nothing, the ask waits so long before anything is evicted for it again.

Not after one that was overtaken: nobody was evicted, and what it is decided on next is a newer picture.
"""
LONGEST_COOL_DOWN = timedelta(hours=1)
"""The wait doubles with every such decision, up to this."""
_NOT_IN_VAIN = (Decision.Ending.BOUND, Decision.Ending.REJECTED, Decision.Ending.SUPERSEDED)


class Interlocks:
    """The limits as one pass finds them; what it lets through is charged at once."""

    def __init__(
        self,
        cluster: Cluster,
        snapshot: Snapshot,
        now: datetime,
        *,
        stops: Stops,
        breakers: Iterable[Interlock],
        trial: bool,
        lease: Interlock | None,
    ) -> None:
        """``breakers``: those that are open; ``trial``: one decision shows whether our requests succeed again.

        ``lease``: how the lease keeps us from acting; None where it is ours.
        """
        self._cluster, self._lease = cluster, lease
        self._stops, self._breakers, self._trial = stops, list(breakers), trial
        self._budgets = Budgets.of(cluster, now)
        self._disruption = Disruption(snapshot, promised(cluster))
        self._reserved = {seat.node for seats in opened_seats(cluster) for seat in seats.each}
        self._cooling = _cooling(cluster, now)

    def hold(self, considered: AuditedDecision) -> str:
        """The limit that holds a decision back, empty when it may be carried out; then it is charged."""
        decision = considered.decision
        losses = [Loss(one.pod.queue, one.pod.namespace, one.pod.node) for one in decision.to_evict]
        victims = [(one.pod.uid, one.pod.namespace) for one in decision.to_evict]
        held = (
            self._outside(decision)
            or self._stops.interlock({decision.ask.queue, *(loss.queue for loss in losses)})
            or self._broken()
            or self._unable(decision)
            or self._budgets.exceeded(losses)
        )
        if held:
            return held
        if not self._disruption.allows(victims):
            return Interlock.DISRUPTION_BUDGET
        self._disruption.charge(victims)
        self._budgets.charge(losses)
        self._reserved |= _nodes_of(decision)
        return ""

    def _outside(self, decision: EngineDecision) -> Interlock | None:
        return None if acts_within(self._cluster, places_of(decision)) else Interlock.OUT_OF_SCOPE

    def _broken(self) -> Interlock | None:
        for name in self._breakers:
            if name is not Interlock.FAILING_WRITES or not self._trial or self._reserved:
                return name
        return None

    def _unable(self, decision: EngineDecision) -> Interlock | None:
        """What keeps back whatever the victims are."""
        if self._lease:
            return self._lease
        if _asker(decision) in self._cooling:
            return Interlock.COOL_DOWN
        nodes = len(self._reserved) + len(_nodes_of(decision))
        return Interlock.RESERVED_NODES if nodes > self._cluster.reserved_nodes else None


def _nodes_of(decision: EngineDecision) -> set[str]:
    """The nodes that it would keep; one without a name where it takes from anywhere."""
    return set(decision.nodes.values()) or {""}


def _asker(decision: EngineDecision) -> tuple[str, str]:
    """The pending pod, by its uid; or its group, by namespace and reference, whichever of its pods is the first now."""
    return (decision.group.namespace, decision.group.reference) if decision.group else ("", decision.ask.uid)


def _cooling(cluster: Cluster, now: datetime) -> set[tuple[str, str]]:
    """The pods and groups for which decisions ended in vain, a moment ago or again and again."""
    vain = (
        Decision.objects.filter(cluster=cluster, closed_at__gt=now - 2 * LONGEST_COOL_DOWN)
        .filter(state=Decision.State.CLOSED, source=Decision.Source.ENGINE)
        .exclude(ending__in=_NOT_IN_VAIN)
        .order_by()
        .annotate(
            asker=Case(When(ask_group="", then="ask_uid"), default="ask_group"),
            within=Case(When(ask_group="", then=Value("")), default="ask_namespace"),
        )
        .values_list("within", "asker")
        .annotate(times=Count("pk"), last=Max("closed_at"))
    )
    return {
        (within, asker)
        for within, asker, times, last in vain
        if now < last + min(COOL_DOWN * 2 ** min(times - 1, 10), LONGEST_COOL_DOWN)
    }


def breakers_of(watch: Watch) -> list[Hold]:
    """The breakers that are open now."""
    return open_breakers(watch.watcher.health(), watch.watcher.nodes(), watch.writes)


def appeared(cluster: Cluster, pods: Iterable[Pod]) -> list[str]:
    """Return the schedulers that did not run in a cluster when somebody let us act there; where nobody noted, notes."""
    running = schedulers(pods)
    if cluster.schedulers_known is None:
        Cluster.objects.filter(pk=cluster.pk, schedulers_known__isnull=True).update(schedulers_known=running)
        return []
    return [name for name in running if name not in cluster.schedulers_known]


def in_the_cluster(watch: Watch) -> list[Hold]:
    """Return what keeps us back in the cluster itself, also while nothing would be evicted."""
    found = []
    if watch.stopped is not None:
        found.append(Hold(interlock=Interlock.STOPPED_IN_CLUSTER, reason=watch.stopped))
    if watch.appeared:
        found.append(Hold(interlock=Interlock.OTHER_SCHEDULER, reason=", ".join(watch.appeared)))
    return found


def not_ours(watch: Watch, *, leads: bool) -> Interlock | None:
    """Return why we are not the one that acts; None where we are."""
    if watch.appeared:
        return Interlock.OTHER_SCHEDULER
    if leads:
        return None
    if watch.stopped is not None:
        return Interlock.STOPPED_IN_CLUSTER
    return Interlock.NO_LEASE if watch.lease_trouble else Interlock.OTHER_INSTALLATION


def may_go(cluster: Cluster, watch: Watch, row: Decision, victims: Iterable[Victim]) -> bool:
    """Whether victims of a decision that was begun may still go, as everything is at this very moment.

    What people stop is asked of the database each time: it works within one eviction.
    """
    if not watch.leads() or watch.appeared or unreadable(watch.watcher.health()):
        return False
    if any(hold.interlock is not Interlock.FAILING_WRITES or not watch.writes.may_try for hold in breakers_of(watch)):
        return False
    victims = list(victims)
    as_set = Cluster.objects.filter(pk=cluster.pk, mode=Cluster.Mode.ENFORCE).first()
    places = [(row.ask_queue, row.ask_namespace), *((victim.queue, victim.namespace) for victim in victims)]
    if as_set is None or not acts_within(as_set, places):
        return False
    queues = {row.ask_queue, *(victim.queue for victim in victims)}
    return Stops.of(cluster, timezone.now()).interlock(queues) is None
