"""The copies of trees that clusters keep themselves, as they were last seen, and what was written back there."""

from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from engine.cluster.sync.copies import CopyEffect
from engine.formats.registry import Format
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.models import Revision

KEPT = (Format.YUNIKORN, Format.KUEUE, Format.CONSUMERS)
"""In which formats clusters keep trees themselves."""
check_namespace = RegexValidator(
    r"\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z",
    _("Enter a valid namespace name: lowercase letters, digits, and hyphens."),
)


class CopyQuerySet(RestrictedQuerySet["Copy"]):
    """Copies; a tenant sees none, as they show the whole tree."""


class Copy(models.Model):
    """Where a cluster keeps its tree: YuniKorn's ConfigMap, Kueue's objects, or Consumers. Pages show just this row."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="copy")
    due_at = models.DateTimeField(default=timezone.now, help_text=_("Time of the next check."))
    looked_at = models.DateTimeField(null=True, blank=True, help_text=_("Time of the last successful check."))
    error = models.TextField(blank=True, help_text=_("Error of the last check. Empty if it succeeded."))
    namespace = models.CharField(
        max_length=limits.NAMESPACE,
        blank=True,
        validators=[check_namespace],
        help_text=_("Empty: the namespace of YuniKorn’s pods."),
    )
    form = models.CharField(max_length=20, choices=[(one.value, one.value) for one in KEPT], default=KEPT[0].value)
    runs = models.BooleanField(default=False, help_text=_("Whether pods show that the scheduler is running."))
    there = models.BooleanField(default=False, help_text=_("Whether the configuration existed at the last check."))
    text = models.TextField(blank=True)
    version = models.CharField(
        max_length=limits.COPY_VERSION,
        blank=True,
        help_text=_("Version of the configuration. It changes whenever the content changes."),
    )
    writer = models.CharField(
        max_length=limits.USER_NAME, blank=True, help_text=_("Last writer, as reported by the API server.")
    )
    written_at = models.DateTimeField(null=True, blank=True)
    document = models.TextField(
        blank=True, help_text=_("Queue tree in the configuration, as canonical JSON. Empty if there is none.")
    )
    problems = models.JSONField(default=list, blank=True)
    """Why it says no tree: engine.model.notes.Note, each as a mapping."""
    agreed = models.TextField(
        blank=True, help_text=_("Queue tree at the last time that the configuration matched a revision.")
    )
    agreed_with = models.ForeignKey(Revision, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    effect = models.CharField(
        max_length=10,
        choices=[(one.value, one.value) for one in CopyEffect],
        default=CopyEffect.UNKNOWN.value,
        help_text=_("Whether the scheduler uses the configuration."),
    )
    effect_note = models.TextField(blank=True, help_text=_("The scheduler’s explanation."))
    changed_at = models.DateTimeField(null=True, blank=True, help_text=_("Time when this version was first seen."))
    good = models.TextField(blank=True, help_text=_("Content that the scheduler was last known to use."))
    good_at = models.DateTimeField(
        null=True, blank=True, help_text=_("Time when the scheduler was last known to use it.")
    )

    objects = CopyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"copy of {self.cluster}"

    @property
    def can_be_put_back(self) -> bool:
        """Whether it says what the scheduler refuses, and what that last used is known."""
        refused = self.effect == CopyEffect.REJECTED or not self.document
        return self.there and refused and bool(self.good) and self.good != self.text


class UsedTreeQuerySet(RestrictedQuerySet["UsedTree"]):
    """Trees that schedulers used; a tenant sees none."""


class UsedTree(models.Model):
    """The tree that a cluster's scheduler went by from a moment on, as far as is known; never changed afterwards."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="used_trees", db_index=False)
    document = models.TextField(help_text=_("As canonical JSON."))
    since = models.DateTimeField(help_text=_("Time when the configuration was written."))

    objects = UsedTreeQuerySet.as_manager()

    class Meta:
        ordering = ["-since", "-pk"]
        indexes = [models.Index(fields=["cluster", "-since"], name="used_tree_since")]

    def __str__(self) -> str:
        return f"{self.cluster} since {self.since:%Y-%m-%dT%H:%MZ}"


class WritingQuerySet(RestrictedQuerySet["Writing"]):
    """Writings; a tenant sees none."""


class Writing(models.Model):
    """What somebody wants written over the copy that they saw: a revision, or what the scheduler last used.

    Stored before anything is done.
    """

    class State(models.TextChoices):
        IN_PROGRESS = "in-progress", _("in progress")
        WRITTEN = "written", _("written")
        CHANGED_MEANWHILE = "changed-meanwhile", _("not written: changed in the meantime")
        NEEDS_CONFIRMATION = "needs-confirmation", _("needs confirmation")
        """Others answer for fields that it changes."""
        REJECTED = "rejected", _("rejected")
        FAILED = "failed", _("failed")

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="writings")
    revision = models.ForeignKey(
        Revision,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text=_("Empty: the configuration that the scheduler last used."),
    )
    form = models.CharField(max_length=20, choices=[(one.value, one.value) for one in KEPT])
    namespace = models.CharField(max_length=limits.NAMESPACE, blank=True)
    onto = models.CharField(max_length=limits.COPY_VERSION, help_text=_("Version of the configuration that was shown."))
    before = models.TextField(help_text=_("Previous content."))
    text = models.TextField(help_text=_("New content."))
    confirmed = models.JSONField(default=list, blank=True)
    """Others' fields that are taken over: engine.cluster.sync.copies.Conflict, each as a mapping."""
    clashes = models.JSONField(default=list, blank=True)
    """Others' fields that were in the way, likewise."""
    state = models.CharField(max_length=20, choices=State, default=State.IN_PROGRESS)
    note = models.TextField(blank=True, help_text=_("Reason for the result."))
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    by_name = models.CharField(max_length=limits.USER_NAME)
    reason = models.TextField(max_length=limits.SHOWN_REASON, validators=[MaxLengthValidator(limits.SHOWN_REASON)])
    at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = WritingQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint("cluster", condition=models.Q(state="in-progress"), name="one_writing_at_a_time")
        ]

    def __str__(self) -> str:
        return f"{self.title} to {self.cluster}"

    @property
    def title(self) -> str:
        """What is written, for the audit log."""
        return str(self.revision) if self.revision else "what was in force"
