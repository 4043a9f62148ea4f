"""The latest preemption of each queue: found without a look at the history, however long it is."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.decisions.models.decisions import Decision


class LastPreemptionQuerySet(RestrictedQuerySet["LastPreemption"]):
    """Those of queues; tenants see what became of pods of theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.pods("namespace", "queue"))


class LastPreemption(models.Model):
    """The latest decision that really evicted pods of one namespace and queue, or somebody for an ask of them."""

    class Side(models.TextChoices):
        INTO = "into", _("for its pending pod")
        OUT = "out", _("of its own pods")

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+", db_index=False)
    side = models.CharField(max_length=4, choices=Side)
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    namespace = models.CharField(max_length=63)
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(help_text=_("When the decision was first seen."))

    objects = LastPreemptionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "side", "queue", "namespace"], name="last_preemption_once")
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.queue} {self.decision_id}"
