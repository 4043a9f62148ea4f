"""Our own budgets of evictions: the strictest wins, and a decision is charged whole or not at all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from django.db.models import Q

from engine.model.decision import Interlock
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim

MINUTE = timedelta(minutes=1)


class Loss(NamedTuple):
    """A pod that goes."""

    queue: str
    namespace: str
    node: str


_Key = tuple[Interlock, str]


class Budgets:
    """What one pass may still evict; what it lets through is charged at once."""

    def __init__(self, limits: Mapping[Interlock, int], lost: Iterable[Loss], going: Iterable[Loss]) -> None:
        """``limits``: budget -> pods. ``lost``: within the last minute. ``going``: still in flight, however long."""
        self._limits = limits
        going = list(going)
        self._spent: Counter[_Key] = Counter(key for loss in (*lost, *going) for key in _of_minute(loss))
        self._spent[Interlock.EVICTIONS_PER_PASS, ""] = len(going)

    @classmethod
    def of(cls, cluster: Cluster, now: datetime) -> Self:
        """As the database has it now: two queries, each by an index however long the history is."""
        going = Victim.objects.filter(
            Q(evicted_at=None) | Q(evicted_at__lte=now - MINUTE),
            decision__cluster=cluster,
            decision__source=Decision.Source.ENGINE,
            decision__state__in=Decision.OPEN,
            state__in=[Victim.State.CHOSEN, Victim.State.ON_HOLD, Victim.State.EVICTED],
        ).order_by()
        places = going.values_list("queue", "namespace", "node")
        return cls(limits_of(cluster), _lost(cluster, now - MINUTE), (Loss(*place) for place in places))

    def exceeded(self, losses: Iterable[Loss]) -> Interlock | None:
        """The budget that does not allow all of these; None: they may go."""
        charges = self._charges(losses)
        for key, count in charges.items():
            if self._spent[key] + count > self._limits[key[0]]:
                return key[0]
        return None

    def charge(self, losses: Iterable[Loss]) -> None:
        """They go."""
        self._spent += self._charges(losses)

    def _charges(self, losses: Iterable[Loss]) -> Counter[_Key]:
        losses = list(losses)
        charges: Counter[_Key] = Counter({(Interlock.EVICTIONS_PER_PASS, ""): len(losses)})
        charges.update(key for loss in losses for key in _of_minute(loss))
        return charges


def _lost(cluster: Cluster, since: datetime) -> list[Loss]:
    """Who was evicted since then. One that went after a request without an answer may well have gone by it."""
    found = Victim.objects.filter(
        Q(cluster=cluster, evicted_at__gt=since) | Q(cluster=cluster, attempts__gt=0, gone_at__gt=since),
        decision__source=Decision.Source.ENGINE,
    ).order_by()
    places = found.values_list("evicted_at", "queue", "namespace", "node")
    # The rest is told apart here: asked for, a database may read by that, and much more.
    return [Loss(*place) for at, *place in places if at is None or at > since]


def _of_minute(loss: Loss) -> tuple[_Key, ...]:
    return (
        (Interlock.EVICTIONS_PER_MINUTE, ""),
        (Interlock.EVICTIONS_PER_QUEUE, loss.queue),
        (Interlock.EVICTIONS_PER_NAMESPACE, loss.namespace),
        (Interlock.EVICTIONS_PER_NODE, loss.node),
    )


def limits_of(cluster: Cluster) -> dict[Interlock, int]:
    """Budget -> how many pods it allows."""
    return {
        Interlock.EVICTIONS_PER_PASS: cluster.evictions_per_pass,
        Interlock.EVICTIONS_PER_MINUTE: cluster.evictions_per_minute,
        Interlock.EVICTIONS_PER_QUEUE: cluster.evictions_per_queue,
        Interlock.EVICTIONS_PER_NAMESPACE: cluster.evictions_per_namespace,
        Interlock.EVICTIONS_PER_NODE: cluster.evictions_per_node,
    }
