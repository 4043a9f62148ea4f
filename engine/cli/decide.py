"""Decides cases without a cluster (engine.cli.cases) and formats the answers."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.analysis.optimum import is_supported, optimal
from engine.cli.cases import (
    CaseError,
    RecordedCase,
    Situation,
    cluster,
    group_situation,
    milliseconds,
    quota_situation,
    read_case,
    situation,
)
from engine.formats.volcano.cluster import volcano_cluster
from engine.formats.yunikorn import Partition, read
from engine.model.decision import Decision, Outcome, PodReason, Reason, encode
from engine.model.quantities import format_amounts
from engine.model.snapshot import Protection, Safeguards, apply_shield
from engine.model.snapshot.eviction_units import units_of
from engine.policies import (
    Decide,
    Policy,
    UnknownPolicyError,
    cohort,
    deserved,
    find,
    guarded,
    known_dialects,
    policy,
    priority,
    volcano,
    yunikorn,
)
from engine.policies.priority.groups import decide_group


def answer(
    line: bytes, *, dialect: str | None = None, trace: bool = False, least: bool = False, protect: bool = False
) -> dict[str, Any]:
    """Decide one case, given as JSON, and return the answer; ``dialect`` overrides the case's own dialect.

    ``least``: add the smallest sets of victims beside the policy's own. ``protect``: consider only pods that
    enforcement may evict and victim sets that disruption budgets allow; otherwise the answer lists the victims that
    enforcement would protect.

    Raises ValueError (CaseError, a decoder's error, an import's) with a sentence when the case can't be read or
    decided.
    """
    case = read_case(line)
    by = _policy_of(case, dialect)
    if by.dialect == priority.BESIDE_GROUPS and case.asker_group is not None:
        return _of_group(case)
    dialect = by.dialect
    if protect and not by.enforceable:
        raise CaseError(f"Policy {case.policy}, dialect {dialect}, is never enforced. Omit --protect.")
    if case.policy in {cohort.POLICY, cohort.FAIR_SHARE}:
        return _of_workload(case)
    if (case.policy, dialect) == (deserved.POLICY, volcano.DIALECT):
        return _of_queues(case)
    if least and not is_supported(case.policy, dialect):
        raise CaseError(f"Policy {case.policy}, dialect {dialect}, does not support --optimal.")
    if dialect == yunikorn.DIALECT:
        return _as_yunikorn(case, trace=trace)
    at = _situation(case, dialect, protect=protect)
    decide = policy(case.policy, dialect)
    decision = decide(at.snapshot, at.tree, at.ask)
    result = _answer_form(case, at, decision, trace=trace) | _notices(at, decision, decide)
    if not protect and (protected := _protected_victims(at, decision)):
        result["protected"] = protected
    return (
        result | {"optimal": msgspec.to_builtins(optimal(at.snapshot, at.tree, at.ask, decision))} if least else result
    )


def _of_group(case: RecordedCase) -> dict[str, Any]:
    """Decide a case for a group of pods as kube-scheduler 1.37 does: a node for each member that gets one."""
    decision = decide_group(*group_situation(case))
    assert decision.group
    keys = {pod.uid: pod.key for pod in decision.pending}
    too_few = {"scheduled": decision.group.scheduled, "remaining": decision.group.untried}
    return {
        "name": case.name,
        "policy": decision.policy,
        "dialect": decision.dialect,
        "outcome": decision.outcome,
        "reason": decision.reason,
        "node": None,
        "nodes": {keys[uid]: node for uid, node in decision.group.nodes.items()},
        "victims": [{"name": victim.pod.key, "reason": victim.reason} for victim in decision.victims],
        "figures": {
            "pdb_violations": sum(bool(victim.detail) for victim in decision.victims),
            **(too_few if decision.reason is Reason.NO_ROOM else {}),
        },
    }


def _policy_of(case: RecordedCase, dialect: str | None) -> Policy:
    """Return the policy of a case in the given dialect, in the case's own dialect, or in the policy's first one."""
    try:
        return find(case.policy, dialect or case.dialect or known_dialects().get(case.policy, ("",))[0])
    except UnknownPolicyError as error:
        raise CaseError(str(error)) from error


def _situation(case: RecordedCase, dialect: str, *, protect: bool) -> Situation:
    """Return the situation of a case, with the pods that enforcement spares shielded where ``protect`` is set."""
    if not protect:
        return situation(case)
    return situation(case, Protection(), Safeguards() if guarded(case.policy, dialect, acting=True) else None)


def _notices(at: Situation, decision: Decision, decide: Decide) -> dict[str, Any]:
    """Return which queues are notified to give back, and which pods would be evicted after the notice period."""
    if not decision.notices:
        return {}
    notified_ms = {
        notice.queue: at.snapshot.notices.get(notice.queue, at.snapshot.now_ms) for notice in decision.notices
    }
    over = {
        notice.queue: notified_ms[notice.queue] - max(0, notice.due_ms - at.snapshot.now_ms)
        for notice in decision.notices
    }
    later = msgspec.structs.replace(at.snapshot, notices={**at.snapshot.notices, **over})
    form: dict[str, Any] = {
        "notified": [
            {"queue": notice.queue, "over": format_amounts(notice.over), "due": _time(notice.due_ms)}
            for notice in decision.notices
        ]
    }
    if decision.outcome is Outcome.PREEMPT:
        return form
    return form | {"would_go": [victim.pod.key for victim in decide(later, at.tree, at.ask).victims]}


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat().replace("+00:00", "Z")


def _protected_victims(at: Situation, decision: Decision) -> list[dict[str, str]]:
    """Return the victims that enforcement would protect, with the reason for each."""
    victims = (at.snapshot.pod(victim.pod.uid) for victim in decision.victims)
    shielded = [apply_shield(pod, at.tree, Protection()) for pod in victims if pod is not None]
    return [{"name": pod.key, "reason": str(pod.shield)} for pod in shielded if pod.shield]


def _as_yunikorn(case: RecordedCase, *, trace: bool) -> dict[str, Any]:
    """Decide a case as YuniKorn with its partition's preemption settings; without a preemptor, for a lowered max."""
    partition = read(case.queues).partition if isinstance(case.queues, dict) else Partition()
    parameters = yunikorn.Parameters(preemption=partition.preemption)
    if case.asker is None:
        return _enforced(case, enforced=partition.preemption and partition.quota_preemption, trace=trace)
    at = situation(case)
    decision = policy(case.policy, yunikorn.DIALECT, msgspec.to_builtins(parameters))(at.snapshot, at.tree, at.ask)
    form = _answer_form(case, at, decision, trace=trace)
    if trace:
        effects = yunikorn.effects(at.snapshot, at.tree, at.ask, decision, parameters)
        form["trace"]["quirks"] = msgspec.to_builtins(effects)
    return form


