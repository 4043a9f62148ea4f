"""Explains in words which changes would have led to another decision, and which smallest set of victims there was."""

from engine.analysis.counterfactuals import Counterfactual, Then
from engine.analysis.optimum import Optimal
from engine.explain.decision.deserved import notices
from engine.explain.decision.reasons import reason
from engine.explain.decision.sentence import Tense, sentence
from engine.model.change import Change
from engine.model.decision import Decision
from engine.model.message import (
    Message,
    Name,
    Param,
    Timestamp,
    amount,
    format_amount_list,
    gettext_noop,
    is_shorter,
    ngettext_noop,
    plural_message,
    short_name,
)
from engine.model.quantities import Amounts
from engine.model.queue_tree import write_weight
from engine.policies import priority

_NAMED_UP_TO = 3

SIMPLE: dict[tuple[Then, Change], str] = {
    (Then.FITS, Change.REQUEST): gettext_noop(
        "It would fit on %(node)s without any preemption if it requested %(less)s less."
    ),
    (Then.SPARED, Change.REQUEST): gettext_noop("%(pod)s would stay if the ask requested %(less)s less."),
    (Then.SPARED, Change.PRIORITY): gettext_noop("%(pod)s would stay if its priority were %(priority)s."),
    (Then.SPARED, Change.OWN_REQUEST): gettext_noop("%(pod)s would stay if it requested %(less)s less."),
    (Then.SPARED, Change.START): gettext_noop("%(pod)s would stay if it had started at %(moment)s or before."),
    (Then.SPARED, Change.GUARANTEE): gettext_noop(
        "%(pod)s would stay if %(queue)s were guaranteed more than %(amounts)s; it has %(has)s."
    ),
    (Then.SPARED, Change.WEIGHT): gettext_noop("%(pod)s would stay if %(queue)s had a weight of %(weight)s."),
}
FITS_QUOTA = gettext_noop("Its quota would have room without any preemption if it requested %(less)s less.")
UNKEPT = gettext_noop(
    "%(pod)s would stay if %(queue)s were guaranteed more than %(amounts)s; it has %(has)s. For that the guarantee or "
    "the max of %(above)s has to be raised, too."
)
AT_LEAST = gettext_noop("%(pod)s would stay if %(queue)s were guaranteed at least %(amounts)s; it has %(has)s.")
AT_LEAST_UNKEPT = gettext_noop(
    "%(pod)s would stay if %(queue)s were guaranteed at least %(amounts)s; it has %(has)s. For that the guarantee or "
    "the max of %(above)s has to be raised, too."
)
"""The same texts for a least amount that is rounder than the amount it must exceed."""
BUDGETS: dict[Then, tuple[str, str]] = {
    Then.NO_VIOLATION: ngettext_noop(
        "No victim would be beyond its disruption budget if %(budget)s allowed for %(count)s disruption.",
        "No victim would be beyond its disruption budget if %(budget)s allowed for %(count)s disruptions.",
    ),
    Then.SPARED: ngettext_noop(
        "%(pod)s would stay if the disruption budget %(budget)s allowed for %(count)s disruption.",
        "%(pod)s would stay if the disruption budget %(budget)s allowed for %(count)s disruptions.",
    ),
}
SEVERAL_BUDGETS = gettext_noop(
    "No victim would be beyond its disruption budget if these allowed for so many disruptions: %(budgets)s."
)

LEAST_SAME = gettext_noop("No other set of pods, on whatever node, would have cost less.")
LEAST_SO_FAR = gettext_noop("Of the sets of pods that were tried none would have cost less.")
LEAST = ngettext_noop(
    "The least possible: %(count)s pod (%(pods)s) on %(node)s.",
    "The least possible: %(count)s pods (%(pods)s) on %(node)s.",
)
LEAST_ALONE = ngettext_noop(
    "Room could be made after all: without %(count)s pod (%(pods)s) on %(node)s. The policy does not find it, as it "
    "takes all pods of lower priority away before it tries.",
    "Room could be made after all: without %(count)s pods (%(pods)s) on %(node)s. The policy does not find it, as it "
    "takes all pods of lower priority away before it tries.",
)
LEAST_UNTRIED = ngettext_noop(
    "Room could be made after all: without %(count)s pod (%(pods)s) on %(node)s. The policy does not find it, as it "
    "tries few sets of pods on each node.",
    "Room could be made after all: without %(count)s pods (%(pods)s) on %(node)s. The policy does not find it, as it "
    "tries few sets of pods on each node.",
)
DISTANCE: dict[str, tuple[str, str]] = {
    "opted_out": ngettext_noop(
        "The choice made takes %(count)s pod more that opted out.",
        "The choice made takes %(count)s pods more that opted out.",
    ),
    "originators": ngettext_noop(
        "The choice made takes the first pod of %(count)s application more.",
        "The choice made takes the first pods of %(count)s applications more.",
    ),
    "violations": ngettext_noop(
        "The choice made has %(count)s victim more beyond disruption budgets.",
        "The choice made has %(count)s victims more beyond disruption budgets.",
    ),
    "priority": ngettext_noop(
        "The highest priority among the victims chosen is higher by %(count)s.",
        "The highest priority among the victims chosen is higher by %(count)s.",
    ),
    "victims": ngettext_noop("The choice made takes %(count)s pod more.", "The choice made takes %(count)s pods more."),
    "priority_sum": ngettext_noop(
        "The sum of the priorities of the victims chosen is higher by %(count)s.",
        "The sum of the priorities of the victims chosen is higher by %(count)s.",
    ),
    "tree_distance": ngettext_noop(
        "The victims chosen are %(count)s step further away in the tree, together.",
        "The victims chosen are %(count)s steps further away in the tree, together.",
    ),
    "work_lost_ms": ngettext_noop(
        "The victims chosen have run %(count)s ms longer, together.",
        "The victims chosen have run %(count)s ms longer, together.",
    ),
    "started_ms": ngettext_noop(
        "The most important victim chosen started %(count)s ms earlier.",
        "The most important victim chosen started %(count)s ms earlier.",
    ),
    "created_ms": ngettext_noop(
        "The oldest victim chosen was created %(count)s ms earlier.",
        "The oldest victim chosen was created %(count)s ms earlier.",
    ),
}
"""The criteria in the order in which they decide; in the sum of priorities, the number of victims dominates."""
LEFT_OUT = ngettext_noop(
    "On %(count)s node it was not worked out: it would take too long.",
    "On %(count)s nodes it was not worked out: it would take too long.",
)


