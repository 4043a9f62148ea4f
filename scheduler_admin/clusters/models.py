"""Clusters, how to reach them, how far the engine may go there, and what was last read of them."""

from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.queues.models import Hierarchy, Queue


def default_protected() -> list[str]:
    """Namespaces whose pods are never victims."""
    return ["kube-system"]


class ClusterQuerySet(RestrictedQuerySet["Cluster"]):
    """Clusters; tenants see those whose tree holds a queue of theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(hierarchy__current__in=Queue.objects.within(scope).values("revision"))


class Cluster(models.Model):
    """A Kubernetes cluster."""

    class Mode(models.TextChoices):
        OBSERVE = "observe", _("observe")
        ADVISE = "advise", _("advise")
        ENFORCE = "enforce", _("enforce")

    class Hold(models.TextChoices):
        TAINT = "taint", _("a taint keeps all others out")
        NOMINATE = "nominate", _("only named as the ask's node")
        NOTHING = "nothing", _("not kept: whoever comes first")

    name = models.SlugField(max_length=63, unique=True)
    hierarchy = models.ForeignKey(Hierarchy, null=True, blank=True, on_delete=models.PROTECT, related_name="clusters")
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.OBSERVE)
    kubeconfig = models.CharField(max_length=500, blank=True, help_text=_("Path; empty: the service account's own."))
    context = models.CharField(max_length=253, blank=True)
    interval_ms = models.PositiveIntegerField(default=1000, help_text=_("Time between two passes."))
    evictions_per_minute = models.PositiveIntegerField(
        default=30, help_text=_("No more pods are evicted in any minute; a decision that would exceed it waits whole.")
    )
    reserved_nodes = models.PositiveIntegerField(default=3, help_text=_("At most so many nodes are kept for asks."))
    bind_margin_s = models.PositiveIntegerField(
        default=30, help_text=_("How long after its victims' longest grace period a decision waits for its ask.")
    )
    hold = models.CharField(
        max_length=10, choices=Hold, default=Hold.TAINT, help_text=_("How freed room is kept for its ask.")
    )
    protected_namespaces = models.JSONField(default=default_protected, blank=True)
    publish = models.BooleanField(default=False, help_text=_("In advise: write Events on pods."))
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    pause_reason = models.TextField(blank=True)
    untidy = models.BooleanField(
        default=False, help_text=_("Whether something of ours may be left there; nothing is once it has been swept.")
    )
    next_pass_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=200, blank=True, help_text=_("The worker that watches it."))
    owned_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def paused(self) -> bool:
        """Whether nothing may be evicted for now."""
        return self.paused_at is not None


class ClusterStatus(models.Model):
    """What the last pass read: pages show this and never wait on a cluster. One row per cluster."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="status")
    news = models.PositiveBigIntegerField(default=0, help_text=_("Grows whenever a page would look different."))
    read_at = models.DateTimeField(null=True, help_text=_("When the cluster was last heard of."))
    pass_at = models.DateTimeField(null=True)
    pass_us = models.PositiveIntegerField(null=True, help_text=_("How long the last pass took, in microseconds."))
    error = models.TextField(blank=True, help_text=_("Why the cluster can't be read; empty when it can."))
    missing = models.TextField(blank=True, help_text=_("Why Events can't be read, which passes do without; or empty."))
    error_since = models.DateTimeField(null=True)
    revision_number = models.PositiveIntegerField(null=True)
    nodes = models.PositiveIntegerField(default=0)
    pods = models.PositiveIntegerField(default=0)
    capacity = models.JSONField(default=dict)
    """Resource -> amount of all nodes."""
    queues = models.JSONField(default=dict)
    """Path -> {"used": amounts, "asks": count, "oldest_ask_ms": ms since 1970 or null}, rolled up."""
    applications = models.JSONField(default=dict)
    """Leaf path -> [{"name", "namespace", "pods", "requests": amounts}], largest first, at most twenty a leaf."""

    rivals = models.JSONField(default=list)
    """Priority classes by which the cluster's own scheduler would preempt too."""

    def __str__(self) -> str:
        return f"status of {self.cluster}"
