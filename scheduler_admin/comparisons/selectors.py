"""Reads of comparisons."""

from django.http import Http404

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons.models import Comparison, ComparisonQuerySet

PAGE = 30


def comparisons_of(user: Who, cluster: Cluster) -> ComparisonQuerySet:
    """Those of a cluster, newest first, without what was found."""
    rows = Comparison.objects.restrict(user, "view").filter(cluster=cluster)
    return rows.defer("result", "measure")[:PAGE]


def find(user: Who, cluster: Cluster, pk: int) -> Comparison:
    """One of a cluster. Raises Http404 for strangers."""
    found = Comparison.objects.restrict(user, "view").filter(cluster=cluster, pk=pk).first()
    if found is None:
        raise Http404
    return found


def may_stop(user: Who, comparison: Comparison) -> bool:
    """Who began it may, and who operates clusters."""
    return comparison.author_id == user.pk or scope_of(user, "operate").everything
