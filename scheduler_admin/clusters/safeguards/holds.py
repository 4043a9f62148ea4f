"""What keeps evictions back in a cluster now, and since when; a breaker that opens or closes is told."""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec
from django.db import transaction

from engine.model.decision import Interlock
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.versions import grown

log = logging.getLogger(__name__)

STOPS = frozenset({Interlock.PAUSED, Interlock.QUEUE_PAUSED, Interlock.DENY_WINDOW, Interlock.ALLOW_WINDOW})
"""What people close."""
BREAKERS = frozenset({Interlock.WATCH_GAP, Interlock.CLOCK_SKEW, Interlock.NODES_NOT_READY, Interlock.FAILING_WRITES})
"""What opens by itself on stale or sick input, and closes by itself."""


class Hold(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An interlock that keeps evictions back. Times are milliseconds since 1970."""

    interlock: Interlock
    queue: str = ""
    """The queue that it concerns, with all below; empty: the whole cluster."""
    everywhere: bool = False
    """Whether it holds in all clusters."""
    since_ms: int = 0
    until_ms: int | None = None
    """When it ends by itself; None: that is not known."""
    by: str = ""
    reason: str = ""
    """Who closed it and why, where people did."""
    figures: dict[str, int] = {}
    """The numbers of a breaker."""
    decisions: int = 0
    """How many decisions it held back in the last pass."""

    @property
    def since(self) -> datetime:
        """Since when it holds."""
        return _moment(self.since_ms)

    @property
    def until(self) -> datetime | None:
        """When it ends by itself."""
        return None if self.until_ms is None else _moment(self.until_ms)

    @property
    def place(self) -> tuple[str, str, bool]:
        """What makes it the same one as before."""
        return self.interlock.value, self.queue, self.everywhere


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def ms(at: datetime) -> int:
    """A moment in milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def holds_of(status: ClusterStatus | None) -> list[Hold]:
    """As the last pass, or a person since, left them."""
    return msgspec.convert(status.holds, list[Hold]) if status else []


def counted(standing: Iterable[Hold], held: Iterable[str]) -> list[Hold]:
    """What stands, and what else ``held`` decisions back (one interlock for each), with how many of them."""
    times = Counter(name for name in held if name)
    found = list(standing)
    known = {hold.interlock.value for hold in found}
    found += [Hold(interlock=Interlock(name)) for name in sorted(times.keys() - known)]
    return [msgspec.structs.replace(hold, decisions=times[hold.interlock.value]) for hold in found]


@transaction.atomic
def store_holds(*, cluster: Cluster, holds: Iterable[Hold], now: datetime) -> None:
    """Replace what keeps evictions back in a cluster; what held before holds since then.

    Every breaker that opens or closes is written to the audit log and the worker's own, once.
    """
    status, _ = ClusterStatus.objects.get_or_create(cluster=cluster)
    before = {hold.place: hold for hold in holds_of(status)}
    found = [hold if hold.since_ms else _since(hold, before.get(hold.place), now) for hold in holds]
    facts = msgspec.to_builtins(found)
    if facts == status.holds:
        return
    ClusterStatus.objects.filter(pk=status.pk).update(holds=facts, **grown())
    after = {hold.place: hold for hold in found}
    for place in before.keys() ^ after.keys():
        if place[0] in BREAKERS:
            breaker = after.get(place) or before[place]
            verb = "breaker.open" if place in after else "breaker.close"
            tell(cluster, verb, breaker=breaker.interlock.value, **breaker.figures)


def tell(cluster: Cluster, verb: str, **details: str | int) -> None:
    """Write down what happened to a cluster without anybody's doing, in the audit log and the worker's own."""
    record(actor=None, by="engine", verb=verb, target=cluster.name, details=details)
    log.warning("Recorded event %s for cluster %s: %s", verb, cluster.name, details)


def _since(hold: Hold, known: Hold | None, now: datetime) -> Hold:
    return msgspec.structs.replace(hold, since_ms=known.since_ms if known else ms(now))
