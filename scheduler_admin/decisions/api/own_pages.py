"""Pages of the decisions that a tenant sees, who sees a few of all."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import Cursor
from scheduler_admin.decisions.models import Decision, DecisionQuerySet
from scheduler_admin.decisions.selectors.index import newest_about, numbers_of
from scheduler_admin.rest.pagination import NewestFirst

LOOKED_AT = 500
"""So many of a tenant's newest decisions are held against the filters, before all that the filters find are sought."""

_FEW = (
    *("application", "namespace", "queue"),
    *("node", "state", "ending", "priority_class", "against_laws", "again"),
)
"""Filters with an index of their own that finds few."""


def is_long(asked: Mapping[str, Any]) -> bool:
    """Whether what is asked for may be most of a tenant's decisions: nothing is that few have."""
    return all(asked.get(name) is None for name in _FEW)


def own_page(
    mine: DecisionQuerySet, asked: Mapping[str, Any], *, cluster: Cluster, scope: Scope
) -> tuple[list[Decision], Cursor | None]:
    """A page of ``mine``, what of a cluster's decisions, placed as they are, is seen by ``scope``, which is not all.

    By what they are about first: a database that is asked for all of it at once reads every victim of theirs.
    """
    pages = NewestFirst(asked, "at", "number")
    numbers, which, limit = numbers_of(scope, cluster.pk), _within(asked), asked["limit"]
    found: list[Decision] = []
    seen = 0
    for many in (limit + 1, LOOKED_AT):
        newest = newest_about(numbers, which, many)
        found += mine.filter(pk__in=newest[seen:]).order_by("-first_seen", "-pk")[: limit + 1 - len(found)]
        seen = len(newest)
        if len(found) > limit or seen < many:
            return pages.cut(found)
    return pages.page(mine)


def _within(asked: Mapping[str, Any]) -> Q:
    """The times and the place that are asked for, of mentions."""
    which = Q()
    if "since" in asked:
        which &= Q(first_seen__gte=asked["since"])
    if "until" in asked:
        which &= Q(first_seen__lt=asked["until"])
    if "cursor" in asked:
        which &= asked["cursor"].older("first_seen", "decision")
    return which
