"""Limits on carrying out. They drop whole decisions, never single victims, and say which limit it was."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, Max

from engine.decision import Interlock
from engine.feasibility import matches
from engine.planning import Considered
from engine.snapshot import DisruptionBudget, Snapshot
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Decision, Victim

COOL_DOWN = timedelta(seconds=30)
"""After a decision that brought its ask nothing, the ask waits so long before anything is evicted for it again.

Not after one that was overtaken: nobody was evicted, and what it is decided on next is a newer picture.
"""
LONGEST_COOL_DOWN = timedelta(hours=1)
"""The wait doubles with every such decision, up to this."""
_NOT_IN_VAIN = (Decision.Ending.BOUND, Decision.Ending.REFUSED, Decision.Ending.OVERTAKEN)
_Key = tuple[str, str]


class Interlocks:
    """The limits as one pass finds them; what it lets through is charged at once."""

    def __init__(self, cluster: Cluster, snapshot: Snapshot, now: datetime, *, leads: bool) -> None:
        self._cluster, self._leads = cluster, leads
        self._budgets = snapshot.budgets
        self._labels = {pod.uid: pod.labels for pod in snapshot.pods}
        self._reserved = set(Decision.objects.filter(cluster=cluster).open().values_list("node", flat=True))
        self._evicted = Victim.objects.filter(
            decision__cluster=cluster,
            decision__source=Decision.Source.ENGINE,
            evicted_at__gt=now - timedelta(minutes=1),
        ).count()
        pending = list(
            Victim.objects.filter(
                decision__in=Decision.objects.filter(cluster=cluster).open(),
                state__in=[Victim.State.CHOSEN, Victim.State.HELD],
            ).values_list("uid", "namespace")
        )
        self._pending = len(pending)
        self._allowed = {(one.namespace, one.name): one.allowed for one in snapshot.budgets}
        for key, count in (self._charges(pending) or {}).items():
            self._allowed[key] -= count
        self._cooling = _cooling(cluster, now)

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
        charges = self._charges([(verdict.pod.uid, verdict.pod.namespace) for verdict in decision.victims])
        if charges is None or any(self._allowed[key] < count for key, count in charges.items()):
            return Interlock.DISRUPTION_BUDGET
        for key, count in charges.items():
            self._allowed[key] -= count
        self._pending += len(decision.victims)
        self._reserved.add(decision.node or "")
        return ""

    def _charges(self, victims: Iterable[_Key]) -> dict[_Key, int] | None:
        """Budget -> how many victims (uid, namespace) it covers; None when one has two, which the API refuses."""
        charges: dict[_Key, int] = {}
        for uid, namespace in victims:
            found = list(_covering(self._budgets, namespace, self._labels.get(uid, {})))
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


def _cooling(cluster: Cluster, now: datetime) -> set[str]:
    """The uids of asks for which decisions ended in vain, a moment ago or again and again."""
    vain = (
        Decision.objects.filter(cluster=cluster, closed_at__gt=now - 2 * LONGEST_COOL_DOWN)
        .filter(state=Decision.State.CLOSED, source=Decision.Source.ENGINE)
        .exclude(ending__in=_NOT_IN_VAIN)
        .order_by()
        .values_list("ask_uid")
        .annotate(times=Count("pk"), last=Max("closed_at"))
    )
    return {
        uid for uid, times, last in vain if now < last + min(COOL_DOWN * 2 ** min(times - 1, 10), LONGEST_COOL_DOWN)
    }
