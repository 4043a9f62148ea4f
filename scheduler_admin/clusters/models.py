"""Clusters, how to reach them, how far the engine may go there, and what was last read of them."""

from collections.abc import Iterable
from typing import Any, Self
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from engine.cluster.watching.yunikorn import SERVICE
from engine.tree.lint.room import ClusterRoom
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS, Hours
from scheduler_admin.core import limits
from scheduler_admin.core.json_decoder import QuickDecoder
from scheduler_admin.queues.models import Hierarchy, Queue


def default_protected() -> list[str]:
    """Namespaces whose pods are never victims."""
    return ["kube-system"]


check_service = RegexValidator(
    rf"\A(?:{SERVICE.pattern})\Z", _("Use the form namespace/service:port, for example yunikorn/yunikorn-service:9080.")
)


class ClusterQuerySet(RestrictedQuerySet["Cluster"]):
    """Clusters; tenants see those whose tree holds a queue of theirs, or held one: their pods may still be there."""

    def within(self, scope: Scope) -> Self:
        # No queue is there without those above it, so that the tops of the subtrees tell.
        return self.filter(hierarchy__in=Queue.objects.filter(path__in=scope.subtrees).values("revision__hierarchy"))


class Cluster(models.Model):
    """A Kubernetes cluster."""

    class Mode(models.TextChoices):
        OBSERVE = "observe", _("Observe")
        ADVISE = "advise", _("Advise")
        ENFORCE = "enforce", _("Enforce")

    class KeptBy(models.TextChoices):
        TAINT = "taint", _("Taint the node, so that no other pod can use it")
        NOMINATE = "nominate", _("Only set the nominated node")
        NONE = "none", _("No reservation (first come, first served)")

    class GroupScheduling(models.TextChoices):
        UNKNOWN = "unknown", _("unknown")
        ON = "on", _("as a whole")
        OFF = "off", _("pod by pod")

    name = models.SlugField(max_length=limits.CLUSTER_NAME, unique=True)
    hierarchy = models.ForeignKey(Hierarchy, null=True, blank=True, on_delete=models.PROTECT, related_name="clusters")
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.OBSERVE)
    schedulers_known = models.JSONField(null=True, blank=True, default=None)
    """The other schedulers that ran there when enforce was set; null: what the next pass finds."""
    kubeconfig = models.CharField(
        max_length=limits.ADDRESS, blank=True, help_text=_("Path of the kubeconfig. Empty: use the service account.")
    )
    context = models.CharField(max_length=limits.CONTEXT, blank=True)
    interval_ms = models.PositiveIntegerField(default=1000, help_text=_("Time between two passes, in milliseconds."))
    evictions_per_pass = models.PositiveIntegerField(
        default=20, help_text=_("Maximum number of pods evicted per pass.")
    )
    evictions_per_minute = models.PositiveIntegerField(
        default=30,
        help_text=_("Maximum number of pods evicted in any minute. A decision that would exceed it waits as a whole."),
    )
    evictions_per_queue = models.PositiveIntegerField(
        default=20, help_text=_("Maximum number of pods evicted from one leaf queue in any minute.")
    )
    evictions_per_namespace = models.PositiveIntegerField(
        default=20, help_text=_("Maximum number of pods evicted from one namespace in any minute.")
    )
    evictions_per_node = models.PositiveIntegerField(
        default=20, help_text=_("Maximum number of pods evicted from one node in any minute.")
    )
    min_run_s = models.PositiveIntegerField(
        default=10, help_text=_("Minimum run time in seconds. Pods that have run for less time are never preempted.")
    )
    reserved_nodes = models.PositiveIntegerField(
        default=3, help_text=_("Maximum number of nodes reserved for pending pods at the same time.")
    )
    bind_margin_s = models.PositiveIntegerField(
        default=30,
        help_text=_(
            "How long a decision waits for the pending pod after the victims' longest grace period, in seconds."
        ),
    )
    room_kept_by = models.CharField(
        max_length=10,
        choices=KeptBy,
        default=KeptBy.TAINT,
        help_text=_("How freed capacity is reserved for the pending pod."),
    )
    protected_namespaces = models.JSONField(default=default_protected, blank=True)
    enforce_queues = models.JSONField(
        default=list,
        blank=True,
        help_text=_(
            "In Enforce mode, evict only within these queues, the queues below them, and these "
            "namespaces. Both empty: no restriction."
        ),
    )
    enforce_namespaces = models.JSONField(default=list, blank=True)
    publish = models.BooleanField(default=False, help_text=_("Whether Events are written on pods in Advise mode."))
    yunikorn_service = models.CharField(
        max_length=150,
        blank=True,
        validators=[check_service],
        help_text=_("Address of the YuniKorn service, as namespace/service:port. Empty: YuniKorn is not queried."),
    )
    group_scheduling = models.CharField(
        max_length=10,
        choices=GroupScheduling,
        default=GroupScheduling.UNKNOWN,
        db_default=GroupScheduling.UNKNOWN,
        help_text=_("How kube-scheduler schedules PodGroups. Used only if the cluster does not show it."),
    )
    untidy = models.BooleanField(
        default=False,
        help_text=_(
            "Whether the cluster may still contain changes that Scheduler Admin wrote. False after they are cleaned up."
        ),
    )
    next_pass_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=200, blank=True, help_text=_("The worker that watches the cluster."))
    owned_until = models.DateTimeField(null=True, blank=True)
    uid = models.CharField(
        max_length=64, blank=True, help_text=_("UID of the namespace kube-system. Empty if it can't be read.")
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("uid", condition=~models.Q(uid=""), name="one_name_per_cluster")]

    def __str__(self) -> str:
        return self.name


