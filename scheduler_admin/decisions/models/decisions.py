"""Decisions, whom they evicted, and what really happened to them."""

from collections.abc import Collection
from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from engine.model.objects import referenced_group
from engine.model.quantities import Amounts
from engine.observation.lost_work import unsaved_s, work
from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.decisions.models.documents import DocumentField
from scheduler_admin.decisions.models.names import number_of
from scheduler_admin.journal.models.passes import JournalEntry
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.models import UsedTree


class DecisionQuerySet(RestrictedQuerySet["Decision"]):
    """Decisions; tenants see those whose ask or a victim is in a namespace of theirs."""

    def within(self, scope: Scope) -> Self:
        own = Victim.objects.within(scope).filter(decision=models.OuterRef("pk"))
        return self.filter(scope.pods("ask_namespace", "ask_queue") | models.Q(models.Exists(own)))

    def asked_within(self, scope: Scope) -> Self:
        """Return the decisions about pods of a scope that wait. Unlike ``within`` it looks at no victims."""
        return self.filter(scope.pods("ask_namespace", "ask_queue"))

    def placed(self, cluster: Cluster, kind: str = "", names: Collection[str] = ()) -> Self:
        """The decisions of a cluster, with their places in the order of pages: ``at`` and ``number``.

        With a ``kind`` of names.Kind and ``names``: of those that may be about any, which are few in an index.
        """
        numbers = [number_of(cluster.pk, kind, name) for name in sorted(names)]
        rows = self.filter(cluster=cluster)
        if len(numbers) != 1:
            if numbers:  # a decision may be about several of them, and is one all the same
                rows = rows.filter(pk__in=Decision.objects.filter(mentions__about__in=numbers).values("pk"))
            return rows.annotate(at=models.F("first_seen"), number=models.F("pk"))
        found = rows.filter(mentions__about=numbers[0])
        return found.annotate(at=models.F("mentions__first_seen"), number=models.F("mentions__decision"))

    def open(self) -> Self:
        """Those that are being carried out, by us: who is evicted for first, then in the order in which they began."""
        # As their index has them: in any other order SQLite reads the whole history, to be spared sorting a few. And by
        # what they are not: it would take what is equal, the engine's own, to be the fewer.
        ours = self.filter(state__in=Decision.OPEN).exclude(source__in=Decision.OTHERS)
        return ours.order_by("state", "first_seen", "pk")


