"""Filters of the history that somebody comes back to."""

from typing import Self

from django.db import models

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, RestrictedQuerySet, Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits


class SavedFilterQuerySet(RestrictedQuerySet["SavedFilter"]):
    """Saved filters; everybody has their own, whatever their role, of a history that they may see whole."""

    def restrict(self, user: Who, action: Action = "view") -> Self:
        return super().restrict(user, action).filter(owner=user.pk)


class SavedFilter(models.Model):
    """A page of a cluster's history, by the name that its owner gave it."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_filters")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=limits.FILTER_NAME)
    address = models.CharField(max_length=limits.FILTER_ADDRESS)
    """What stands after the ``?``, as Filters writes it."""

    objects = SavedFilterQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["owner", "cluster", "name"], name="saved_filter_name")]

    def __str__(self) -> str:
        return self.name
