"""Reads of who preempted whom: pods counted by the asker's queue, the victim's, and who decided."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import msgspec
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Min, Q, QuerySet
from django.utils import timezone

from engine.model.decision import Reason
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import paired
from scheduler_admin.counts.selectors.stored import lying
from scheduler_admin.decisions.models import Mention, Victim
from scheduler_admin.decisions.selectors.index import numbers_of
from scheduler_admin.decisions.sentences import LOST

_NEEDS_NO_CLAIM = (Reason.DAEMONSET, Reason.LAST_RESORT)


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Pods of one queue that really went for asks of another.

    ``source``: of Decision.Source. ``ordinary``: not for a DaemonSet's asks, nor as the last resort.
    """

    asker: str
    victim: str
    source: str
    ordinary: bool
    pods: int


@dataclass(frozen=True, eq=False)
class Happened:
    """Who preempted whom, the most pods first. It is the same object for as long as nothing else happened."""

    pairs: tuple[Pair, ...]


NOTHING = Happened(())
_Key = tuple[str, str, str, bool]
"""As a Pair has them: asker, victim, source, ordinary."""


def preempted_pairs(user: Who, cluster: Cluster, since: datetime) -> Happened:
    """Who preempted whom since then, whoever decided it.

    Tallies tell of days and hours that are over, rows of the rest; for a tenant rows of the decisions about theirs do.
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
            return NOTHING
        theirs = of_victims.filter(decision__gte=first, decision__in=about.values("decision"))
        return _in_order(_counted(theirs))
    told, rest = lying(cluster, since, timezone.now()), Counter[_Key]()
    for start, end in told.gaps:
        within = Q(decision__first_seen__gte=start)
        last = Q() if end == told.until else Q(decision__first_seen__lt=end)
        rest += _counted(of_victims.filter(within, last))
    return _together(tuple(bytes(part.document) for part in told.found), tuple(sorted(rest.items())))


@lru_cache(maxsize=2)  # some tens of thousands of pairs each
def _together(documents: tuple[bytes, ...], rest: tuple[tuple[_Key, int], ...]) -> Happened:
    """What tallies say, and the rest."""
    return _in_order(_told(documents) + Counter(dict(rest)))


@lru_cache(maxsize=2)  # of hours that are over
def _told(documents: tuple[bytes, ...]) -> Counter[_Key]:
    """What tallies say together."""
    counted = Counter[_Key]()
    for document in documents:
        for (sort, asker, victim), pods in paired(document).items():
            counted[asker, victim, sort.source, sort.reason not in _NEEDS_NO_CLAIM] += pods
    return counted


def _in_order(counted: Counter[_Key]) -> Happened:
    most_first = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return Happened(tuple(Pair(*key, pods) for key, pods in most_first))


def _counted(victims: QuerySet[Victim]) -> Counter[_Key]:
    ordinary = ExpressionWrapper(~Q(decision__reason__in=_NEEDS_NO_CLAIM), BooleanField())
    rows = victims.order_by().annotate(ordinary=ordinary)
    keys = rows.values_list("decision__ask_queue", "queue", "decision__source", "ordinary")
    return Counter({(*key,): pods for *key, pods in keys.annotate(pods=Count("pk"))})