def _enforced(case: RecordedCase, *, enforced: bool, trace: bool) -> dict[str, Any]:
    """Return the answer of a case without a preemptor: the pods that are evicted because a queue's max was lowered."""
    state, tree, _ = cluster(case)
    snapshot = state.snapshot(tree, now_ms=milliseconds(case.now))
    quota_changes = yunikorn.enforce(snapshot, snapshot.tree) if enforced else ()
    victims = [pod.key for change in quota_changes for pod in change.victims]
    form = {
        "name": case.name,
        "policy": case.policy,
        "dialect": yunikorn.DIALECT,
        "outcome": Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        "reason": Reason.LOWERED_MAX,
        "node": None,
        "victims": [{"name": name, "reason": Reason.LOWERED_MAX} for name in victims],
        "figures": {"queues": yunikorn.calculated_amounts(snapshot, snapshot.tree, None)},
    }
    effects = yunikorn.quota_effects(snapshot, snapshot.tree) if enforced and trace else ()
    return form | {"trace": {"quirks": msgspec.to_builtins(effects)}} if trace else form


def _figures(at: Situation, decision: Decision) -> dict[str, Any]:
    """Return each queue's amounts before and after a decision; under ``priority``, what every node would free."""
    if decision.policy == priority.POLICY:
        units = units_of(at.snapshot) if decision.dialect == priority.BESIDE_GROUPS else None
        return priority.figures(at.snapshot, at.ask, decision.outcome, units)
    if decision.dialect == yunikorn.DIALECT:
        return {"queues": yunikorn.calculated_amounts(at.snapshot, at.tree, at.ask.queue)}
    queues = {
        queue.path: {
            "before": format_amounts(queue.before),
            "after": format_amounts(queue.after),
            "guaranteed": format_amounts(queue.guaranteed),
            "max": format_amounts(queue.max),
        }
        for queue in decision.trace.queues
    }
    return {"queues": queues}


