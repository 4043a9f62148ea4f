"""The main sentence of a decision: what the pending pod needed, how its queue was, and which pods were evicted.

A tenant's version names the other side's queue and nothing else of it: no pod, no amounts.
"""

from engine.explain.decision import deserved, groups, priority, quota
from engine.explain.decision.figures import decisive, figures, queues_of, requested_amounts, shortfall, surplus
from engine.explain.decision.sentence_texts import (
    ABOVE,
    BELOW,
    DAEMONSET,
    FITTING,
    LEAVING,
    NO_PREEMPTOR,
    NOTHING,
    PLAIN,
    PREEMPTOR,
    PREEMPTOR_PRIORITY,
    PREEMPTOR_REASON,
    PRIORITY,
    STOPPED,
    VICTIM,
    VICTIM_PLAIN,
    VICTIM_PRIORITY,
    VICTIM_UNDISCLOSED,
    Tense,
)
from engine.model.decision import Decision, Outcome, Reason
from engine.model.message import Message, Name, Param, amount, plural_message, short_name, short_names

__all__ = ["Tense", "preemptor_sentence", "sentence", "stopped_sentence", "victim_sentence"]


def sentence(decision: Decision, tense: Tense, *, by: str = "") -> Message:
    """Return what happened and why, for readers who may see all of it; ``by`` is the actor without a preemptor."""
    if not decision.to_evict:
        return _without(decision)
    if decision.by_quota:
        return quota.sentence(decision, queues_of(decision), tense)
    if decision.group:
        return groups.sentence(decision, decision.group, tense)
    if decision.reason is Reason.BELOW_DESERVED:
        return deserved.sentence(decision, tense)
    count, resource = len(decision.to_evict), decisive(decision)
    params: dict[str, Param] = {
        "ask": Name(decision.ask.name),
        "queues": short_names(queues_of(decision)),
        "node": Name(decision.node or ""),
        "by": by,
        "priority": str(decision.ask.priority),
        "lower": str(max((verdict.pod.priority for verdict in decision.to_evict), default="")),
    }
    if not decision.ask.name:
        return plural_message(NO_PREEMPTOR, count, **_only(params, NO_PREEMPTOR))
    if resource is None:
        return plural_message(PLAIN[tense], count, **_only(params, PLAIN[tense]))
    params |= {"needed": amount(resource, requested_amounts(decision)[resource]), "resource": resource}
    forms, numbers = _shape(decision, resource, tense)
    params |= numbers
    return plural_message(forms, count, **_only(params, forms))


def _shape(decision: Decision, resource: str, tense: Tense) -> tuple[tuple[str, str], dict[str, Param]]:
    """Return the forms of the sentence that fit the trace's numbers, and these numbers."""
    if decision.policy == priority.POLICY:
        return PRIORITY[tense], {}
    claim = shortfall(decision, resource)
    if claim is None or claim[1] <= 0:
        daemonset = decision.ask.controller.startswith("DaemonSet/")
        return (DAEMONSET if daemonset else PLAIN)[tense], {}
    numbers: dict[str, Param] = {"asker": short_name(claim[0]), "short": amount(resource, claim[1])}
    queues = queues_of(decision)
    over = [surplus(decision, path, resource) for path in queues]
    if any(figures(decision, path) is None for path in queues) or any(by is not None and by <= 0 for by in over):
        return PLAIN[tense], {}
    if len(queues) > 1 or over[0] is None:
        return BELOW[tense], numbers
    return ABOVE[tense], {**numbers, "over": amount(resource, over[0])}


def victim_sentence(decision: Decision, uid: str, tense: Tense, *, discloses_queue: bool = True) -> Message:
    """Return why this pod was evicted: with its own queue's numbers, and of the preemptor at most its queue's name."""
    if decision.by_quota:
        return quota.victim_sentence(decision, uid, tense)
    if (of_group := groups.victim_sentence(decision, uid, tense)) is not None:
        return of_group
    victim = next(verdict.pod for verdict in decision.victims if verdict.pod.uid == uid)
    params: dict[str, Param] = {
        "pod": Name(victim.name),
        "node": Name(decision.node or victim.node),
        "asker": short_name(decision.ask.queue),
        "queue": short_name(victim.queue),
        "priority": str(victim.priority),
    }
    above = [(name, over) for name in victim.requests if (over := surplus(decision, victim.queue, name) or 0) > 0]
    resource = decisive(decision)
    chosen = next((pair for pair in above if pair[0] == resource), above[0] if above else None)
    claims = decision.reason is Reason.BELOW_GUARANTEE and decision.ask.queue
    if not claims or chosen is None:
        plain = (VICTIM_PRIORITY if decision.policy == priority.POLICY else VICTIM_PLAIN)[tense]
        return Message(plain, {name: value for name, value in params.items() if f"%({name})s" in plain})
    names = ("pod", "node", "asker", "queue") if discloses_queue else ("pod", "node", "queue")
    disclosed = {name: params[name] for name in names}
    return Message((VICTIM if discloses_queue else VICTIM_UNDISCLOSED)[tense], {**disclosed, "over": amount(*chosen)})


def preemptor_sentence(decision: Decision, tense: Tense) -> Message:
    """Return why this pod is pending, or at whose cost it got room.

    It has the numbers of its own queue, and of the others only the queues' names.
    """
    if not decision.to_evict:
        return _without(decision)
    if decision.by_quota:
        return quota.preemptor_sentence(decision, queues_of(decision), tense)
    if decision.group:
        return groups.preemptor_sentence(decision, decision.group, tense)
    resource = decisive(decision)
    claim = shortfall(decision, resource) if resource else None
    params: dict[str, Param] = {
        "pod": Name(decision.ask.name),
        "node": Name(decision.node or ""),
        "queues": short_names(queues_of(decision)),
    }
    if decision.policy == priority.POLICY:
        return Message(PREEMPTOR_PRIORITY[tense], {name: params[name] for name in ("pod", "node")})
    if resource is None or claim is None or claim[1] <= 0:
        return Message(PREEMPTOR_REASON[tense], params)
    needed = amount(resource, requested_amounts(decision)[resource])
    numbers: dict[str, Param] = {"needed": needed, "queue": short_name(claim[0])}
    return Message(PREEMPTOR[tense], {**params, **numbers, "short": amount(resource, claim[1])})


def stopped_sentence() -> Message:
    """Return the sentence that follows those in tense ``STOPPED``."""
    return Message(STOPPED)


def _without(decision: Decision) -> Message:
    """Return the sentence that nothing was preempted; the reason is a sentence of its own (engine.explain.reason)."""
    pod = Name(decision.ask.name)
    if decision.by_quota and (granted := quota.granted(decision)):
        return granted
    if decision.group:
        return groups.without(decision, decision.group)
    if decision.node:
        leaving = decision.outcome is Outcome.PREEMPT
        return Message(LEAVING if leaving else FITTING, {"pod": pod, "node": Name(decision.node)})
    return Message(NOTHING, {"pod": pod})


def _only(params: dict[str, Param], forms: tuple[str, str]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if any(f"%({name})s" in form for form in forms)}