class PauseQuerySet(RestrictedQuerySet["Pause"]):
    """Pauses; a tenant reads of those that concern it in the cluster's status alone."""

    def of(self, cluster: "Cluster | None", queue: str = "") -> Self:
        """The one of this very place, if any."""
        return self.filter(cluster=cluster, queue=queue)


class Pause(models.Model):
    """No eviction from now on: anywhere, in one cluster, or for and from a queue of it and all below."""

    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="pauses",
        help_text=_("Null: all clusters."),
    )
    queue = models.CharField(
        max_length=limits.QUEUE_PATH, blank=True, help_text=_("Path of a queue. Empty: the whole cluster.")
    )
    at = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(
        null=True, blank=True, help_text=_("When the pause ends by itself. Null: when it is resumed.")
    )
    by = models.CharField(max_length=limits.USER_NAME)
    reason = models.TextField(max_length=limits.SHOWN_REASON, validators=[MaxLengthValidator(limits.SHOWN_REASON)])

    objects = PauseQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "queue"], name="pause_once"),
            models.UniqueConstraint(
                fields=["queue"], condition=models.Q(cluster__isnull=True), name="pause_once_everywhere"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster or '*'} {self.queue}".strip()


def check_weekdays(value: Any) -> None:
    """Raise ValidationError for anything but one or more of WEEKDAYS."""
    if not isinstance(value, list) or not value or any(day not in WEEKDAYS for day in value):
        raise ValidationError(_("Enter at least one weekday: %(known)s."), params={"known": ", ".join(WEEKDAYS)})


def check_zone(value: str) -> None:
    """Raise ValidationError for what is no IANA time zone."""
    if value not in available_timezones():
        raise ValidationError(
            _("%(zone)s is not a known time zone. Use a name such as Europe/Berlin."), params={"zone": value}
        )


class WindowQuerySet(RestrictedQuerySet["Window"]):
    """Windows; a tenant reads of those that concern it in the cluster's status alone."""


class Window(models.Model):
    """Hours in which nothing may be evicted, or outside of which nothing may."""

    class Kind(models.TextChoices):
        DENY = "deny", _("deny")
        """Nothing is evicted within."""
        ALLOW = "allow", _("allow")
        """Nothing is evicted outside of all that hold for a queue."""

    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="windows",
        help_text=_("Null: all clusters."),
    )
    queue = models.CharField(
        max_length=limits.QUEUE_PATH, blank=True, help_text=_("Path of a queue. Empty: the whole cluster.")
    )
    kind = models.CharField(max_length=5, choices=Kind)
    weekdays = models.JSONField(validators=[check_weekdays], help_text=_("Weekdays on which the window starts."))
    begins = models.TimeField()
    ends = models.TimeField(
        help_text=_("End time. If it is not later than the start time, the window ends on the next day.")
    )
    zone = models.CharField(max_length=limits.TIME_ZONE, default="UTC", validators=[check_zone])
    first_day = models.DateField(null=True, blank=True)
    last_day = models.DateField(null=True, blank=True)
    reason = models.TextField(max_length=limits.SHOWN_REASON, validators=[MaxLengthValidator(limits.SHOWN_REASON)])
    by = models.CharField(max_length=limits.USER_NAME)
    at = models.DateTimeField(default=timezone.now)

    objects = WindowQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        days = ",".join(self.weekdays)
        place = f"{self.cluster or '*'} {self.queue}".strip()
        return f"{place} {self.kind} {days} {self.begins:%H:%M}-{self.ends:%H:%M} {self.zone}"

    def clean(self) -> None:
        """Raise ValidationError for days in the wrong order."""
        if self.first_day and self.last_day and self.last_day < self.first_day:
            raise ValidationError({"last_day": _("The last day is before the first day.")})

    @property
    def hours(self) -> Hours:
        """When it is open."""
        return Hours(
            weekdays=frozenset(self.weekdays),
            begins=self.begins,
            ends=self.ends,
            zone=ZoneInfo(self.zone),
            first_day=self.first_day,
            last_day=self.last_day,
        )


