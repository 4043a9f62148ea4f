"""Rows for what others evicted: begun, joined by later news, and put right where an Event knows better."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from django.db import transaction

from engine.audit import failed_checks
from engine.explain import observed_reason
from engine.model.decision import Outcome, Reason
from engine.model.snapshot import ClusterState
from engine.observation.evictions import (
    EVIDENCE,
    EvictionSource,
    Observed,
    ObservedVictim,
    decode,
    encode,
    merge_observed,
    without_victims,
)
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring.meters import count_observed
from scheduler_admin.core.times import moment
from scheduler_admin.counts.services import recount
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.services import events
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.decisions.services.latest import forget_last, keep_last
from scheduler_admin.ledger.repeat_victims import note_again
from scheduler_admin.ledger.services import unbook
from scheduler_admin.notifications.events.preemptions import tell_recorded
from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.recorder.decisions import deadline, fitting
from scheduler_admin.worker.recorder.follow import exited, keep_settled, settle

_TOGETHER = timedelta(seconds=10)
"""News of one preemption may reach several passes; see engine.observation.evictions.grouping.TOGETHER_MS."""
_WITNESSED = timedelta(minutes=1)
"""What is learned of later was over at a time that nobody noted."""

_Place = tuple[str, str, str]
"""Source, node, and the ask's uid, or its name where that is all, or the queue over its max, or the reason where no ask
is ever told: whose victims belong to one decision."""


class Others:
    """Stores what one pass observed, in few queries however much it is."""

    def __init__(
        self,
        cluster: Cluster,
        revision: Revision,
        state: ClusterState,
        now: datetime,
        *,
        waiting: Iterable[Decision],
        unsure: Mapping[str, int],
    ) -> None:
        """``waiting``: the decisions that are followed, with their victims; ``unsure``: see history.observing."""
        self._cluster, self._revision, self._state, self._now = cluster, revision, state, now
        self._unsure = unsure
        self._rows = {row.pk: row for row in waiting}
        self._new: list[Decision] = []
        self._victims: list[Victim] = []
        self._steps: list[Step] = []
        self._moved: list[tuple[Victim, Decision, int]] = []
        self._ended: list[Decision] = []

    def record(self, found: Sequence[Observed]) -> list[Decision]:
        """Store all of it; the row that holds each. Called within a transaction."""
        self._load(found)
        rows = [self._record(seen) for seen in found]
        Decision.objects.bulk_create(self._new)
        Victim.objects.bulk_create(self._victims)
        Step.objects.bulk_create(self._steps)
        self._move()
        mention(rows)
        mistaken = [self._rows[pk] for pk in self._unsure.values() if pk in self._rows]
        forget_last([row.pk for row in mistaken])
        keep_last([*rows, *mistaken])
        recount(cluster=self._cluster, at=[row.first_seen for row in (*rows, *mistaken)])
        transaction.on_commit(partial(count_observed, self._cluster.name, [row.source for row in self._new]))
        events.decided(self._cluster, self._new, self._now)
        events.ended(self._cluster, self._ended, self._now)
        tell_recorded(self._victims, self._now)
        return rows

    def _move(self) -> None:
        unbook(victim for victim, _row, _position in self._moved if victim.booked)
        for victim, row, position in self._moved:
            Step.objects.filter(decision=victim.decision_id, pod=str(victim)).update(decision=row)
            Victim.objects.filter(pk=victim.pk).update(decision=row, position=position, preempted_in_day=None)
        left = {victim.decision_id for victim, _row, _position in self._moved}
        Decision.objects.filter(pk__in=left, victims=None).delete()
        note_again(self._cluster, left)

    def _load(self, found: Iterable[Observed]) -> None:
        """Those that have ended before all was known of them."""
        asks = {seen.ask.uid for seen in found if seen.ask and seen.ask.uid}
        rows = Decision.objects.filter(cluster=self._cluster).exclude(source=Decision.Source.ENGINE)
        closed = rows.filter(state=Decision.State.CLOSED, ask_uid__in=asks)
        for some in (closed, rows.filter(pk__in=set(self._unsure.values()))):
            for row in some.defer("laws").prefetch_related("victims"):
                self._rows.setdefault(row.pk, row)
        self._held: dict[_Place, list[Decision]] = {}
        for row in self._rows.values():
            whole = decode(row.document) if row.reason == Reason.LOWERED_MAX or not row.ask_name else None
            over_max = whole.over_max if whole else ""
            node = "" if whole and whole.for_group else row.node
            place = _place(row.source, node, row.ask_uid or row.ask_name or over_max, row.reason)
            self._held.setdefault(place, []).append(row)

    def _record(self, seen: Observed) -> Decision:
        row, moved = self._begun(seen), []
        for other, victims in self._mistaken(seen).items():
            if row is None and len(victims) == len(other.victims.all()):
                row = other
                self._put_right(row, seen)
            elif other is not row:
                self._part(other, victims)
                moved += victims
        if row is None:
            row = self._row(seen)
            self._new.append(row)
            self._steps += [*_sought(row), Step(decision=row, at=row.first_seen, kind=Step.Kind.DECIDED)]
            self._fill(row, seen, moved)
            return row
        if row.ask_priority is None and seen.ask_known:
            self._tell(row, seen)
        if row.state == Decision.State.CLOSED and not row.ending:
            self._follow_anew(row)
        whole = merge_observed(decode(row.document), seen)
        row.document, row.last_seen, row.detail = encode(whole).decode(), self._now, _detail(whole)
        row.node, row.laws, row.against_laws = whole.node, msgspec.to_builtins(whole.laws), bool(row.detail)
        waited = row.state == Decision.State.WAITING
        self._fill(row, seen, [*row.victims.all(), *moved])
        if waited and row.state == Decision.State.CLOSED:
            self._ended.append(row)
        row.save()
        keep_settled([row], self._now)
        return row

    def _begun(self, seen: Observed) -> Decision | None:
        """The decision that is to hold these victims too: the same source, ask and node, just before."""
        at = _at(seen)
        asker = seen.preemptor_uid or _name_of(seen) or seen.over_max
        node = "" if seen.for_group else seen.node
        place = _place(seen.source.value, node, asker, observed_reason(seen))
        near = [row for row in self._held.get(place, ()) if abs(row.first_seen - at) <= _TOGETHER]
        return max(near, key=lambda row: (row.first_seen, row.pk), default=None)

    # What was recorded for no ask, or a supposed one, and went for another

    def _mistaken(self, seen: Observed) -> dict[Decision, list[Victim]]:
        found: dict[Decision, list[Victim]] = {}
        for uid in (one.pod.uid for one in seen.victims if one.pod.uid in self._unsure):
            row = self._rows[self._unsure[uid]]
            found.setdefault(row, []).extend(each for each in row.victims.all() if each.uid == uid)
        return found

    def _put_right(self, row: Decision, seen: Observed) -> None:
        """Tell for whom all of a decision's victims went; it is followed to its end anew."""
        self._tell(row, seen)
        self._follow_anew(row)
        row.steps.filter(kind=Step.Kind.SEEN).delete()
        self._steps += _sought(row)

    def _follow_anew(self, row: Decision) -> None:
        """It had come to its end before all was known of it."""
        row.state, row.ending, row.closed_at = Decision.State.WAITING, "", None
        row.steps.filter(kind=Step.Kind.CLOSED).delete()

    def _tell(self, row: Decision, seen: Observed) -> None:
        unbook(victim for victim in row.victims.all() if victim.booked)
        for name, value in self._ask_of(seen).items():
            setattr(row, name, value)

    def _part(self, row: Decision, victims: Iterable[Victim]) -> None:
        """Take from a decision what went for another ask."""
        left = without_victims(decode(row.document), {victim.uid for victim in victims})
        row.document, row.detail, row.laws = encode(left).decode(), _detail(left), []
        row.against_laws = bool(row.detail)
        row.save(update_fields=["document", "detail", "laws", "against_laws"])
        row.victims.update(changes=[])  # what was worked out was of another ask

    # New rows

    def _fill(self, row: Decision, seen: Observed, held: list[Victim]) -> None:
        """Give a decision those victims that it does not hold yet, and see how far it has come."""
        stored = {victim.uid for victim in held}
        new = [taken for taken in seen.victims if taken.pod.uid not in stored]
        victims = [self._victim(row, position, taken) for position, taken in enumerate(new, len(held))]
        self._victims += victims
        self._steps += [exited(row, victim) for victim in victims if victim.gone_at is not None]
        places = ((victim, row, position) for position, victim in enumerate(held))
        self._moved += [place for place in places if place[0].decision_id != row.pk]
        if row.state == Decision.State.WAITING:
            witnessed = self._now - row.first_seen < _WITNESSED
            self._steps += settle(row, [*held, *victims], self._state, self._now, witnessed=witnessed)

    def _row(self, seen: Observed) -> Decision:
        at = _at(seen)
        return Decision(
            cluster=self._cluster,
            # What happened before it was published was under no tree of ours.
            revision=self._revision if at >= self._revision.published_at else None,
            source=seen.source.value,
            mode=self._cluster.mode,
            policy="",
            **self._ask_of(seen),
            outcome=Outcome.PREEMPT.value,
            reason=observed_reason(seen),
            detail=_detail(seen),
            against_laws=bool(_detail(seen)),
            node=seen.node,
            document=encode(seen).decode(),
            laws=msgspec.to_builtins(seen.laws),
            state=Decision.State.WAITING,
            first_seen=at,
            last_seen=self._now,
            deadline=deadline(self._cluster, (taken.pod.grace_s for taken in seen.victims), self._now),
        )

    def _ask_of(self, seen: Observed) -> dict[str, Any]:
        ask = seen.ask
        pod = self._state.known_pod(ask.uid) if ask else None
        return {
            "ask_uid": ask.uid if ask else "",
            "ask_namespace": ask.namespace if ask else "",
            "ask_name": _name_of(seen),
            "ask_group": ask.name if ask and seen.for_group else "",
            "ask_queue": ask.queue if ask else "",
            "ask_application": fitting("ask_application", ask.application) if ask else "",
            "ask_controller": fitting("ask_controller", ask.controller) if ask else "",
            "ask_priority": ask.priority if ask and seen.ask_known else None,
            "ask_priority_class": pod.priority_class if pod else "",
            "ask_requests": ask.requests if ask else {},
            "ask_since": moment(pod.waiting_ms) if pod else None,
        }

    def _victim(self, row: Decision, position: int, taken: ObservedVictim) -> Victim:
        pod = taken.pod
        still, witnessed = self._state.pods.get(pod.uid), pod.uid in self._state.departed
        gone = still is None or still.finished
        return Victim(
            decision=row,
            cluster=self._cluster,
            position=position,
            uid=pod.uid,
            namespace=pod.namespace,
            name=pod.name,
            queue=pod.queue,
            application=fitting("application", pod.application, Victim),
            priority=pod.priority if taken.known else None,
            requests=pod.requests,
            node=pod.node or row.node,
            started_at=moment(pod.started_ms),
            checkpoint_at=moment(pod.checkpoint_ms),
            odd_checkpoint=pod.odd_checkpoint,
            controller=fitting("controller", pod.controller, Victim),
            grace_s=pod.grace_s,
            reason=row.reason,
            state=Victim.State.EXITED if gone else Victim.State.EVICTED,
            evicted_at=moment(taken.at_ms),
            gone_at=self._now if gone and (still or witnessed) else None,
            changes=[],
        )


def _sought(row: Decision) -> list[Step]:
    """That the ask had waited before."""
    since = row.ask_since
    return [Step(decision=row, at=since, kind=Step.Kind.SEEN)] if since and since <= row.first_seen else []


def _at(seen: Observed) -> datetime:
    at = moment(seen.at_ms)
    assert at is not None
    return at


def _place(source: str, node: str, ask: str, reason: str) -> _Place:
    evidence = EVIDENCE.get(EvictionSource(source))
    if evidence is None:
        return source, node, ask
    return source, node if evidence.one_node else "", ask if evidence.names_preemptor else reason


def _name_of(seen: Observed) -> str:
    """The ask's, where it is a pod that has pages of its own: not a group, and not known by its uid alone."""
    ask = seen.ask
    return ask.name if ask and ask.namespace and seen.ask_kind == "Pod" else ""


def _detail(seen: Observed) -> str:
    """The laws that it broke, or the flags where no law could be held against it; each once, for those who filter."""
    if seen.laws:
        return " ".join(sorted(check.law.value for check in failed_checks(seen.laws)))
    return " ".join(sorted({each.flag.value for taken in seen.victims for each in taken.flags}))
