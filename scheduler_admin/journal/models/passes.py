"""Passes, and what they saw, kept so that it can be replayed."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision


class PassQuerySet(RestrictedQuerySet["Pass"]):
    """Passes; a tenant sees none."""


class Pass(models.Model):
    """One run of the engine over one cluster that sampled usage or did something; others only move ClusterStatus."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="passes")
    revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(db_index=True)
    took_us = models.PositiveIntegerField()
    asks = models.PositiveIntegerField(default=0)
    decided = models.PositiveIntegerField(default=0, help_text=_("Number of decisions to preempt."))
    refused = models.PositiveIntegerField(default=0, help_text=_("Number of decisions that failed a safety check."))
    dropped = models.PositiveIntegerField(default=0, help_text=_("Number of decisions that a safeguard put on hold."))
    evictions = models.PositiveIntegerField(default=0)
    sampled = models.BooleanField(default=False, help_text=_("Whether the pass recorded a usage sample."))

    objects = PassQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["cluster", "at"], name="pass_newest")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.at:%Y-%m-%d %H:%M:%S}"


class JournalSegmentQuerySet(RestrictedQuerySet["JournalSegment"]):
    """Segments; a tenant sees none."""


class JournalSegment(models.Model):
    """A part of a cluster's journal that can be read by itself: its first entry holds the whole cluster."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="journal")
    began_at = models.DateTimeField()
    entries = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0, help_text=_("Total size of its entries, in bytes."))
    complete = models.BooleanField(
        default=True, db_default=True, help_text=_("Whether the keyframe that it begins with is fully stored.")
    )

    objects = JournalSegmentQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.cluster} {self.began_at:%Y-%m-%d %H:%M:%S}"


class JournalEntryQuerySet(RestrictedQuerySet["JournalEntry"]):
    """Entries; they show all pods of a cluster, so a tenant sees none."""


class JournalEntry(models.Model):
    """What one pass saw: what had changed since the entry before, and the pass's own moment.

    The first entries of a segment of a large cluster are pieces of its keyframe.
    """

    segment = models.ForeignKey(JournalSegment, on_delete=models.CASCADE, related_name="written")
    offset = models.PositiveIntegerField(help_text=_("Position in its segment, starting at 0."))
    at = models.DateTimeField()
    blob = models.BinaryField(help_text=_("The entry, encoded in the journal format."))

    objects = JournalEntryQuerySet.as_manager()

    class Meta:
        app_label = "history"
        ordering = ["segment", "offset"]
        constraints = [models.UniqueConstraint(fields=["segment", "offset"], name="journal_offset")]

    def __str__(self) -> str:
        return f"{self.segment_id} {self.offset}"
