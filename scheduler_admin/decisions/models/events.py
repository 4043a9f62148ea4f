"""What happened in a cluster, numbered: what programs follow."""

from dataclasses import dataclass
from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet, Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.decisions.models.decisions import Decision, Victim


@dataclass(frozen=True)
class Turn:
    """A member of a loop of preemptions: its pods went for asks of the next one."""

    queue: str
    namespace: str
    application: str
    times: int | None
    """Decisions that took pods of it for the next, in the 24 hours up to the last of them. None is not told."""
    decision: int | None
    """The last of these decisions."""

    @property
    def facts(self) -> dict[str, Any]:
        """For programs: what is not told is null."""
        known = {
            "queue": self.queue,
            "namespace": self.namespace,
            "application": self.application,
            "preemptions": self.times,
            "last_decision_id": self.decision,
        }
        return {name: value or None for name, value in known.items()}


class HappeningQuerySet(RestrictedQuerySet["Happening"]):
    """Happenings; tenants see those of decisions that they see, of their own pods, of their queues, loops with them."""

    def within(self, scope: Scope) -> Self:
        kinds = Happening.Kind
        took = Exists(Victim.objects.within(scope).filter(decision=OuterRef("decision")))
        decided = Q(kind__in=[kinds.DECISION, kinds.ENDED]) & (
            scope.pods("decision__ask_namespace", "decision__ask_queue") | took
        )
        pods = Q(kind__in=[kinds.REFUSED, kinds.REPEATED]) & scope.pods("victim__namespace", "victim__queue")
        loops = Q(kind=kinds.LOOP) & Exists(Victim.objects.within(scope).filter(loops=OuterRef("pk")))
        return self.filter(decided | pods | loops | Q(kind=kinds.BELOW) & scope.paths("queue"))


class Happening(models.Model):
    """One thing, told in its order within its cluster; what it is about is read where it is stored."""

    class Kind(models.TextChoices):
        DECISION = "decision", _("decision")
        ENDED = "decision-ended", _("decision ended")
        REFUSED = "eviction-refused", _("eviction refused")
        REPEATED = "preempted-repeatedly", _("preempted repeatedly")
        LOOP = "preemption-loop", _("preemption loop")
        BELOW = "below-guarantee", _("below guarantee")

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="happenings", db_index=False)
    number = models.PositiveBigIntegerField(
        help_text=_("Sequence number within the cluster, without gaps, in commit order.")
    )
    at = models.DateTimeField()
    kind = models.CharField(max_length=20, choices=Kind)
    decision = models.ForeignKey(Decision, null=True, on_delete=models.CASCADE, related_name="happenings")
    victim = models.ForeignKey(Victim, null=True, on_delete=models.CASCADE, related_name="happenings")
    losers = models.ManyToManyField(
        Victim, related_name="loops", help_text=_("For a preemption loop: one victim of each member.")
    )
    queue = models.CharField(max_length=limits.QUEUE_PATH, blank=True)
    facts = models.JSONField(default=dict, help_text=_("Details that are not stored elsewhere."))

    objects = HappeningQuerySet.as_manager()

    class Meta:
        ordering = ["cluster", "number"]
        constraints = [models.UniqueConstraint(fields=["cluster", "number"], name="happening_number")]
        indexes = [
            models.Index(fields=["at"], name="happening_at"),
            models.Index(fields=["cluster", "at"], condition=models.Q(kind="preemption-loop"), name="happening_loop"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.number} {self.kind}"

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Of a loop: its members, each before the one for whose asks its pods went."""
        return tuple(Turn(**one) for one in self.facts["members"])
