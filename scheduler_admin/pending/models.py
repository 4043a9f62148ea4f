"""How long pending pods waited."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from engine.observation.wait_estimates import Estimate
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits


class WaitQuerySet(RestrictedQuerySet["Wait"]):
    """Waits; tenants see those of their own pods."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.pods("namespace", "queue"))


class Wait(models.Model):
    """How long one ask waited since the scheduler found no room for it, and what was told of it at first."""

    class Ending(models.TextChoices):
        BOUND = "bound", _("bound")
        POD_GONE = "pod-gone", _("no longer pending")
        """Or nobody saw how it ended."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="waits")
    uid = models.CharField(max_length=64)
    namespace = models.CharField(max_length=63)
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    priority = models.IntegerField()
    shape = models.CharField(
        max_length=300, help_text=_("What the pod has in common with pods that have similar requests.")
    )
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, help_text=_("Null while the pod is pending."))
    ending = models.CharField(max_length=10, choices=Ending, blank=True)
    half_ms = models.PositiveBigIntegerField(
        null=True,
        help_text=_(
            "The wait that half of similar pods did not exceed, in milliseconds. Null if there was no estimate."
        ),
    )
    most_ms = models.PositiveBigIntegerField(
        null=True, help_text=_("The wait that nine in ten similar pods did not exceed, in milliseconds.")
    )
    known = models.PositiveIntegerField(default=0, help_text=_("Number of pods that the estimate is based on."))
    alike = models.BooleanField(
        default=False, help_text=_("Whether the estimate uses only pods with similar requests and the same priority.")
    )

    objects = WaitQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["-since", "-pk"]
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="wait_once")]
        indexes = [
            models.Index(fields=["cluster", "queue", "-since"], name="wait_of_queue"),
            models.Index(fields=["cluster", "ending"], name="wait_open"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster} {self.uid}"

    @property
    def told(self) -> Estimate | None:
        """The estimate of when it was first seen."""
        if self.half_ms is None:
            return None
        return Estimate(half_ms=self.half_ms, most_ms=self.most_ms, known=self.known)
