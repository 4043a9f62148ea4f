"""What decisions are found by, where that is a pod of either side."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models.decisions import Decision


class MentionQuerySet(RestrictedQuerySet["Mention"]):
    """Mentions; they name pods of several tenants, so a tenant sees none directly."""


class Mention(models.Model):
    """A queue, with all above it, a namespace or an application of a decision's ask or of one of its victims.

    No index finds rows by a column of their own or of other rows, in the order of a third. It may name what is none of
    the decision's any more: who finds it looks at the decision once more.
    """

    class Kind(models.TextChoices):
        QUEUE = "queue", _("queue")
        NAMESPACE = "namespace", _("namespace")
        APPLICATION = "application", _("application")

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+", db_index=False)
    first_seen = models.DateTimeField(help_text=_("The decision's."))
    kind = models.CharField(max_length=11, choices=Kind)
    name = models.CharField(max_length=500)

    objects = MentionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["decision", "kind", "name"], name="mention_once")]
        indexes = [
            models.Index(fields=["cluster", "kind", "name", "-first_seen", "-decision"], name="mention_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
