"""Limits on carrying out. They drop whole decisions, never single victims, and say which limit it was."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.decision import Decision as EngineDecision
from engine.decision import Interlock
from engine.feasibility import matches
from engine.planning import Considered
from engine.snapshot import DisruptionBudget, Snapshot
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision, Victim

COOL_DOWN = timedelta(seconds=30)
"""After a decision that brought its ask nothing, the ask waits so long before anything is evicted for it again."""


class Interlocks:
    """The limits as one pass finds them; what it lets through is charged at once."""

    def __init__(self, cluster: Cluster, snapshot: Snapshot, now: datetime, *, leads: bool) -> None:
        self._cluster, self._snapshot, self._now, self._leads = cluster, snapshot, now, leads
        opened = list(Decision.objects.filter(cluster=cluster).open().values_list("node", flat=True))
        self._reserved = set(opened)
        self._evicted = Victim.objects.filter(
            decision__cluster=cluster, evicted_at__gt=now - timedelta(minutes=1)
        ).count()
        self._pending = Victim.objects.filter(
            decision__cluster=cluster,
            decision__state__in=[Decision.State.INTENDED, Decision.State.EVICTING],
            state__in=[Victim.State.CHOSEN, Victim.State.HELD],
        ).count()
        self._allowed = {(one.namespace, one.name): one.allowed for one in snapshot.budgets}
        self._cooling = set(
            Decision.objects.filter(cluster=cluster, closed_at__gt=now - COOL_DOWN, state=Decision.State.CLOSED)
            .exclude(ending__in=[Decision.Ending.BOUND, Decision.Ending.REFUSED])
            .values_list("ask_uid", flat=True)
        )

    def hold(self, considered: Considered) -> str:
        """The limit that holds a decision back, empty when it may be carried out; then it is charged."""
        decision = considered.decision
        if self._cluster.paused:
            return Interlock.PAUSED
        if not self._leads:
            return Interlock.LEASE
        if decision.ask.uid in self._cooling:
            return Interlock.COOL_DOWN
        if len(self._reserved) >= self._cluster.reserved_nodes:
            return Interlock.RESERVED_NODES
        if self._evicted + self._pending + len(decision.victims) > self._cluster.evictions_per_minute:
            return Interlock.EVICTIONS_PER_MINUTE
        charges = self._charges(decision)
        if charges is None or any(self._allowed[key] < count for key, count in charges.items()):
            return Interlock.DISRUPTION_BUDGET
        for key, count in charges.items():
            self._allowed[key] -= count
        self._pending += len(decision.victims)
        self._reserved.add(decision.node or "")
        return ""

    def _charges(self, decision: EngineDecision) -> dict[tuple[str, str], int] | None:
        """Budget -> how many victims it covers; None when a victim has two, which the Eviction API refuses."""
        charges: dict[tuple[str, str], int] = {}
        labels = {pod.uid: pod.labels for pod in self._snapshot.pods}
        for verdict in decision.victims:
            found = list(_covering(self._snapshot.budgets, verdict.pod.namespace, labels[verdict.pod.uid]))
            if len(found) > 1:
                return None
            for budget in found:
                key = (budget.namespace, budget.name)
                charges[key] = charges.get(key, 0) + 1
        return charges


def _covering(
    budgets: Iterable[DisruptionBudget], namespace: str, labels: dict[str, str]
) -> Iterable[DisruptionBudget]:
    return (one for one in budgets if one.namespace == namespace and matches(one.expressions, labels))