class Credentials(models.Model):
    """What signs in to a cluster instead of a kubeconfig on the machine. Nobody is ever shown what is sealed."""

    class Kind(models.TextChoices):
        TOKEN = "token", _("a token")
        CERTIFICATE = "client-certificate", _("a client certificate")
        PASSWORD = "password", _("a password")
        ANONYMOUS = "anonymous", _("anonymous access")

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="credentials")
    sealed = models.TextField(help_text=_("A kubeconfig with a single context, encrypted."))
    kind = models.CharField(max_length=20, choices=Kind)
    address = models.CharField(max_length=limits.ADDRESS)
    context = models.CharField(max_length=limits.CONTEXT)
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When the certificate or token expires, if it states that.")
    )
    set_at = models.DateTimeField()
    set_by = models.CharField(max_length=limits.USER_NAME)

    def __str__(self) -> str:
        return f"credentials of {self.cluster}"


class Heartbeat(models.Model):
    """When a worker was last heard of that owns no cluster; the engine's shows in ``Cluster.owned_until``."""

    worker = models.CharField(max_length=50, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.worker


class Worker(models.Model):
    """A process that runs passes. Clusters are shared out among those that were heard of lately."""

    name = models.CharField(max_length=200, unique=True, help_text=_("The same value as in ``Cluster.owner``."))
    heard_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class ClusterStatus(models.Model):
    """What the last pass read: pages show this and never wait on a cluster. One row per cluster."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="status")
    news = models.PositiveBigIntegerField(default=0, help_text=_("Increases whenever a page would look different."))
    decided = models.PositiveBigIntegerField(
        default=0, help_text=_("The same for pages that show decisions but no usage.")
    )
    happened = models.PositiveBigIntegerField(default=0, help_text=_("Number of the cluster’s latest event."))
    read_at = models.DateTimeField(null=True, help_text=_("When data was last received from the cluster."))
    pass_at = models.DateTimeField(null=True)
    pass_us = models.PositiveIntegerField(null=True, help_text=_("Duration of the last pass, in microseconds."))
    error = models.TextField(blank=True, help_text=_("Why the cluster can't be read. Empty if it can be read."))
    missing = models.JSONField(default=dict)
    """Kind that can't be read, and that passes do without -> why."""
    error_since = models.DateTimeField(null=True)
    yunikorn_at = models.DateTimeField(null=True, help_text=_("When YuniKorn was last queried for its queues."))
    yunikorn_differs = models.JSONField(default=list)
    """Where it has other figures than passes then had: yunikorn_diff.Difference, each as a mapping, at most 200."""
    odd = models.JSONField(default=list)
    """Objects that can't be read and are passed over: [{"object", "why", "since_ms"}], in order; see clusters.odd."""
    odd_count = models.PositiveIntegerField(default=0, help_text=_("Number of objects that can't be read."))
    revision_number = models.PositiveIntegerField(null=True)
    nodes = models.PositiveIntegerField(default=0)
    nodes_token = models.CharField(max_length=32, blank=True, help_text=_("Token of the last pass that wrote nodes."))
    pods = models.PositiveIntegerField(default=0)
    unplaced = models.JSONField(default=dict)
    """The pods that are in no queue: see clusters.unplaced. Empty where there are none, or no queues."""
    capacity = models.JSONField(default=dict)
    """Resource -> amount of all nodes."""
    queues = models.JSONField(default=dict, decoder=QuickDecoder)
    """Path -> {"used": amounts, "asks": count, "oldest_ask_ms": ms since 1970 or null}, rolled up.

    Where it lends others any of what it is promised, also {"lent": amounts}. For a leaf whose asks may preempt nobody,
    as something can't be read, also {"unknown": path of the queue whose usage isn't known for that}.
    Under policy ``deserved`` also {"requested": amounts, "deserved": amounts}, and for a leaf whose hard cap is above
    what the ResourceQuotas of its namespace allow {"above_quota": {"namespace": name, "allows": amounts}}. Where the
    policy compares queues by shares, also {"share": engine.policies.QueueShare, as a mapping}.
    """
    applications = models.JSONField(default=dict)
    """Leaf path -> [{"name", "namespace", "pods", "requests": amounts}], largest first, at most twenty a leaf."""

    pending_workloads = models.JSONField(default=list)
    """Kueue's workloads that wait for quota, at most five hundred: see clusters.pending."""
    holds = models.JSONField(default=list)
    """What keeps evictions back now: clusters.holds.Hold, each as a mapping."""
    versions = models.JSONField(default=dict)
    """Scheduler that runs there -> its version, as far as it is known: engine.cluster.inspection.versions."""
    group_scheduling = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    """Whether kube-scheduler schedules PodGroups as a whole: engine.model.objects.GroupScheduling, as a mapping."""
    schedulers = models.JSONField(default=list)
    """Other schedulers that run there, by name."""
    rivals = models.JSONField(default=list)
    """Priority classes by which the cluster's own scheduler would preempt too."""
    classes = models.JSONField(null=True)
    """Every PriorityClass, the highest first: engine.model.objects.PriorityClass, as mappings; null: not read yet."""
    classes_kept_until = models.DateTimeField(
        null=True,
        help_text=_(
            "Until this time, priority classes written by Scheduler Admin take "
            "precedence over those that passes read. Later passes are certain to have "
            "read them."
        ),
    )
    class_use = models.JSONField(default=dict)
    """Priority class, "" for none -> {"running", "waiting", "places", "more"}; see clusters.class_figures."""
    class_quotas = models.JSONField(default=list)
    """ResourceQuotas by priority class: engine.model.snapshot.ClassQuota, each as a mapping."""
    quotas = models.JSONField(default=dict)
    """Namespace -> amounts: the most that its ResourceQuotas let all of its pods request."""

    def __str__(self) -> str:
        return f"status of {self.cluster}"

    @property
    def room(self) -> ClusterRoom:
        """What lint holds a tree against."""
        return ClusterRoom(self.capacity, self.quotas)

    def refresh_from_db(
        self, using: str | None = None, fields: Iterable[str] | None = None, from_queryset: Any = None
    ) -> None:
        """What was left out is read with all else, once: so it is all of one moment.

        Raises Http404 where the cluster was removed since it was found.
        """
        if not (fields and self.get_deferred_fields().intersection(fields)):
            super().refresh_from_db(using, fields, from_queryset)
            return
        everything = [field.attname for field in self._meta.concrete_fields if not field.is_relation]
        try:
            super().refresh_from_db(using, everything, from_queryset)
        except ClusterStatus.DoesNotExist:
            raise Http404 from None


class KueueQuota(models.Model):
    """Kueue's quota as the last pass read it; no row where there is no Kueue."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="kueue_quota")
    document = models.TextField()
    """See clusters.quota."""
    moment = models.BinaryField(null=True)
    """All that its workloads' turns depend on, while any waits: engine.model.quota.encoding; null: none does."""
    moment_at = models.DateTimeField(null=True)
    """Since when that stands so."""
    changed_at = models.DateTimeField(help_text=_("When the quota last changed."))

    def __str__(self) -> str:
        return f"Kueue's quota in {self.cluster}"


class NoticeQuerySet(RestrictedQuerySet["Notice"]):
    """Notices; tenants see those of their subtrees."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.paths("queue"))


class Notice(models.Model):
    """A queue that is told to give back what it uses beyond what it deserves, as long as others ask for that."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="notices")
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    mode = models.CharField(max_length=10, help_text=_("Mode of the cluster when the notice was sent."))
    over = models.JSONField(default=dict)
    """Resource -> what it uses beyond what it deserves."""
    told_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text=_("Time from which pods of this queue can be preempted."))
    published = models.BooleanField(
        default=False, help_text=_("Whether the notice was published in Events on the queue’s pods.")
    )

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["queue"]
        constraints = [models.UniqueConstraint(fields=["cluster", "queue"], name="notice_once")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.queue}"
