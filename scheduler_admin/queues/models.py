"""Hierarchies of queues, and their published, immutable revisions."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from engine.queues import PreemptionPolicy, PriorityPolicy
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope


class HierarchyQuerySet(RestrictedQuerySet["Hierarchy"]):
    """Hierarchies; tenants see those that hold a queue of theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(pk__in=Queue.objects.within(scope).values("revision__hierarchy"))


class Hierarchy(models.Model):
    """A named tree of queues through all its revisions."""

    name = models.SlugField(max_length=63, unique=True)
    current = models.ForeignKey("Revision", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    """The revision that is enforced."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = HierarchyQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = _("hierarchies")

    def __str__(self) -> str:
        return self.name


class RevisionQuerySet(RestrictedQuerySet["Revision"]):
    """Revisions; a tenant sees none, as they show the whole tree."""


class Revision(models.Model):
    """A published tree with its policy: numbered, never changed afterwards."""

    class Policy(models.TextChoices):
        FENCE = "fence", _("fence")
        PRIORITY = "priority", _("priority")
        COHORT = "cohort", _("cohort")
        FAIR_SHARE = "fair-share", _("fair-share")
        DESERVED = "deserved", _("deserved")

    hierarchy = models.ForeignKey(Hierarchy, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    document = models.TextField(help_text=_("The tree in canonical JSON; what the engine reads."))
    source_format = models.CharField(max_length=20, blank=True)
    source = models.TextField(blank=True, help_text=_("The native document it came from, kept to be written back."))
    policy = models.CharField(max_length=20, choices=Policy, default=Policy.FENCE)
    dialect = models.CharField(max_length=20, default="design")
    parameters = models.JSONField(default=dict, blank=True)
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=150)
    reason = models.TextField()
    published_at = models.DateTimeField(auto_now_add=True)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["hierarchy", "number"], name="revision_number")]

    def __str__(self) -> str:
        return f"{self.hierarchy} {self.number}"


class QueueQuerySet(RestrictedQuerySet["Queue"]):
    """Queues; tenants see those of their subtrees."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("path"))


class Queue(models.Model):
    """A queue of a revision, with its own settings. Amounts are integers: thousandths of a core, bytes, counts."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="queues")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    path = models.CharField(max_length=500)
    position = models.PositiveIntegerField(help_text=_("Place in the walk of the tree, parents before children."))
    leaf = models.BooleanField()
    guaranteed = models.JSONField(default=dict, blank=True)
    max = models.JSONField(default=dict, blank=True)
    preemption_policy = models.CharField(
        max_length=10,
        choices=[(value.value, value.value) for value in PreemptionPolicy],
        default=PreemptionPolicy.DEFAULT.value,
    )
    delay_ms = models.PositiveIntegerField(null=True, blank=True)
    priority_policy = models.CharField(
        max_length=10,
        choices=[(value.value, value.value) for value in PriorityPolicy],
        default=PriorityPolicy.DEFAULT.value,
    )
    priority_offset = models.IntegerField(default=0)
    namespaces = models.JSONField(default=list, blank=True)
    evict_uncontrolled = models.BooleanField(default=False)

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["revision", "path"], name="queue_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def depth(self) -> int:
        """0 for the root."""
        return self.path.count(".")

    @property
    def fenced(self) -> bool:
        """Whether no preemption reaches out of this queue; a fence on the root has no effect."""
        return self.preemption_policy == PreemptionPolicy.FENCE and self.depth > 0
