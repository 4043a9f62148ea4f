"""Comparisons: what is compared, how far it has come, what was found."""

from datetime import timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.journal.models import SavedSnapshot


class ComparisonQuerySet(RestrictedQuerySet["Comparison"]):
    """Comparisons show the whole tree and all queues: a tenant sees none."""


class Comparison(models.Model):
    """Sides held against each other on one moment or stretch of time. Its sides are kept as they were when it began."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="comparisons")
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=limits.USER_NAME)
    created_at = models.DateTimeField()
    since = models.DateTimeField(help_text=_("The compared moment, or the start of the compared period."))
    until = models.DateTimeField(
        null=True, blank=True, help_text=_("End of the compared period. Null: a single moment.")
    )
    snapshot = models.ForeignKey(SavedSnapshot, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    of_snapshot = models.CharField(
        max_length=100,
        blank=True,
        help_text=_("Name of the compared snapshot. Empty: the data comes from the journal."),
    )
    sides = models.JSONField(
        help_text=_("The compared configurations: queue tree, policy, dialect, and parameters of each.")
    )
    measure = models.TextField(
        blank=True, help_text=_("The queue tree that was published at that time, in canonical JSON.")
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0, help_text=_("Number of completed steps."))
    steps = models.PositiveIntegerField(default=0, help_text=_("Total number of steps, as far as known."))
    began_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True, help_text=_("When the worker last reported progress."))
    ended_at = models.DateTimeField(null=True, blank=True)
    trouble = models.TextField(blank=True, help_text=_("Why the comparison failed."))
    result = models.JSONField(
        null=True, blank=True, help_text=_("The results, including the metrics of each configuration.")
    )

    objects = ComparisonQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state"], name="comparison_state")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.pk}"

    @property
    def open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in OPEN

    @property
    def lasts(self) -> timedelta | None:
        """How long a time it is about; None: one moment."""
        return self.until - self.since if self.until else None


OPEN = (Comparison.State.WAITING, Comparison.State.RUNNING)
