"""Filters of the history that a person keeps by a name."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.selectors.history_filters import Filters

MOST_KEPT = 30
"""By one person, of one cluster: they stand in a row above the filters."""


@dataclass(frozen=True)
class Saved:
    """What a person kept of a cluster's history, by name."""

    rows: list[SavedFilter]
    chosen: SavedFilter | None
    """The one that is looked at."""


def saved_filters(user: Who, cluster: Cluster, filters: Filters) -> Saved:
    """The user's own. One query."""
    rows, address = list(SavedFilter.objects.restrict(user, "view").filter(cluster=cluster)), filters.address()
    return Saved(rows, next((row for row in rows if row.address == address), None))


@transaction.atomic
def save_filter(*, owner: User, cluster: Cluster, name: str, filters: Filters) -> SavedFilter:
    """Keep them. Raises ValidationError."""
    User.objects.select_for_update().get(pk=owner.pk)  # so that two at once aren't one too many
    if SavedFilter.objects.filter(owner=owner, cluster=cluster).count() >= MOST_KEPT:
        raise ValidationError(_("You can save at most %d filters. Delete one first.") % MOST_KEPT)
    return _stored(SavedFilter(owner=owner, cluster=cluster, address=_address(filters)), name)


def change_filter(*, saved: SavedFilter, name: str, filters: Filters | None = None) -> SavedFilter:
    """Change the name, and where they are given the filters. Raises ValidationError."""
    if filters is not None:
        saved.address = _address(filters)
    return _stored(saved, name)


def _address(filters: Filters) -> str:
    """Return the query string of filters. Raises ValidationError where there are none."""
    if not filters.address():
        raise ValidationError(_("Set at least one filter before you save."))
    return filters.address()


def _stored(saved: SavedFilter, name: str) -> SavedFilter:
    saved.name = name.strip()
    if not saved.name:
        raise ValidationError(_("Enter a name."))
    others = SavedFilter.objects.filter(owner=saved.owner, cluster=saved.cluster, name=saved.name)
    if others.exclude(pk=saved.pk).exists():
        raise ValidationError(_("You already have a saved filter with this name."))
    saved.clean_fields(exclude=["owner", "cluster"])
    saved.save()
    return saved