def _answer_form(case: RecordedCase, at: Situation, decision: Decision, *, trace: bool) -> dict[str, Any]:
    """Return a decision in the form of an answer."""
    form: dict[str, Any] = {
        "name": case.name,
        "policy": decision.policy,
        "dialect": decision.dialect,
        "outcome": decision.outcome,
        "reason": decision.reason,
        "node": decision.node,
        "victims": [{"name": victim.pod.key, "reason": victim.reason} for victim in decision.victims],
        "figures": _figures(at, decision),
    }
    if decision.group:
        form["nodes"] = {pod.key: decision.nodes[pod.uid] for pod in decision.placed}
    if decision.safeguard is not msgspec.UNSET:
        form["held_back"] = msgspec.to_builtins(decision.safeguard)
    if at.unread:
        form["unread"] = list(at.unread)
    return form | {"trace": msgspec.json.decode(encode(decision))["trace"]} if trace else form


def _of_workload(case: RecordedCase) -> dict[str, Any]:
    """Decide a case under Kueue's policies: the flavors that a workload gets, and the workloads that are preempted."""
    cluster, workload, strategies = quota_situation(case)
    if why := cohort.inadmissible(cluster, workload):
        return _inadmissible_answer(case, why)
    verdict = cohort.decide(cluster, workload, strategies)
    if verdict.gated:
        return _inadmissible_answer(case, cohort.Inadmissible.PREEMPTION_GATE)
    victims = [{"name": target.workload.key, "reason": target.why} for target in verdict.search.targets]
    fits = verdict.mode is cohort.Mode.FIT
    return {
        "name": case.name,
        "policy": case.policy,
        "dialect": "",
        "outcome": Outcome.FITS if fits else Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        "reason": verdict.mode,
        "node": None,
        "victims": victims,
        "figures": cohort.figures(cluster, verdict, fair=strategies is not None),
    }


def _inadmissible_answer(case: RecordedCase, why: cohort.Inadmissible) -> dict[str, Any]:
    return {
        "name": case.name,
        "policy": case.policy,
        "dialect": "",
        "outcome": Outcome.NOT_ELIGIBLE,
        "reason": why,
        "node": None,
        "victims": [],
        "figures": {},
    }


def _of_queues(case: RecordedCase) -> dict[str, Any]:
    """Decide a case under Volcano: what queues deserve, the victims of one session, and where pods are pipelined."""
    cluster = volcano_cluster(case.objects)
    turns = volcano.reclaim(cluster)
    victims = [{"name": victim.pod.key, "reason": PodReason.OVER_DESERVED} for turn in turns for victim in turn.victims]
    nodes = {turn.node for turn in turns}
    return {
        "name": case.name,
        "policy": deserved.POLICY,
        "dialect": volcano.DIALECT,
        "outcome": Outcome.PREEMPT if victims else Outcome.FITS if turns else Outcome.NO_CANDIDATE,
        "reason": Reason.BELOW_DESERVED if victims else Reason.FITS_SOON if turns else Reason.NO_CANDIDATES,
        "node": nodes.pop() if len(nodes) == 1 else None,
        "victims": victims,
        "figures": volcano.figures(cluster) | {"pipelined": {turn.ask.pod.key: turn.node for turn in turns}},
    }
