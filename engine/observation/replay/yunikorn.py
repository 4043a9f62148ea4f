"""Replay what YuniKorn preempted, by its own rules, and check it against the invariants, on the cluster just before."""

import msgspec

from engine.analysis.counterfactuals import Again
from engine.audit import audit_other_scheduler
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.snapshot import ClusterState, Snapshot
from engine.observation.evictions import DecisionReplay, Observed, ObservedUsage, with_broken_rules
from engine.policies import yunikorn
from engine.policies.fence import POLICY


def replay_yunikorn(seen: Observed, again: Again, past: ClusterState, *, quirks: bool) -> Observed:
    """Return the decision with what YuniKorn's rules decide for the pod, and with the checks of the invariants.

    ``again`` decides on ``past``. ``quirks``: whether to calculate YuniKorn's departures from its design.
    """
    before, ask, decision = again.snapshot, again.ask, again.as_it_was()
    hindsight = DecisionReplay(
        decision=decision,
        nodes=len(before.nodes),
        said=ask.unschedulable_message,
        quirks=yunikorn.effects(before, before.tree, ask, decision) if quirks else None,
    )
    laws = audit_other_scheduler(before, before.tree, _as_decision(seen))
    return msgspec.structs.replace(_as_it_was(seen, before, past), hindsight=hindsight, untold=None, laws=laws)


def replay_quota_enforcement(seen: Observed, before: Snapshot, past: ClusterState, *, quirks: bool) -> Observed:
    """Return the decision with what YuniKorn's rules evict for the max; nothing if it was not exceeded by our tree."""
    found = yunikorn.enforce(before, before.tree)
    gone = [PodFacts.of(pod) for one in found if one.queue == seen.over_max for pod in one.victims]
    decision = Decision(
        policy=POLICY,
        dialect=yunikorn.DIALECT,
        ask=PodFacts(uid="", namespace="", name="", queue=seen.over_max, application="", priority=0, requests={}),
        outcome=Outcome.PREEMPT if gone else Outcome.NO_CANDIDATE,
        reason=Reason.LOWERED_MAX,
        detail=seen.over_max,
        victims=tuple(PodVerdict(pod=pod, reason=PodReason.OVER_GUARANTEE) for pod in gone),
    )
    changed = yunikorn.quota_effects(before, before.tree) if quirks else ()
    own = tuple(one for one in changed if one.detail == seen.over_max)
    hindsight = DecisionReplay(decision=decision, nodes=len(before.nodes), quirks=own if quirks else None)
    return msgspec.structs.replace(_as_it_was(seen, before, past), hindsight=hindsight, untold=None)


def _as_it_was(seen: Observed, before: Snapshot, past: ClusterState) -> Observed:
    """Return the decision with the queues' figures at that time, and with the originators, which YuniKorn considers.

    An originator is the first pod of its application.
    """
    first = {pod.uid for pod in before.pods if pod.originator}
    victims = tuple(
        msgspec.structs.replace(one, pod=msgspec.structs.replace(one.pod, originator=one.pod.uid in first))
        for one in seen.victims
    )
    known = [one.pod for one in victims if one.known]
    return with_broken_rules(msgspec.structs.replace(seen, victims=victims), ObservedUsage(past, before.tree), known)


def _as_decision(seen: Observed) -> Decision:
    """Return the observed preemption as a decision to audit; YuniKorn is assumed to know which pods opted out."""
    assert seen.ask is not None
    victims = tuple(
        PodVerdict(pod=one.pod, reason=PodReason.LAST_RESORT if one.pod.opted_out else PodReason.OVER_GUARANTEE)
        for one in seen.victims
    )
    return Decision(
        policy=POLICY,
        dialect=yunikorn.DIALECT,
        ask=seen.ask,
        outcome=Outcome.PREEMPT,
        reason=Reason.BELOW_GUARANTEE,
        node=seen.node if all(one.known for one in seen.victims) and seen.node else None,
        victims=victims,
    )