class Decision(models.Model):
    """One ask, what was decided, and what really happened. Amounts as in engine.model.quantities."""

    class State(models.TextChoices):
        RECORDED = "recorded", _("recorded")
        """Nothing to carry out: no preemption, or the mode only shows it."""
        ON_HOLD = "on-hold", _("on hold")
        """An interlock holds it back; considered again by the next pass."""
        PLANNED = "planned", _("planned")
        EVICTING = "evicting", _("evicting")
        WAITING = "waiting", _("waiting")
        """All victims are told to go; waiting for the ask to be bound."""
        CLOSED = "closed", _("closed")

    OPEN = (State.PLANNED, State.EVICTING, State.WAITING)
    """States of what is being carried out."""

    class Ending(models.TextChoices):
        BOUND = "bound", _("bound")
        BOUND_ELSEWHERE = "bound-elsewhere", _("bound elsewhere")
        CAPACITY_TAKEN = "capacity-taken", _("capacity taken")
        TIMED_OUT = "timed-out", _("timed out")
        POD_GONE = "pod-gone", _("pending pod gone")
        SUPERSEDED = "superseded", _("superseded")
        """The cluster changed before anything was evicted."""
        BLOCKED = "blocked", _("blocked")
        REJECTED = "rejected", _("rejected")

    class Source(models.TextChoices):
        ENGINE = "engine", _("engine")
        KUBE_SCHEDULER = "kube-scheduler", "kube-scheduler"
        KUEUE = "kueue", "Kueue"
        YUNIKORN = "yunikorn", "YuniKorn"
        VOLCANO = "volcano", "Volcano"
        API_EVICTION = "api-eviction", _("API eviction")
        TAINT_MANAGER = "taint-manager", _("taint manager")
        POD_GC = "pod-gc", _("pod garbage collector")
        KUBELET = "kubelet", "kubelet"

        @classmethod
        def name_of(cls, dialect: str) -> str:
            """Return the name of the scheduler that a dialect reproduces."""
            return next((str(one.label) for one in cls if dialect.startswith(one.value)), dialect)

    EVICTORS = (Source.API_EVICTION, Source.TAINT_MANAGER, Source.POD_GC, Source.KUBELET)
    """Those who evict for reasons of their own, to make room for nobody."""
    OTHERS = (Source.KUBE_SCHEDULER, Source.KUEUE, Source.YUNIKORN, Source.VOLCANO, *EVICTORS)
    """All but the engine."""

    # No index of its own: many begin with it, and SQLite would rather go by that alone than by a better one.
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="decisions", db_index=False)
    revision = models.ForeignKey(Revision, null=True, on_delete=models.SET_NULL, related_name="+")
    source = models.CharField(max_length=20, choices=Source, default=Source.ENGINE)
    mode = models.CharField(max_length=10, choices=Cluster.Mode, default=Cluster.Mode.OBSERVE)
    policy = models.CharField(max_length=20)
    dialect = models.CharField(max_length=20, blank=True)
    ask_uid = models.CharField(max_length=64)
    ask_namespace = models.CharField(max_length=63)
    ask_name = models.CharField(max_length=limits.OBJECT_NAME)
    ask_group = models.CharField(
        max_length=limits.OBJECT_NAME,
        blank=True,
        default="",
        db_default="",
        help_text=_("Pod group that the decision is about, in the same namespace; empty if it is about a single pod."),
    )
    ask_queue = models.CharField(max_length=limits.QUEUE_PATH, blank=True)
    ask_application = models.CharField(max_length=limits.APPLICATION, blank=True)
    ask_controller = models.CharField(
        max_length=limits.APPLICATION, blank=True, help_text=_("Kind/name of the controller that can recreate the pod.")
    )
    ask_priority = models.IntegerField(null=True, default=0, help_text=_("Null if unknown."))
    ask_priority_class = models.CharField(max_length=limits.OBJECT_NAME, blank=True)
    ask_requests = models.JSONField(default=dict)
    ask_since = models.DateTimeField(null=True, help_text=_("Since when the scheduler has found no room for the pod."))
    outcome = models.CharField(max_length=20)
    reason = models.CharField(max_length=40)
    detail = models.CharField(max_length=500, blank=True)
    node = models.CharField(max_length=limits.OBJECT_NAME, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.RECORDED)
    ending = models.CharField(max_length=20, choices=Ending, blank=True)
    hold = models.CharField(max_length=40, blank=True, help_text=_("The safeguard that keeps the decision on hold."))
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    count = models.PositiveIntegerField(
        default=1, help_text=_("How many times the pod was evaluated with this outcome.")
    )
    took_us = models.PositiveIntegerField(default=0)
    deadline = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    against_laws = models.BooleanField(
        default=False,
        help_text=_("The decision fails safety checks. The rules that made it do not guarantee these checks."),
    )
    again = models.BooleanField(
        default=False, help_text=_("The decision preempted an application that was preempted repeatedly within a day.")
    )
    entry = models.ForeignKey(
        JournalEntry,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="decisions",
        help_text=_("The journal entry of the pass that made the decision. Null if the decision cannot be replayed."),
    )
    # Last: SQLite would read through these large ones to get at a column behind them.
    document = DocumentField(
        help_text=_(
            "The engine's decision with its trace, in canonical JSON. For other sources, the observed eviction."
        )
    )
    laws = models.JSONField(default=list, help_text=_("Audit results: one check per invariant."))

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-first_seen", "-pk"]
        # What the history is filtered by, in the order of its pages: one look finds any, however rare the value.
        indexes = [
            models.Index(fields=["cluster", "-first_seen", "-id"], name="decision_newest"),
            models.Index(fields=["cluster", "outcome", "-first_seen", "-id"], name="decision_outcome"),
            models.Index(fields=["cluster", "source", "-first_seen", "-id"], name="decision_source"),
            models.Index(fields=["cluster", "ending", "-first_seen", "-id"], name="decision_ending"),
            models.Index(fields=["cluster", "node", "-first_seen", "-id"], name="decision_node"),
            models.Index(fields=["cluster", "ask_priority_class", "-first_seen", "-id"], name="decision_class"),
            # Read from its end for a page, from its beginning for what is open.
            models.Index(fields=["cluster", "state", "first_seen", "id"], name="decision_state"),
            models.Index(
                fields=["cluster", "-first_seen", "-id"],
                name="decision_against_laws",
                condition=models.Q(against_laws=True),
            ),
            models.Index(
                fields=["cluster", "-first_seen", "-id"], name="decision_again", condition=models.Q(again=True)
            ),
            # What passes considered lately; of those that are told to be held no more are read than there are.
            models.Index(
                fields=["cluster", "last_seen"], name="decision_considered", condition=~models.Q(state="closed")
            ),
            models.Index(
                fields=["cluster", "last_seen"], name="decision_rejected", condition=models.Q(ending="rejected")
            ),
            models.Index(fields=["cluster", "closed_at"], name="decision_closed"),
            models.Index(fields=["cluster", "ask_uid"], name="decision_ask_uid"),
            models.Index(fields=["ask_namespace", "ask_name"], name="decision_ask"),
        ]

    def __str__(self) -> str:
        return f"{self.pk} {self.ask_namespace}/{self.ask_name}"

    def get_source_display(self) -> str:  # type: ignore[no-redef]  # in place of Django's
        """Return the name of its source. Django's own method lists all choices anew for every row."""
        return str(_SOURCE_NAMES.get(self.source, self.source))

    @property
    def failed(self) -> bool:
        """Whether the engine carried it out, or began to, and its pods were not bound where room was made for them."""
        closed = self.source == self.Source.ENGINE and self.state == self.State.CLOSED
        return closed and self.ending != self.Ending.BOUND

    @property
    def group_kind(self) -> str:
        """What the group is that the decision is about; empty if it is about a single pod."""
        return str(referenced_group(self.ask_group)[0]) if self.ask_group else ""

    @property
    def group_name(self) -> str:
        """The name of the group, without its kind."""
        return referenced_group(self.ask_group)[1]

    @property
    def replayable(self) -> bool:
        """Whether all that it rests on is still stored."""
        return self.entry_id is not None and self.revision_id is not None


