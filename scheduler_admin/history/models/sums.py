"""What outlives decisions: who gained from whom, how long asks waited, who used what; and how many there were."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from engine.observation.wait_estimates import Estimate
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.models.decisions import Decision


class LedgerEntryQuerySet(RestrictedQuerySet["LedgerEntry"]):
    """Entries; tenants see those in which pods of theirs went, or got room."""

    def within(self, scope: Scope) -> Self:
        lost = scope.pods("losing_namespace", "losing_queue")
        return self.filter(lost | scope.pods("gaining_namespace", "gaining_queue"))


class LedgerEntry(models.Model):
    """What the pods of one namespace and queue gave up in a month for those of another. It outlives its decisions."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="ledger")
    month = models.DateField(help_text=_("Its first day; months are those of UTC."))
    source = models.CharField(max_length=20, choices=Decision.Source)
    losing_namespace = models.CharField(max_length=63)
    losing_queue = models.CharField(max_length=500, blank=True)
    gaining_namespace = models.CharField(max_length=63, blank=True, help_text=_("Both empty: nobody, or not known."))
    gaining_queue = models.CharField(max_length=500, blank=True)
    pods = models.PositiveIntegerField(default=0, help_text=_("That were evicted."))
    unknown = models.PositiveIntegerField(default=0, help_text=_("Of those, whose work thrown away is not known."))
    requests = models.JSONField(default=dict)
    work = models.JSONField(default=dict, help_text=_("Lost work, by resource."))

    objects = LedgerEntryQuerySet.as_manager()

    class Meta:
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


class WaitQuerySet(RestrictedQuerySet["Wait"]):
    """Waits; tenants see those of their own pods."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.pods("namespace", "queue"))


class Wait(models.Model):
    """How long one ask waited since the scheduler found no room for it, and what was told of it at first."""

    class Ending(models.TextChoices):
        BOUND = "bound", _("bound")
        GONE = "gone", _("went away")
        """Or nobody saw how it ended."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="waits")
    uid = models.CharField(max_length=64)
    namespace = models.CharField(max_length=63)
    queue = models.CharField(max_length=500)
    priority = models.IntegerField()
    shape = models.CharField(max_length=300, help_text=_("What it has in common with asks of like size."))
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, help_text=_("Null: it waits."))
    ending = models.CharField(max_length=5, choices=Ending, blank=True)
    half_ms = models.PositiveBigIntegerField(
        null=True, help_text=_("Half of such asks got room within; null: not told.")
    )
    most_ms = models.PositiveBigIntegerField(null=True, help_text=_("Nine of ten did."))
    known = models.PositiveIntegerField(default=0, help_text=_("From how many."))
    alike = models.BooleanField(default=False, help_text=_("From asks of like size and the same priority alone."))

    objects = WaitQuerySet.as_manager()

    class Meta:
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


class UsageQuerySet(RestrictedQuerySet["Usage"]):
    """Usage; tenants see that of their subtrees."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("queue"))


class Usage(models.Model):
    """What one queue used over a block of time, in points of ``step`` seconds; written once and never changed."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="usage")
    queue = models.CharField(max_length=500)
    step = models.PositiveIntegerField(help_text=_("Seconds from point to point: 10, 60 or 3600."))
    start = models.DateTimeField()
    document = models.BinaryField(help_text=_("A Run, see history.usage_runs."))

    objects = UsageQuerySet.as_manager()

    class Meta:
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
    document = models.BinaryField(help_text=_("Queue -> Now, see history.usage_runs."))

    objects = UsageSampleQuerySet.as_manager()

    class Meta:
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["cluster", "at"], name="usage_sample_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.at:%Y-%m-%d %H:%M:%S}"


class TallyQuerySet(RestrictedQuerySet["Tally"]):
    """Tallies; a tenant sees none, as one counts the decisions of all."""


class Tally(models.Model):
    """How many preemptions of each kind an hour, or a day, of a cluster had."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="tallies", db_index=False)
    span = models.DurationField(help_text=_("An hour or a day."))
    start = models.DateTimeField()
    kinds = models.PositiveIntegerField(default=0, help_text=_("How many there are."))
    # Last, as they are large.
    totals = models.BinaryField(null=True, help_text=_("Their sums, see history.tally_totals; nothing while due."))
    document = models.BinaryField(null=True, help_text=_("Kinds, see history.tally_kinds. Null: due, count the rows."))

    objects = TallyQuerySet.as_manager()

    class Meta:
        ordering = ["start"]
        verbose_name_plural = "tallies"
        constraints = [models.UniqueConstraint(fields=["cluster", "span", "start"], name="tally_once")]
        indexes = [
            models.Index(
                fields=["cluster", "span", "start"], condition=models.Q(document__isnull=True), name="tally_due"
            )
        ]

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%d %H:%M} for {self.span}"
