"""Hierarchies of queues, and their published, immutable revisions."""

from functools import cached_property
from typing import Self

import msgspec
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from engine.formats.tree_json.percentages import PercentageBase
from engine.model import queue_tree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, RestrictedQuerySet, Scope, Who, scope_of
from scheduler_admin.core import limits
from scheduler_admin.core.json_decoder import QuickDecoder


class HierarchyQuerySet(RestrictedQuerySet["Hierarchy"]):
    """Hierarchies; tenants see those that hold, or held, a queue of theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(pk__in=Queue.objects.filter(path__in=scope.subtrees).values("revision__hierarchy"))


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

    @property
    def capacity(self) -> PercentageBase:
        """What its clusters hold, as far as they were read: percentages of the whole cluster are of that."""
        held = self.clusters.filter(status__isnull=False).values_list("status__capacity", flat=True)
        return PercentageBase.of(one for one in held if one)


class RevisionQuerySet(RestrictedQuerySet["Revision"]):
    """Revisions; a tenant sees none, as they show the whole tree."""


class Revision(models.Model):
    """A published tree with its policy: numbered, never changed afterwards, which its table sees to (see immutable)."""

    class Policy(models.TextChoices):
        FENCE = "fence", _("fence")
        PRIORITY = "priority", _("priority")
        COHORT = "cohort", _("cohort")
        FAIR_SHARE = "fair-share", _("fair-share")
        DESERVED = "deserved", _("deserved")

    hierarchy = models.ForeignKey(Hierarchy, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    """The one that was in force when it was published; None for the first. It goes only with the whole hierarchy."""
    digest = models.CharField(
        max_length=64, help_text=_("Digest of this revision and all revisions before it (see chain.digest_of).")
    )
    document = models.TextField(help_text=_("The tree in canonical JSON, as the engine reads it."))
    source_format = models.CharField(max_length=20, blank=True)
    source = models.TextField(
        blank=True, help_text=_("The original document that the tree was imported from. Exports write it back.")
    )
    policy = models.CharField(max_length=20, choices=Policy, default=Policy.FENCE)
    dialect = models.CharField(max_length=20, default="design")
    parameters = models.JSONField(default=dict, blank=True)
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=limits.USER_NAME)
    reason = models.TextField(validators=[MaxLengthValidator(limits.REVISION_REASON)])
    published_at = models.DateTimeField(auto_now_add=True)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["hierarchy", "number"], name="revision_number")]

    def __str__(self) -> str:
        return f"{self.hierarchy} {self.number}"


class DraftQuerySet(RestrictedQuerySet["Draft"]):
    """Drafts hold the whole tree: who sees all of it sees all of them, who changes a part of it their own."""

    def restrict(self, user: Who, action: Action = "view") -> Self:
        if scope_of(user, action).everything:
            return self
        return self.filter(author=user.pk) if scope_of(user, "edit").subtrees else self.none()


class Draft(models.Model):
    """A tree being edited, on top of a revision. It and its queues hold what was typed, right or not yet."""

    hierarchy = models.ForeignKey(Hierarchy, on_delete=models.CASCADE, related_name="drafts")
    base = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    """The revision that it changes; once another one is in force the two are to be merged."""
    policy = models.CharField(max_length=20, default=Revision.Policy.FENCE)
    dialect = models.CharField(max_length=20, default="design")
    parameters = models.JSONField(
        default=dict, blank=True, help_text=_("Maps each parameter name to its chosen value as text.")
    )
    placement = models.JSONField(
        default=list, blank=True, help_text=_("Placement rules, as in the JSON format of a tree.")
    )
    source_format = models.CharField(max_length=20, blank=True)
    source = models.TextField(
        blank=True, help_text=_("The original document that the draft was imported from. Empty if there is none.")
    )
    capacity = models.JSONField(
        default=dict, blank=True, help_text=_("The cluster capacity that percentages refer to.")
    )
    changed_in = models.PositiveIntegerField(
        default=1, help_text=_("The draft version in which any of these fields last changed.")
    )
    name = models.CharField(max_length=limits.DRAFT_NAME)
    version = models.PositiveIntegerField(default=1, help_text=_("Increases with every change."))
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=limits.USER_NAME)
    changed_by = models.CharField(max_length=limits.USER_NAME)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    approved_version = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("The draft version that was approved.")
    )
    approved_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    approved_name = models.CharField(max_length=limits.USER_NAME, blank=True)
    conflicts = models.JSONField(default=list, blank=True)
    """Left by a merge, to be chosen from: three_way_merge.Conflict, its queue as the DraftQueue's ``origin``."""

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["-changed_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def outdated(self) -> bool:
        """Whether another revision is in force than the one that it changes."""
        return self.base_id != self.hierarchy.current_id

    @property
    def approved(self) -> bool:
        """Whether somebody approved it as it is now."""
        return self.approved_version == self.version and self.approved_by_id is not None

    def approved_beside(self, user: User) -> bool:
        """Whether somebody else did."""
        return self.approved and self.approved_by_id != user.pk


class DraftQueue(models.Model):
    """A queue of a draft: every setting as it was typed."""

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="queues")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    name = models.CharField(max_length=limits.QUEUE_NAME)
    origin = models.CharField(
        max_length=limits.QUEUE_PATH,
        blank=True,
        help_text=_("The queue's path in the base revision. Empty if the queue is new."),
    )
    changed_in = models.PositiveIntegerField(
        default=1, help_text=_("The draft version in which this queue last changed.")
    )
    settings = models.JSONField(
        default=dict, blank=True, decoder=QuickDecoder, help_text=_("Maps each setting to its text (see draft_texts).")
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class DraftAct(models.Model):
    """What an act changed in a draft: by it whoever did it takes it back, and does it again."""

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="acts")
    actor = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField(
        help_text=_("The draft version after this change was last made, undone or redone.")
    )
    undone = models.BooleanField(default=False)
    changes = models.JSONField(default=list)
    """See draft_storing.Difference."""

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.draft} {self.version}"


class QueueQuerySet(RestrictedQuerySet["Queue"]):
    """Queues; tenants see those of their subtrees."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("path"))


class Queue(models.Model):
    """A queue of a revision, with its own settings."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="queues")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    path = models.CharField(max_length=limits.QUEUE_PATH)
    position = models.PositiveIntegerField(
        help_text=_("Position in the traversal of the tree, with parents before children.")
    )
    leaf = models.BooleanField()
    settings = models.JSONField(
        default=dict,
        blank=True,
        decoder=QuickDecoder,
        help_text=_("The queue's own settings, in the format of the canonical tree."),
    )

    dynamic = False
    """Whether it is there because of its pods; such a queue is no row of the database."""

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["revision", "path"], name="queue_path")]
        indexes = [models.Index(fields=["path"], name="queue_by_path")]

    def __str__(self) -> str:
        return self.path

    @cached_property
    def own(self) -> queue_tree.Queue:
        """The queue of the tree. Amounts are integers: thousandths of a core, bytes, counts."""
        return msgspec.convert({"path": self.path, **self.settings}, queue_tree.Queue)

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
        return self.own.preemption_policy is queue_tree.PreemptionPolicy.FENCE and self.depth > 0
