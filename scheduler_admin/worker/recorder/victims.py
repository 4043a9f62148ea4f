"""What becomes of the victims of our decisions, written down as it is seen; nothing is sent here."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engine.model.decision import PodFacts
from engine.model.objects import Pod
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring import meters
from scheduler_admin.core.monitoring.logs import logged_with
from scheduler_admin.counts.services import recount
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.sentences import evicted_in_vain
from scheduler_admin.decisions.services.latest import keep_last
from scheduler_admin.notifications.events.preemptions import tell_going, tell_preempted

log = logging.getLogger(__name__)

UNANSWERED = Q(state=Victim.State.CHOSEN, attempts__gt=0)
"""They were asked to go, and no answer came: they may be on their way."""
_FOLLOWED = timedelta(hours=1)
"""So long after its eviction it is taken down when a pod has gone whose decision ended before."""
_FOUND_OUT = timedelta(minutes=1)
"""So long after a decision's end nothing can come any more of a request that was never answered."""
_LONGEST_NOTE = 300


@dataclass(frozen=True, kw_only=True)
class Books:
    """The books of one cluster."""

    cluster: Cluster
    pod: Callable[[str], Pod | None]
    """A pod by its uid as last seen, None once it is gone."""
    now: Callable[[], datetime] = timezone.now

    def follow(self) -> bool:
        """Take down what came of victims that were on their way, or may have been, when their decision ended.

        Whether there is news.
        """
        since = self.now() - _FOLLOWED
        ended = {"decision__source": Decision.Source.ENGINE, "decision__state": Decision.State.CLOSED}
        victims = Victim.objects.select_related("decision").defer("decision__document", "decision__laws").order_by()
        leaving = victims.filter(cluster=self.cluster, state=Victim.State.EVICTED, evicted_at__gt=since, **ended)
        perhaps = victims.filter(UNANSWERED, decision__cluster=self.cluster, decision__closed_at__gt=since, **ended)
        return sum(self._followed(victim) for victim in (*leaving, *perhaps)) > 0

    @transaction.atomic
    def _followed(self, victim: Victim) -> bool:
        """Whether there is news of a victim whose decision has ended. Nobody is told: what we had to say is over."""
        row, unanswered = victim.decision, victim.state == Victim.State.CHOSEN
        if self._left(victim):
            self._gone(row, victim)
        elif unanswered and self._leaves(victim):
            self._evicted(row, victim)
        elif unanswered and row.closed_at is not None and row.closed_at + _FOUND_OUT < self.now():
            victim.state = Victim.State.SPARED
            victim.save(update_fields=["state"])
        else:
            return False
        if unanswered:
            self._count_in_vain(evicted_in_vain(row, [victim]))
            recount(cluster=self.cluster, at=[row.first_seen])
        return True

    def _left(self, victim: Victim | PodFacts) -> bool:
        pod = self.pod(victim.uid)
        return pod is None or pod.finished

    def _leaves(self, victim: Victim) -> bool:
        pod = self.pod(victim.uid)
        return pod is not None and pod.terminating

    def _was_evicted(self, victim: Victim) -> bool:
        """Whether a pod that is on its way out was evicted: Kubernetes writes that on the pod."""
        pod = self.pod(victim.uid)
        return pod is not None and bool(pod.disruption)

    def _evicted(self, row: Decision, victim: Victim) -> None:
        with transaction.atomic():
            victim.state, victim.evicted_at = Victim.State.EVICTED, self.now()
            victim.save(update_fields=["state", "evicted_at"])
            keep_last([row])
            self._step(row, Step.Kind.EVICTED, pod=str(victim))
            tell_going(row, row.victims.all(), self.now())

    def _gone(self, row: Decision, victim: Victim) -> None:
        with transaction.atomic():
            victim.state, victim.gone_at = Victim.State.EXITED, self.now()
            victim.save(update_fields=["state", "gone_at"])
            keep_last([row])
            self._step(row, Step.Kind.EXITED, pod=str(victim))
            tell_preempted([(row, row.victims.all())], self.now())

    def _count_in_vain(self, pods: int) -> None:
        transaction.on_commit(partial(meters.IN_VAIN.labels(self.cluster.name).inc, pods))

    def _step(self, row: Decision, kind: Step.Kind, *, pod: str = "", note: str = "") -> None:
        Step.objects.create(decision=row, at=self.now(), kind=kind, pod=pod, note=note[:_LONGEST_NOTE])
        with logged_with(decision=row.pk):
            log.info("%s%s", kind, "".join(f", {detail}" for detail in (pod, note) if detail))
