"""What a scheduler preempted, decided again by its own rules, and held against our laws, on the cluster just before.

The cluster is rewound to the moment at which the ask was nominated or the first of the victims was told to go,
whichever came first: kube-scheduler writes both at the same time. YuniKorn nominates nobody; it deletes its victims.
"""

from collections.abc import Iterable

import msgspec

from engine.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.laws import audit_other
from engine.observed import SCHEDULERS, Hindsight, Observed, Source, Untold
from engine.policies import policy
from engine.policies.yunikorn import effects, enforce, quota_effects
from engine.queues import QueueTree
from engine.snapshot import PREEMPTION_BY_SCHEDULER, Change, ClusterState, Pod, Snapshot

PODS_AT_ONCE = 100_000
"""So many pods, over all the moments that are gone back to, are looked at in one go."""
TIMES_OVER = 25
"""So often is decided again to tell which of YuniKorn's departures from its design changed an answer."""
RULES = {Source.KUBE_SCHEDULER: ("priority", "kube-scheduler"), Source.YUNIKORN: ("fence", "yunikorn")}
"""The policy and the dialect by which each decides."""


def retraced(found: Iterable[Observed], state: ClusterState, tree: QueueTree) -> tuple[Observed, ...]:
    """The same with the hindsight of each that is a scheduler's, or why there is none.

    Of those that would take too long together the oldest are decided again, one at least.
    """
    told, log = list(found), _Log(state)
    began: dict[int, int] = {}
    for number, seen in enumerate(told):
        if seen.source in SCHEDULERS:
            untold = _untold(seen)
            place = None if untold else log.began(seen)
            if place is not None:
                began[number] = place
            told[number] = msgspec.structs.replace(seen, untold=untold or Untold.NOT_SEEN)
    most = max(1, PODS_AT_ONCE // max(1, len(state.pods)))
    for number in list(began)[most:]:
        del began[number]
        told[number] = msgspec.structs.replace(told[number], untold=Untold.TOO_MANY)
    past = state.past() if began else state
    quirks = TIMES_OVER * len(state.pods) * len(began) <= PODS_AT_ONCE
    for number, place in sorted(began.items(), key=lambda one: -one[1]):
        past.rewind(place)
        before = past.snapshot(tree, now_ms=told[number].at_ms)
        told[number] = _again(told[number], before, log.said(told[number], place), quirks=quirks)
    return tuple(told)


def _untold(seen: Observed) -> Untold | None:
    if seen.ask_kind != "Pod":
        return Untold.GROUP
    return None if seen.over_max or (seen.ask and seen.ask_known) else Untold.NO_ASK


def _again(seen: Observed, before: Snapshot, said: str, *, quirks: bool) -> Observed:
    """The same with what is told on the cluster just ``before``; as it is where the ask was not there, or not waiting.

    ``quirks``: whether YuniKorn's departures from its design are to be told. Of kube-scheduler no law is asked that it
    never heard of.
    """
    if seen.over_max:
        return msgspec.structs.replace(seen, hindsight=_enforced(seen.over_max, before, quirks=quirks), untold=None)
    ask = next((pod for pod in before.asks if pod.uid == seen.asker), None)
    if ask is None:
        return seen
    # Nobody waited for pods that make room on a node it was nominated to before, or it had not preempted.
    ask = msgspec.structs.replace(ask, nominated_node="")
    decision = policy(*RULES[seen.source])(before, before.tree, ask)
    hindsight = Hindsight(decision=decision, nodes=len(before.nodes), said=said or ask.unschedulable_message)
    if seen.source is not Source.YUNIKORN:
        return msgspec.structs.replace(seen, hindsight=hindsight, untold=None)
    changed = effects(before, before.tree, ask, decision) if quirks else None
    hindsight = msgspec.structs.replace(hindsight, quirks=changed)
    return _held(msgspec.structs.replace(seen, hindsight=hindsight, untold=None), before)


def _enforced(queue: str, before: Snapshot, *, quirks: bool) -> Hindsight:
    """What YuniKorn's rules have go where this queue is over its max: nothing where by our tree it is not."""
    found = (pod for one in enforce(before, before.tree) if one.queue == queue for pod in one.victims)
    victims = tuple(PodVerdict(pod=PodFacts.of(pod), reason=PodReason.OVER_GUARANTEE) for pod in found)
    policy_name, dialect = RULES[Source.YUNIKORN]
    decision = Decision(
        policy=policy_name,
        dialect=dialect,
        ask=PodFacts(uid="", namespace="", name="", queue=queue, application="", priority=0, requests={}),
        outcome=Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        reason=Reason.LOWERED_MAX,
        detail=queue,
        victims=victims,
    )
    changed = (one for one in quota_effects(before, before.tree) if one.detail == queue) if quirks else None
    return Hindsight(decision=decision, nodes=len(before.nodes), quirks=None if changed is None else tuple(changed))


def _held(seen: Observed, before: Snapshot) -> Observed:
    """The same held against the laws; and with who was the first of its application, which YuniKorn looks at."""
    first = {pod.uid for pod in before.pods if pod.originator}
    victims = (
        msgspec.structs.replace(one, pod=msgspec.structs.replace(one.pod, originator=one.pod.uid in first))
        for one in seen.victims
    )
    laws = audit_other(before, before.tree, _as_decision(seen))
    return msgspec.structs.replace(seen, victims=tuple(victims), laws=laws)


def _as_decision(seen: Observed) -> Decision:
    """What was done, as the laws judge it. It is taken to be well known to whoever did it that a pod opted out."""
    assert seen.ask is not None
    victims = tuple(
        PodVerdict(pod=one.pod, reason=PodReason.LAST_RESORT if one.pod.opted_out else PodReason.OVER_GUARANTEE)
        for one in seen.victims
    )
    policy_name, dialect = RULES[seen.source]
    return Decision(
        policy=policy_name,
        dialect=dialect,
        ask=seen.ask,
        outcome=Outcome.PREEMPT,
        reason=Reason.BELOW_GUARANTEE,
        node=seen.node if all(one.known for one in seen.victims) and seen.node else None,
        victims=victims,
    )


def _by_scheduler(pod: Pod) -> bool:
    return pod.disruption == PREEMPTION_BY_SCHEDULER


class _Log:
    """Where in a state's changes something of a preemption was done."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._told: dict[str, int] = {}
        """Victim (uid) -> where kube-scheduler told it to go."""
        self._told_on: dict[str, list[int]] = {}
        """Node -> where pods of it were."""
        self._deleted: dict[str, int] = {}
        """Pod (uid) -> where it began to go, whoever deleted it."""
        self._asks: dict[str, list[tuple[int, Change]]] = {}
        """Pod (uid) -> what happened to it while it had no node."""
        for place, change in enumerate(state.changes):
            if isinstance(change.after, Pod):
                self._read(place, change)
            if isinstance(change.before, Pod) and not change.before.terminating:
                self._read_end(place, change)

    def _read(self, place: int, change: Change) -> None:
        before, after = change.before, change.after
        if after.node is None:
            self._asks.setdefault(after.uid, []).append((place, change))
        elif _by_scheduler(after) and before is not None and not _by_scheduler(before):
            self._told[after.uid] = place
            self._told_on.setdefault(after.node, []).append(place)

    def _read_end(self, place: int, change: Change) -> None:
        if change.after is None or change.after.terminating:
            self._deleted[change.before.uid] = place

    def began(self, seen: Observed) -> int | None:
        """The place of the first thing that was done; None where that was not seen."""
        find = self._place_told if seen.source is Source.KUBE_SCHEDULER else self._place_deleted
        told = [find(one.pod.uid) for one in seen.victims if one.known]
        places = [place for place in told if place is not None]
        if not places or len(places) < len(told):
            return None
        first = min(places)
        nominated = max((place for place, _ in self._nominations(seen) if place < first), default=first)
        others = (nominated < place < first for place in self._told_on.get(seen.node, ()))
        # Others went in between: the nomination is left from an earlier preemption for it there.
        return first if any(others) else nominated

    def _place_told(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if victim not in self._told and pod is not None and not _by_scheduler(pod):
            return len(self._state.changes)  # its Event is here before the pod itself says so
        return self._told.get(victim)

    def _place_deleted(self, victim: str) -> int | None:
        pod = self._state.pods.get(victim)
        if pod is not None and not pod.terminating:
            return len(self._state.changes)  # what is said of it is here before it is deleted
        return self._deleted.get(victim)

    def _nominations(self, seen: Observed) -> Iterable[tuple[int, Change]]:
        for place, change in self._asks.get(seen.asker, ()):
            former = change.before.nominated_node if change.before is not None else ""
            if change.after.nominated_node == seen.node != former:
                yield place, change

    def said(self, seen: Observed, place: int) -> str:
        """Why the scheduler found no node for the ask, as it said right then; empty where it said nothing since."""
        since = (change.after for at, change in self._asks.get(seen.asker, ()) if at >= place)
        return next((pod.unschedulable_message for pod in since if pod.unschedulable_message), "")
