"""Moments of clusters that somebody saved, to look into them without the cluster."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits


class SavedSnapshotQuerySet(RestrictedQuerySet["SavedSnapshot"]):
    """Saved snapshots; they show all pods of a cluster, so a tenant sees none."""


class SavedSnapshot(models.Model):
    """A cluster at one moment with the tree that was in force, of this cluster or uploaded from elsewhere."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="saved_snapshots")
    name = models.CharField(max_length=limits.SNAPSHOT_NAME)
    at = models.DateTimeField(help_text=_("The time at which the cluster was in this state."))
    uploaded = models.BooleanField(default=False)
    nodes = models.PositiveIntegerField()
    pods = models.PositiveIntegerField()
    left_out = models.PositiveIntegerField(
        default=0, help_text=_("Number of objects in the file that no policy reads.")
    )
    blob = models.BinaryField(help_text=_("The cluster state, encoded as a journal keyframe."))
    document = models.TextField(
        blank=True, help_text=_("The queue tree in canonical JSON. Empty if the snapshot has no tree.")
    )
    policy = models.CharField(max_length=20, blank=True)
    dialect = models.CharField(max_length=20, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=limits.USER_NAME)
    saved_at = models.DateTimeField(auto_now_add=True)

    objects = SavedSnapshotQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["-saved_at", "-pk"]

    def __str__(self) -> str:
        return self.name
