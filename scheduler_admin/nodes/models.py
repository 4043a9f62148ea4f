"""What the last pass saw on each node."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet
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
    applications = models.BinaryField(help_text=_("Four bytes for each application of its pods, used for lookups."))
    pods = models.BinaryField(help_text=_("ListedPods as MessagePack, compressed."))
    digest = models.CharField(max_length=32, help_text=_("Digest of all other fields."))

    objects = NodePodsQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.name}"