def change_sentence(change: Counterfactual) -> Message:
    """Return the sentence for the effect of a single change."""
    params: dict[str, Param] = {
        "node": Name(change.node),
        "pod": Name(change.spared.rpartition("/")[2]),
        "less": _amounts(change.smaller),
        "priority": str(change.priority),
        "queue": short_name(change.queue),
        "weight": write_weight(change.weight or 0),
        "amounts": _amounts({name: value - 1 for name, value in change.amounts.items()}),
        "has": _amounts({name: value - change.more.get(name, 0) for name, value in change.amounts.items()}),
    }
    rounder = change.change is Change.GUARANTEE and is_shorter(change.amounts)
    if rounder:
        params["amounts"] = _amounts(change.amounts)
    if change.unkept:
        template = AT_LEAST_UNKEPT if rounder else UNKEPT
        return Message(template, _used(template, {**params, "above": short_name(change.unkept)}))
    if change.started_ms is not None:
        params["moment"] = Timestamp(change.started_ms)
    if change.change is Change.BUDGET:
        return _budgets(change, params)
    template = AT_LEAST if rounder else SIMPLE[change.then, change.change]
    if change.then is Then.FITS and not change.node:
        template = FITS_QUOTA
    return Message(template, _used(template, params))


def _used(template: str, params: dict[str, Param]) -> dict[str, Param]:
    return {name: value for name, value in params.items() if f"%({name})s" in template}


def _amounts(amounts: Amounts) -> Param:
    if len(amounts) == 1:
        ((resource, value),) = amounts.items()
        return amount(resource, value)
    return format_amount_list(amounts) if amounts else ""


def _budgets(change: Counterfactual, params: dict[str, Param]) -> Message:
    if len(change.budgets) > 1:
        return Message(SEVERAL_BUDGETS, {"budgets": Name(", ".join(f"{key} {n}" for key, n in change.budgets.items()))})
    ((budget, allowed),) = change.budgets.items()
    forms = BUDGETS[change.then]
    pod = {"pod": params["pod"]} if "%(pod)s" in forms[0] else {}
    return plural_message(forms, allowed, budget=Name(budget), **pod)


def optimal_messages(optimal: Optimal, decision: Decision) -> tuple[Message, ...]:
    """Return the least victims beside those of the ``decision``, if it has any, and how far apart the two are."""
    left_out = (plural_message(LEFT_OUT, len(optimal.left_out)),) if optimal.left_out else ()
    if not optimal.node:
        return left_out
    if optimal.same:
        return (Message(LEAST_SO_FAR if left_out else LEAST_SAME), *left_out)
    alone = LEAST_ALONE if decision.policy == priority.POLICY else LEAST_UNTRIED
    forms = LEAST if decision.evicts else alone
    least = plural_message(forms, len(optimal.victims), pods=names(optimal.victims), node=Name(optimal.node))
    decisive = next((name for name in DISTANCE if optimal.distance.get(name, 0) > 0), None)
    apart = (plural_message(DISTANCE[decisive], optimal.distance[decisive]),) if decisive else ()
    return (least, *apart, *left_out)


def names(keys: tuple[str, ...]) -> Name:
    """Return a few pods by their names without namespaces."""
    shown = [key.rpartition("/")[2] for key in keys[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(keys) > len(shown) else shown))


def proposed_decision(decision: Decision) -> tuple[Message, ...]:
    """Return what a policy that is not enforced would decide, with the reason where it preempts nothing."""
    why = () if decision.to_evict else (reason(decision),)
    return (sentence(decision, Tense.WOULD), *why, *notices(decision))
