"""Reads of who preempted whom: pods counted by the asker's queue, the victim's, and who decided."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import BooleanField, Count, ExpressionWrapper, Q

from engine.decision import Reason
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models import Victim
from scheduler_admin.history.sentences import LOST

_NEEDS_NO_CLAIM = (Reason.DAEMONSET, Reason.LAST_RESORT)


@dataclass(frozen=True)
class Pair:
    """Pods of one queue that really went for asks of another.

    ``source``: of Decision.Source. ``ordinary``: not for a DaemonSet's asks, nor as the last resort.
    """

    asker: str
    victim: str
    source: str
    ordinary: bool
    pods: int


def preempted_pairs(user: Who, cluster: Cluster, since: datetime) -> list[Pair]:
    """Who preempted whom since then, whoever decided it: one query, the most pods first."""
    counted = (
        Victim.objects.restrict(user, "view")
        .filter(decision__cluster=cluster, decision__first_seen__gte=since, state__in=LOST)
        .annotate(ordinary=ExpressionWrapper(~Q(decision__reason__in=_NEEDS_NO_CLAIM), BooleanField()))
        .values_list("decision__ask_queue", "queue", "decision__source", "ordinary")
        .annotate(pods=Count("pk"))
        .order_by("-pods", "decision__ask_queue", "queue", "decision__source", "ordinary")
    )
    return [Pair(*row) for row in counted]
