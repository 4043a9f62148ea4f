"""Carrying a decision out, step by step: reserve, evict, wait, close.

Every step is stored before the next is taken and may be repeated, so a worker that dies anywhere is continued by the
next pass from what is stored.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from engine.cluster.acting.outcomes import (
    EvictionOutcome,
    EvictionResult,
    Executor,
    OperationOutcome,
    ReservationMethod,
    ReservationTerms,
    Result,
    reserved_for,
)
from engine.model.decision import Interlock
from engine.model.objects import Node, Pod
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.faults import reached
from scheduler_admin.core.links import decision_url, pod_url
from scheduler_admin.core.monitoring import meters
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.selectors.decisions import read
from scheduler_admin.decisions.sentences import evicted_in_vain
from scheduler_admin.decisions.services import events
from scheduler_admin.notifications.events.preemptions import tell_preempted
from scheduler_admin.notifications.events.setbacks import tell_refused
from scheduler_admin.worker.acting.pod_messages import condition_reason, told_ask, told_victim, would_tell_ask
from scheduler_admin.worker.acting.seats import Seats, seats_of
from scheduler_admin.worker.recorder.decisions import deadline
from scheduler_admin.worker.recorder.victims import UNANSWERED, Books

_RETRY = timedelta(seconds=5)
"""When a held eviction is tried again where the API server does not say."""
_BEGUN_WITHIN = timedelta(seconds=30)
"""An intent that could not be begun by then rests on an old picture: it is given up, and its ask decided anew."""
_SEEN_WITHIN = timedelta(seconds=10)
"""So long after a node was reserved, those who watch it may not have seen that yet."""
_HARDLY = timedelta(seconds=1)
"""By so little a deadline need not be moved."""
_DONE = Result(outcome=OperationOutcome.DONE)
_PENDING = (Victim.State.CHOSEN, Victim.State.ON_HOLD)


@dataclass(frozen=True, kw_only=True)
class Carrier(Books):
    """Carries decisions of one cluster out."""

    executor: Executor
    last_seen: Callable[[str], Pod | None]
    """The same, also when it has gone a moment ago."""
    nodes: Callable[[], Iterable[Node]]
    """The nodes as last seen."""
    may_act: Callable[[Decision, Sequence[Victim]], bool]
    """Asked before every eviction: whether these victims may still go for this ask, by the interlocks of now."""
    broken: Callable[[Decision], str]
    """Asked once the node is kept: which law or disruption budget the decision would break by now; empty: none."""
    heard: Callable[[OperationOutcome | EvictionOutcome], None]
    """Told how each request that acts has ended."""

    def carry(self, row: Decision) -> None:
        """Take a decision as far as it goes now."""
        earlier = row.state != Decision.State.PLANNED
        if not earlier and not self._outlived(row) and self._still_asks(row) and self._victims_stand(row):
            self._begin(row)
        if row.state in (Decision.State.EVICTING, Decision.State.WAITING):
            self._watch_victims(row)
            if self._still_asks(row) and self._in_time(row) and row.state == Decision.State.EVICTING:
                self._evict(row, earlier=earlier)

    def advise(self, row: Decision) -> None:
        """Tell the ask's readers what would be done; its victims' are told nothing, as nothing happens to them."""
        only_told = row.state == Decision.State.RECORDED or row.hold == Interlock.OUT_OF_SCOPE
        if row.outcome != "preempt" or not only_told or not row.victims.exists():
            return
        self._tell_pending(seats_of(row), "RoomCouldBeMade", would_tell_ask(row, self._link(row)))

    def close(self, row: Decision, ending: Decision.Ending, note: str = "") -> None:
        """End a decision: free its node, spare the victims that were not evicted yet."""
        seats = seats_of(row)
        released = self._release(seats)
        reached("released")
        self.end(row, ending, note, released=seats.kept if released.done else ())

    def end(self, row: Decision, ending: Decision.Ending, note: str, *, released: Iterable[str]) -> None:
        """End a decision in our books, touching nothing in the cluster. ``released``: the nodes that are free again."""
        with transaction.atomic():
            for node in released if row.state != Decision.State.PLANNED else ():
                self._step(row, Step.Kind.RELEASED, note=node)
            row.victims.filter(state__in=_PENDING).exclude(UNANSWERED).update(state=Victim.State.SPARED)
            row.state, row.ending, row.closed_at = Decision.State.CLOSED, ending, self.now()
            row.save(update_fields=["state", "ending", "closed_at"])
            self._step(row, Step.Kind.CLOSED, note=note)
            tell_preempted([(row, row.victims.all())], self.now())
            events.ended(self.cluster, [row], self.now())
            transaction.on_commit(meters.ENDINGS.labels(self.cluster.name, ending.value).inc)
            self._count_in_vain(evicted_in_vain(row, row.victims.all()))

    def leave(self, row: Decision, note: str) -> None:
        """End a decision where we act no longer; it stays open until its nodes are free."""
        self._watch_victims(row)
        seats = seats_of(row)
        released = self._release(seats)
        if released.outcome is not OperationOutcome.RETRY:
            self.end(row, Decision.Ending.TIMED_OUT, note, released=seats.kept if released.done else ())

    def _release(self, seats: Seats) -> Result:
        """Free all nodes; return the result of the first one that is not free. Where room is made anywhere, none is.

        Its pods that still wait lose their nominations: what is not made for them any more is anybody's.
        """
        waiting = [seat for seat in seats.each if (pod := self.pod(seat.pod.uid)) and pod.node is None]
        results = [
            self.executor.release(node, owner, waiting=[seat.pod for seat in waiting if seat.node == node])
            for node, owner in seats.kept.items()
        ]
        return next((one for one in results if not one.done), _DONE)

    def _tell_pending(self, seats: Seats, reason: str, message: str) -> None:
        for seat in seats.each:
            self.executor.event(seat.pod, reason, message)

    def _link(self, row: Decision) -> str:
        return pod_url(self.cluster.name, row.ask_namespace, row.ask_name)

    def _still_asks(self, row: Decision) -> bool:
        """Whether its pods still wait; closes the decision when they are gone, or run, or have run since the last look.

        A group's has succeeded once enough of its pods run on their nodes, and has failed once too few still can.
        """
        seats = seats_of(row)
        here, elsewhere, waiting = seats.taken(self.last_seen, self.pod)
        if len(here) >= seats.needed:
            self._watch_victims(row)  # those that made room for it have gone by now
            self.close(row, Decision.Ending.BOUND, note=_names(here))
        elif len(here) + waiting < seats.needed and elsewhere:
            self._watch_victims(row)
            self.close(row, Decision.Ending.BOUND_ELSEWHERE, note=_names(elsewhere))
        elif len(here) + waiting < seats.needed:
            self.close(row, Decision.Ending.POD_GONE)
        elif lost := self._lost_node(row, seats):
            self.close(row, Decision.Ending.BLOCKED, note=f"node {lost}")
        return row.state != Decision.State.CLOSED

    def _lost_node(self, row: Decision, seats: Seats) -> str:
        """A node that is not kept any more, so that nobody need wait, or be evicted, for it; empty: there is none.

        It exists no longer, or was replaced by another of its name, or somebody took our taint off it.
        """
        nodes = {node.name: node for node in self.nodes()}
        gone = next((name for name in seats.kept if name not in nodes), "")
        if gone or self.cluster.room_kept_by != Cluster.KeptBy.TAINT:
            return gone
        free = next((name for name, owner in seats.kept.items() if owner not in reserved_for(nodes[name])), "")
        seen = {"kind": Step.Kind.RESERVED, "at__lt": self.now() - _SEEN_WITHIN}
        return free if free and row.steps.filter(**seen).exists() else ""

    def _victims_stand(self, row: Decision) -> bool:
        """Look again just before acting: every victim is still where it was; gives the intent up when not.

        Its node is not touched then. Where our database is a backup, they may be going for this very ask: its next
        decision counts on them, and what is kept for nobody is swept.
        """
        left = next((victim for victim in row.victims.all() if not self._stands(victim)), None)
        if left is not None:
            self.end(row, Decision.Ending.SUPERSEDED, str(left), released=())
        return left is None

    def _stands(self, victim: Victim) -> bool:
        pod = self.pod(victim.uid)
        return pod is not None and not pod.terminating and not pod.finished and pod.node == victim.node

    def _begin(self, row: Decision) -> None:
        """Keep the room, then let the API server judge the whole set before any of it goes."""
        victims = list(row.victims.all())
        if not self.may_act(row, victims):
            return
        decided = read(row)  # with those who are on their way out already
        graces = [verdict.pod.grace_s for verdict in decided.victims] if decided else []
        graces += [pod.grace_s for victim in victims if (pod := self.pod(victim.uid))]
        until = deadline(self.cluster, graces, self.now())
        seats = seats_of(row)
        if seats.kept and not self._reserved(row, self._reserve(seats, self._terms(row, until))):
            return
        reached("reserved")
        if not self._all_may_go(row, victims) or not self._still_lawful(row):
            return
        with transaction.atomic():
            row.state, row.deadline = Decision.State.EVICTING, until
            row.save(update_fields=["state", "deadline"])
            for node in seats.kept:
                self._step(row, Step.Kind.RESERVED, note=node)
        reached("begun")
        kept = seats.kept and self.cluster.room_kept_by == Cluster.KeptBy.TAINT
        kept_s = self.cluster.bind_margin_s if kept else None
        self._tell_pending(seats, "RoomIsMade", told_ask(row, self._link(row), kept_s=kept_s))

    def _reserve(self, seats: Seats, terms: ReservationTerms) -> Result:
        """Keep all nodes, one after the other, up to the first that can't be kept; its result."""
        for seat in seats.each:
            result = self.executor.reserve(seat.node, seat.pod, terms, owner=seat.owner) if seat.node else _DONE
            if not result.done:
                return result
            reached(f"kept {seat.pod.name}")
        return _DONE

    def _terms(self, row: Decision, until: datetime) -> ReservationTerms:
        """How the room is kept, and what is told of it on the node."""
        link = decision_url(self.cluster.name, row.pk)
        return ReservationTerms(
            kept_by=ReservationMethod(self.cluster.room_kept_by), until_ms=int(until.timestamp() * 1000), decision=link
        )

    def _all_may_go(self, row: Decision, victims: list[Victim]) -> bool:
        """Whether the API server would let every victim go now; closes the decision where it would not."""
        for victim in victims:
            judged = self.executor.evict(victim, dry_run=True)
            self.heard(judged.outcome)
            busy = judged.outcome is EvictionOutcome.HELD and not judged.budget
            if busy or judged.outcome is EvictionOutcome.RETRY:
                return False
            if judged.outcome is not EvictionOutcome.ACCEPTED:
                gone = judged.outcome is EvictionOutcome.GONE
                if not gone:
                    self._tell_refused(row, victim, judged.sentence)
                ending = Decision.Ending.SUPERSEDED if gone else Decision.Ending.BLOCKED
                self.close(row, ending, note=judged.sentence)
                return False
        return True

    def _still_lawful(self, row: Decision) -> bool:
        """Whether it would be decided still; closes the decision when not.

        Until its node was kept, others may have taken what was free there beside its victims: they would go in vain.
        While a victim was held back, its queue may have come down to its guarantee.
        """
        law = self.broken(row)
        if law:
            begun = row.victims.filter(state__in=[Victim.State.EVICTED, Victim.State.EXITED]).exists()
            self.close(row, Decision.Ending.BLOCKED if begun else Decision.Ending.SUPERSEDED, note=law)
        return not law

    def _reserved(self, row: Decision, result: Result) -> bool:
        self.heard(result.outcome)
        match result.outcome:
            case OperationOutcome.DONE:
                return True
            case OperationOutcome.RETRY:
                return False
            case OperationOutcome.GONE:  # the ask, or the node
                gone = any(self.pod(seat.pod.uid) is None for seat in seats_of(row).each)
                self.close(row, Decision.Ending.POD_GONE if gone else Decision.Ending.SUPERSEDED, note=result.sentence)
            case OperationOutcome.BOUND:
                self.close(row, Decision.Ending.SUPERSEDED, note=result.sentence)
            case _:
                self.close(row, Decision.Ending.BLOCKED, note=result.sentence)
        return False

    def _evict(self, row: Decision, *, earlier: bool) -> None:
        """Send those that are due; what an ``earlier`` pass began is held against the laws again before that."""
        for victim in row.victims.filter(state__in=_PENDING):
            if self._left(victim):  # a budget would be charged for it before its UID is looked at
                self._gone(row, victim)
                continue
            if self._leaves(victim):
                if self._was_evicted(victim):  # by our own request where our database is a backup
                    self._accepted(row, victim)
                continue  # else somebody deleted it: its room is the ask's anyhow, but it was not evicted for it
            if victim.retry_at is not None and victim.retry_at > self.now():
                continue
            if not self.may_act(row, [victim]) or (earlier and not self._still_lawful(row)):
                return
            earlier = False
            again = victim.attempts > 0  # sent before we died, perhaps: the answer never came
            victim.attempts += 1
            victim.save(update_fields=["attempts"])
            reached(f"asked {victim.position}")
            result = self.executor.evict(victim, again=again)
            reached(f"answered {victim.position}")
            self._judge(row, victim, result)
            reached(f"told {victim.position}")
            if row.state == Decision.State.CLOSED:
                return
        if not row.victims.filter(state__in=_PENDING).exists():
            row.state = Decision.State.WAITING
            row.save(update_fields=["state"])

    def _judge(self, row: Decision, victim: Victim, result: EvictionResult) -> None:
        self.heard(result.outcome)
        meters.EVICTIONS.labels(self.cluster.name, result.outcome.value).inc()
        match result.outcome:
            case EvictionOutcome.ACCEPTED:
                self._accepted(row, victim)
            case EvictionOutcome.GONE:
                self._gone(row, victim)
            case EvictionOutcome.HELD | EvictionOutcome.RETRY:
                held = result.outcome is EvictionOutcome.HELD
                state = Victim.State.ON_HOLD if held else Victim.State.CHOSEN  # without an answer it may be on its way
                if victim.attempts == 1 or victim.state != state:
                    self._step(row, Step.Kind.REFUSED, pod=str(victim), note=result.sentence)
                wait = timedelta(seconds=result.retry_after_s) if result.retry_after_s else _RETRY
                victim.state, victim.retry_at = state, self.now() + wait
                victim.save(update_fields=["state", "retry_at"])
            case _:
                self._refused(row, victim, result.sentence)
                self.close(row, Decision.Ending.BLOCKED, note=result.sentence)

    def _prolong(self, row: Decision, victim: Victim) -> None:
        """Keep the room until this one, too, has used its grace: a victim that was held back goes after the others."""
        pod = self.pod(victim.uid)
        until = deadline(self.cluster, [pod.grace_s] if pod else [], self.now())
        if row.deadline is not None and until > row.deadline + _HARDLY:
            row.deadline = until
            row.save(update_fields=["deadline"])
            seats = seats_of(row)
            if seats.kept:
                self.heard(self._reserve(seats, self._terms(row, until)).outcome)

    def _accepted(self, row: Decision, victim: Victim) -> None:
        self._evicted(row, victim)
        self._prolong(row, victim)
        reached(f"noted {victim.position}")
        link = pod_url(self.cluster.name, victim.namespace, victim.name)
        told = told_victim(row, victim, link)
        self.executor.mark(victim, condition_reason(victim.reason), told)
        self.executor.event(victim, "Preempted", told, "Warning")

    @transaction.atomic
    def _refused(self, row: Decision, victim: Victim, note: str) -> None:
        """It stays."""
        self._step(row, Step.Kind.REFUSED, pod=str(victim), note=note)
        victim.state = Victim.State.SPARED
        victim.save(update_fields=["state"])
        self._tell_refused(row, victim, note)

    @transaction.atomic
    def _tell_refused(self, row: Decision, victim: Victim, note: str) -> None:
        events.refused(victim, note, self.now())
        tell_refused(row, victim, self.now())

    def _watch_victims(self, row: Decision) -> None:
        """Take down who has gone, and who is going after a request whose answer never came."""
        for victim in row.victims.filter(Q(state=Victim.State.EVICTED) | UNANSWERED):
            if self._left(victim):
                self._gone(row, victim)
            elif victim.state == Victim.State.CHOSEN and self._leaves(victim):
                self._accepted(row, victim)

    def _outlived(self, row: Decision) -> bool:
        """Whether an intent could not be begun for so long that it is given up; closes it then."""
        if self.now() <= row.first_seen + _BEGUN_WITHIN:
            return False
        if self._victims_stand(row):
            self.close(row, Decision.Ending.SUPERSEDED)
        return True

    def _in_time(self, row: Decision) -> bool:
        """Whether its deadline lies ahead; closes the decision when it has passed, so that nobody goes in vain."""
        if row.deadline is None or self.now() <= row.deadline:
            return True
        decision = read(row)
        left = row.victims.exclude(state=Victim.State.EXITED).exists()
        left = left or (decision is not None and not all(self._left(one.pod) for one in decision.victims))
        self.close(row, Decision.Ending.TIMED_OUT if left else Decision.Ending.CAPACITY_TAKEN)
        return False


def _names(pods: Iterable[Pod]) -> str:
    """The nodes of pods, each once."""
    return ", ".join(dict.fromkeys(pod.node or "" for pod in pods))
