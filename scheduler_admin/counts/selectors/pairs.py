"""Reads of who preempted whom: pods counted by the asker's queue, the victim's, and who decided."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from operator import attrgetter
from threading import Condition
from typing import NamedTuple

from cachetools import LRUCache, cached
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Min, Q, QuerySet
from django.utils import timezone

from engine.model.decision import Reason
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import paired
from scheduler_admin.counts.selectors.stored import Part, lying, read
from scheduler_admin.counts.services import SPANS
from scheduler_admin.decisions.models import Mention, Victim
from scheduler_admin.decisions.selectors.index import numbers_of
from scheduler_admin.decisions.sentences import LOST

_NEEDS_NO_CLAIM = (Reason.DAEMONSET, Reason.LAST_RESORT)


class Pair(NamedTuple):
    """The queue of an ask and that of a pod which really went for it.

    ``source``: of Decision.Source. ``ordinary``: not for a DaemonSet's asks, nor as the last resort.
    """

    asker: str
    victim: str
    source: str
    ordinary: bool


@dataclass(frozen=True, eq=False)
class PairCount:
    """Pods that went, by pair. It never changes, so whatever is worked out of it may be kept with it."""

    pods: Counter[Pair]
    tallies: tuple[Part, ...] = ()
    """Those that were added up, the newest first; none where rows were counted."""


def preempted_pairs(user: Who, cluster: Cluster, since: datetime) -> tuple[PairCount, ...]:
    """Return who preempted whom since then, whoever decided it: the sum of some counts.

    Days and hours that are over are counted by tallies, and each of the two is added up when one more is over. The rest
    is counted by rows; for a tenant, all is counted by the rows of decisions about theirs.
    """
    scope = scope_of(user, "view")
    # The decision's cluster, too: with its time it is what an index has.
    of_victims = Victim.objects.restrict(user, "view").filter(
        cluster=cluster, decision__cluster=cluster, state__in=LOST
    )
    if not scope.everything:
        about = Mention.objects.filter(about__in=numbers_of(scope, cluster.pk), first_seen__gte=since)
        # The first number keeps the database from reading a tenant's victims of all times, and the sum from looking for
        # that number in the index of all decisions, from the oldest on.
        first = about.aggregate(first=Min(F("decision") + 0))["first"]
        if first is None:
            return ()
        theirs = of_victims.filter(decision__gte=first, decision__in=about.values("decision"))
        return (PairCount(_counted(theirs)),)
    whole = lying(cluster, since, timezone.now())
    over = [_added_up(tuple(part for part in whole.found if part.span == span)) for span in SPANS]
    found = sorted(chain.from_iterable(each.tallies for each in over), key=attrgetter("start"), reverse=True)
    rest = Counter[Pair]()
    for start, end in replace(whole, found=found).gaps:
        within = Q(decision__first_seen__gte=start)
        last = Q() if end == whole.until else Q(decision__first_seen__lt=end)
        rest += _counted(of_victims.filter(within, last))
    return (*over, PairCount(rest))


@cached(LRUCache(6), condition=Condition())  # of days and of hours for three lengths of time; who needs the same waits
def _added_up(tallies: tuple[Part, ...]) -> PairCount:
    """Add up what tallies say, but for those that have changed since they were looked for."""
    counted, found = Counter[Pair](), list[Part]()
    for part in read(tallies) if tallies else ():
        found.append(replace(part, document=b""))
        for sort, asker, victim, pods in paired(part.document):
            counted[Pair(asker, victim, sort.source, sort.reason not in _NEEDS_NO_CLAIM)] += pods
    return PairCount(counted, tuple(found))


def _counted(victims: QuerySet[Victim]) -> Counter[Pair]:
    ordinary = ExpressionWrapper(~Q(decision__reason__in=_NEEDS_NO_CLAIM), BooleanField())
    rows = victims.order_by().annotate(ordinary=ordinary)
    keys = rows.values_list("decision__ask_queue", "queue", "decision__source", "ordinary")
    return Counter({Pair(*key): pods for *key, pods in keys.annotate(pods=Count("pk"))})