_SOURCE_NAMES = dict(Decision.Source.choices)


class RewoundQuerySet(RestrictedQuerySet["Rewound"]):
    """Moments; they show all pods of a cluster, so a tenant sees none."""


class Rewound(models.Model):
    """The cluster just before another scheduler preempted, told by what was otherwise than at an entry."""

    decision = models.OneToOneField(Decision, on_delete=models.CASCADE, related_name="rewound")
    entry = models.ForeignKey(JournalEntry, on_delete=models.CASCADE, related_name="+")
    blob = models.BinaryField(help_text=_("The changes since the journal entry, in the journal's format."))
    tree = models.ForeignKey(
        UsedTree,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text=_("The queue tree that the scheduler used. Null: the tree of the decision's revision."),
    )

    objects = RewoundQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.decision_id}"


class VictimQuerySet(RestrictedQuerySet["Victim"]):
    """Victims; tenants see those in namespaces of theirs."""

    def within(self, scope: Scope) -> Self:
        return self.filter(scope.pods("namespace", "queue"))


class Victim(models.Model):
    """A pod that a decision evicts, or would have."""

    class State(models.TextChoices):
        CHOSEN = "chosen", _("chosen")
        ON_HOLD = "on-hold", _("on hold: disruption budget")
        EVICTED = "evicted", _("evicted")
        EXITED = "exited", _("exited")
        SPARED = "spared", _("spared")

    # No index of its own: victim_once begins with it.
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="victims", db_index=False)
    # The decision's, so that what passes look for again and again is found by an index. None of its own: SQLite would
    # rather go by that than by a better one.
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="victims", db_index=False)
    position = models.PositiveSmallIntegerField()
    uid = models.CharField(max_length=64)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=limits.OBJECT_NAME)
    queue = models.CharField(max_length=limits.QUEUE_PATH)
    application = models.CharField(max_length=limits.APPLICATION, blank=True)
    priority = models.IntegerField(null=True, default=0, help_text=_("Null if unknown."))
    requests = models.JSONField(default=dict)
    node = models.CharField(max_length=limits.OBJECT_NAME)
    started_at = models.DateTimeField(null=True)
    checkpoint_at = models.DateTimeField(
        null=True, help_text=_("When the pod last wrote a checkpoint, as the pod reports it.")
    )
    odd_checkpoint = models.CharField(
        max_length=64, blank=True, help_text=_("The reported checkpoint time, if it is not a valid time.")
    )
    reason = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.CHOSEN)
    attempts = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    evicted_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)
    controller = models.CharField(
        max_length=limits.APPLICATION, blank=True, help_text=_("Kind/name of the controller that can recreate the pod.")
    )
    grace_s = models.PositiveBigIntegerField(null=True, help_text=_("Grace period in seconds."))
    successor = models.CharField(max_length=limits.OBJECT_NAME, blank=True, help_text=_("The replacement pod."))
    successor_uid = models.CharField(max_length=64, blank=True)
    recreated_at = models.DateTimeField(null=True)
    running_at = models.DateTimeField(null=True, help_text=_("When the replacement pod started to run."))
    booked = models.BooleanField(default=False, help_text=_("Whether the victim is recorded in the ledger."))
    entry = models.ForeignKey(
        "history.LedgerEntry",
        null=True,
        on_delete=models.SET_NULL,
        related_name="victims",
        help_text=_("The ledger entry. Null: the ledger counts the pod as a victim of another decision."),
    )
    preempted_in_day = models.PositiveIntegerField(
        null=True,
        help_text=_("How often the pod's application was preempted in the preceding 24 hours. Null: not counted."),
    )
    changes = models.JSONField(
        null=True,
        help_text=_("Changes to the pod's own settings or queue that would have spared it. Null: not computed yet."),
    )

    objects = VictimQuerySet.as_manager()

    class Meta:
        ordering = ["decision_id", "position"]  # by the decision's own order, each list would read decisions as well
        constraints = [models.UniqueConstraint(fields=["decision", "uid"], name="victim_once")]
        indexes = [
            # On PostgreSQL a field's own index comes with a second one, for beginnings of its texts.
            models.Index(fields=["uid"], name="victim_uid"),
            models.Index(fields=["namespace", "name"], name="victim_pod"),
            models.Index(fields=["cluster", "evicted_at"], name="victim_evicted"),
            models.Index(fields=["cluster", "gone_at"], name="victim_gone"),
            models.Index(fields=["decision"], condition=models.Q(changes__isnull=True), name="victim_to_work_out"),
            models.Index(
                fields=["cluster", "id"],
                condition=models.Q(evicted_at__isnull=False, preempted_in_day__isnull=True),
                name="victim_to_count",
            ),
            models.Index(
                fields=["cluster", "id"],
                condition=models.Q(evicted_at__isnull=False, booked=False),
                name="victim_to_book",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def unsaved_s(self) -> int | None:
        """For how many seconds it had run without a checkpoint; None: it was not evicted, or its start is not known."""
        if self.evicted_at is None or self.started_at is None:
            return None
        return unsaved_s(started=self.started_at, checkpoint=self.checkpoint_at, evicted=self.evicted_at)

    @property
    def work_lost(self) -> Amounts | None:
        """What its eviction threw away, as in engine.observation.lost_work; None as above."""
        return None if self.unsaved_s is None else work(self.requests, self.unsaved_s)


class StepQuerySet(RestrictedQuerySet["Step"]):
    """Steps; they name pods of several tenants, so a tenant sees none directly."""


class Step(models.Model):
    """What really happened to a decision, in order."""

    class Kind(models.TextChoices):
        SEEN = "seen", _("seen")
        DECIDED = "decided", _("decided")
        ON_HOLD = "on-hold", _("on hold")
        RESERVED = "reserved", _("node reserved")
        EVICTED = "evicted", _("eviction accepted")
        REFUSED = "refused", _("eviction refused")
        EXITED = "exited", _("victim exited")
        RELEASED = "released", _("node released")
        CLOSED = "closed", _("closed")

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="steps")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind)
    pod = models.CharField(
        max_length=320, blank=True, help_text=_("namespace/name of the pod, if the step is about one pod.")
    )
    note = models.CharField(max_length=300, blank=True)

    objects = StepQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pod}"
