"""Replay what YuniKorn preempted, by its own rules, and check it against the invariants, on the cluster just before."""

import msgspec

from engine.analysis.counterfactuals import Again
from engine.audit import audit_other_scheduler
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.snapshot import ClusterState, Snapshot
from engine.observation.evictions import DecisionReplay, Observed, ObservedUsage, with_broken_rules
from engine.policies import yunikorn
from engine.policies.fence import POLICY


def replay_yunikorn(observed: Observed, rerun: Again, past: ClusterState, *, quirks: bool) -> Observed:
    """Return the decision with what YuniKorn's rules decide for the pod, and with the checks of the invariants.

    ``rerun`` decides on ``past``. ``quirks``: whether to calculate YuniKorn's departures from its design.
    """
    before, preemptor, decision = rerun.snapshot, rerun.ask, rerun.as_it_was()
    replay = DecisionReplay(
        decision=decision,
        nodes=len(before.nodes),
        said=preemptor.unschedulable_message,
        quirks=yunikorn.effects(before, before.tree, preemptor, decision) if quirks else None,
    )
    checks = audit_other_scheduler(before, before.tree, _as_decision(observed))
    return msgspec.structs.replace(_as_it_was(observed, before, past), hindsight=replay, untold=None, laws=checks)


def replay_quota_enforcement(observed: Observed, before: Snapshot, past: ClusterState, *, quirks: bool) -> Observed:
    """Return the decision with what YuniKorn's rules evict for the max; nothing if it was not exceeded by our tree."""
    quota_changes = yunikorn.enforce(before, before.tree)
    evicted = [
        PodFacts.of(pod)
        for quota_change in quota_changes
        if quota_change.queue == observed.over_max
        for pod in quota_change.victims
    ]
    decision = Decision(
        policy=POLICY,
        dialect=yunikorn.DIALECT,
        ask=PodFacts(uid="", namespace="", name="", queue=observed.over_max, application="", priority=0, requests={}),
        outcome=Outcome.PREEMPT if evicted else Outcome.NO_CANDIDATE,
        reason=Reason.LOWERED_MAX,
        detail=observed.over_max,
        victims=tuple(PodVerdict(pod=pod, reason=PodReason.OVER_GUARANTEE) for pod in evicted),
    )
    all_effects = yunikorn.quota_effects(before, before.tree) if quirks else ()
    effects = tuple(effect for effect in all_effects if effect.detail == observed.over_max)
    replay = DecisionReplay(decision=decision, nodes=len(before.nodes), quirks=effects if quirks else None)
    return msgspec.structs.replace(_as_it_was(observed, before, past), hindsight=replay, untold=None)


def _as_it_was(observed: Observed, before: Snapshot, past: ClusterState) -> Observed:
    """Return the decision with the queues' figures at that time, and with the originators, which YuniKorn considers.

    An originator is the first pod of its application.
    """
    first = {pod.uid for pod in before.pods if pod.originator}
    victims = tuple(
        msgspec.structs.replace(victim, pod=msgspec.structs.replace(victim.pod, originator=victim.pod.uid in first))
        for victim in observed.victims
    )
    known = [victim.pod for victim in victims if victim.known]
    return with_broken_rules(
        msgspec.structs.replace(observed, victims=victims), ObservedUsage(past, before.tree), known
    )


def _as_decision(observed: Observed) -> Decision:
    """Return the observed preemption as a decision to audit; YuniKorn is assumed to know which pods opted out."""
    assert observed.ask is not None
    victims = tuple(
        PodVerdict(pod=victim.pod, reason=PodReason.LAST_RESORT if victim.pod.opted_out else PodReason.OVER_GUARANTEE)
        for victim in observed.victims
    )
    return Decision(
        policy=POLICY,
        dialect=yunikorn.DIALECT,
        ask=observed.ask,
        outcome=Outcome.PREEMPT,
        reason=Reason.BELOW_GUARANTEE,
        node=observed.node if all(victim.known for victim in observed.victims) and observed.node else None,
        victims=victims,
    )
