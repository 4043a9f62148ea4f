"""What queues used over time."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits


class UsageQuerySet(RestrictedQuerySet["Usage"]):
    """Usage; tenants see that of their subtrees."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("queue"))


class Usage(models.Model):
    """What one queue used over a block of time, in points of ``step`` seconds; written once and never changed."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="usage")
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    step = models.PositiveIntegerField(help_text=_("Interval between points in seconds: 10, 60 or 3600."))
    start = models.DateTimeField()
    document = models.BinaryField(help_text=_("An encoded Run (see usage.runs)."))

    objects = UsageQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["start"]
        constraints = [models.UniqueConstraint(fields=["cluster", "queue", "step", "start"], name="usage_block")]
        indexes = [models.Index(fields=["cluster", "step", "start"], name="usage_by_age")]

    def __str__(self) -> str:
        return f"{self.queue} {self.start:%Y-%m-%d %H:%M} by {self.step} s"


class UsageSampleQuerySet(RestrictedQuerySet["UsageSample"]):
    """Samples; a tenant sees none, as one holds all queues."""


class UsageSample(models.Model):
    """What all queues of a cluster use at one moment, until ``Usage`` holds it queue by queue."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="usage_samples")
    at = models.DateTimeField()
    document = models.BinaryField(help_text=_("Maps each queue to its Now (see usage.runs)."))

    objects = UsageSampleQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["cluster", "at"], name="usage_sample_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.at:%Y-%m-%d %H:%M:%S}"
