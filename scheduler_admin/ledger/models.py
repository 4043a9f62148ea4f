"""Who gained from whom: sums that outlive their decisions."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.decisions.models.decisions import Decision


class LedgerEntryQuerySet(RestrictedQuerySet["LedgerEntry"]):
    """Entries; tenants see those in which pods of theirs went, or got room."""

    def within(self, scope: Scope) -> Self:
        lost = scope.pods("losing_namespace", "losing_queue")
        return self.filter(lost | scope.pods("gaining_namespace", "gaining_queue"))


class LedgerEntry(models.Model):
    """What the pods of one namespace and queue gave up in a month for those of another. It outlives its decisions."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="ledger")
    month = models.DateField(help_text=_("First day of the month (UTC)."))
    source = models.CharField(max_length=20, choices=Decision.Source)
    losing_namespace = models.CharField(max_length=63)
    losing_queue = models.CharField(max_length=limits.QUEUE_PATH, blank=True)
    gaining_namespace = models.CharField(
        max_length=63,
        blank=True,
        help_text=_("Empty together with the queue if the pods were evicted for no other pod, or if that is unknown."),
    )
    gaining_queue = models.CharField(max_length=limits.QUEUE_PATH, blank=True)
    pods = models.PositiveIntegerField(default=0, help_text=_("Number of evicted pods."))
    unknown = models.PositiveIntegerField(default=0, help_text=_("Number of these pods whose lost work is unknown."))
    requests = models.JSONField(default=dict)
    work = models.JSONField(default=dict, help_text=_("Lost work, by resource."))

    objects = LedgerEntryQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["month", "pk"]
        verbose_name_plural = "ledger entries"
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("cluster", "month", "source", "losing_namespace", "losing_queue"),
                    *("gaining_namespace", "gaining_queue"),
                ],
                name="ledger_once",
            )
        ]
        indexes = [models.Index(fields=["month"], name="ledger_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.losing_queue} > {self.gaining_queue}"
