"""How many preemptions of each kind an hour or a day had."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster


class TallyQuerySet(RestrictedQuerySet["Tally"]):
    """Tallies; a tenant sees none, as one counts the decisions of all."""


class Tally(models.Model):
    """How many preemptions of each kind an hour, or a day, of a cluster had."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="tallies", db_index=False)
    span = models.DurationField(help_text=_("An hour or a day."))
    start = models.DateTimeField()
    kinds = models.PositiveIntegerField(default=0, help_text=_("Number of kinds."))
    # Last, as they are large.
    totals = models.BinaryField(
        null=True, help_text=_("Sums over all kinds (see counts.totals). Empty until they are calculated.")
    )
    document = models.BinaryField(
        null=True, help_text=_("The kinds (see counts.kinds). Null until they are calculated: count the rows instead.")
    )
    digest = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        help_text=_("Digest of the kinds that were calculated last. Empty if an earlier version calculated them."),
    )

    objects = TallyQuerySet.as_manager()

    class Meta:
        app_label = "history"
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
