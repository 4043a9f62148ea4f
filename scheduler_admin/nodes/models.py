"""What the last pass saw on each node, and where each pod is found."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits


class NodePodsQuerySet(RestrictedQuerySet["NodePods"]):
    """Nodes with their pods, which are everybody's: tenants read of them pod by pod, never a row."""

    def nodes(self) -> Self:
        """Without the parts that hold pods of no node."""
        return self.exclude(name__startswith="/")


class NodePods(models.Model):
    """A node with the pods on it, or a part of those that have none. Written where it became another one."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="node_pods")
    name = models.CharField(
        max_length=limits.OBJECT_NAME, help_text=_("Name of the node. /1 and so on: pods without a node.")
    )
    facts = models.TextField(help_text=_("A ListedNode as JSON. Empty if the row is not a node."))
    # Earlier releases look applications up here. Now PodPlace has them.
    applications = models.BinaryField(
        default=b"", db_default=b"", help_text=_("Empty. Earlier versions used it for lookups.")
    )
    pods = models.BinaryField(help_text=_("ListedPods as MessagePack, compressed."))
    digest = models.CharField(max_length=32, help_text=_("Digest of all other fields."))

    objects = NodePodsQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.name}"


class PodPlaceQuerySet(RestrictedQuerySet["PodPlace"]):
    """Places of pods; tenants see those of pods that are theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.pods("namespace", "queue"))


class PodPlace(models.Model):
    """The row of NodePods that has a pod, for lookups by name, application or namespace.

    A row holds only what rarely changes in a pod's life: passes write rows for new, bound and deleted pods alone. On
    PostgreSQL, the texts have the collation "C", so that an index finds them by their beginnings, and in order.
    """

    # No index of its own: rows are found by names, and clusters are few. No constraint: a first pass adds millions.
    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="pod_places", db_index=False, db_constraint=False
    )
    namespace = models.CharField(max_length=limits.NAMESPACE)
    name = models.CharField(max_length=limits.OBJECT_NAME)
    queue = models.CharField(max_length=limits.QUEUE_PATH, blank=True)
    application = models.CharField(max_length=limits.APPLICATION, blank=True)
    place = models.CharField(
        max_length=limits.OBJECT_NAME, help_text=_("Node of the pod. /1 and so on: the pod has no node.")
    )

    objects = PodPlaceQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["namespace", "name"]
        indexes = [
            models.Index(fields=["namespace", "name"], name="pod_place_pod"),
            models.Index(fields=["name"], name="pod_place_name"),
            models.Index(fields=["application", "namespace"], name="pod_place_application"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster} {self.namespace}/{self.name}"
