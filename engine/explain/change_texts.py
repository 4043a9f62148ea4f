"""Explains in words which changes would have led to another decision, and which smallest set of victims there was."""

from engine.analysis.counterfactuals import Counterfactual, Then
from engine.analysis.optimum import MOST_MEMBERS, MOST_UNITS, Optimal
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
        "It would fit on %(node)s without preemption if it requested %(less)s less."
    ),
    (Then.FITS, Change.GROUP_REQUEST): gettext_noop(
        "The group would have room without preemption if each of its pods requested %(less)s less."
    ),
    (Then.FITS, Change.MEMBERS): gettext_noop(
        "The group would have room without preemption if only %(members)s of its pods had to run at once."
    ),
    (Then.SPARED, Change.GROUP_PRIORITY): gettext_noop(
        "%(pod)s would be spared if the priority of its group %(group)s were %(priority)s."
    ),
    (Then.SPARED, Change.REQUEST): gettext_noop("%(pod)s would be spared if the pending pod requested %(less)s less."),
    (Then.SPARED, Change.PRIORITY): gettext_noop("%(pod)s would be spared if its priority were %(priority)s."),
    (Then.SPARED, Change.OWN_REQUEST): gettext_noop("%(pod)s would be spared if it requested %(less)s less."),
    (Then.SPARED, Change.START): gettext_noop("%(pod)s would be spared if it had started at %(moment)s or earlier."),
    (Then.SPARED, Change.GUARANTEE): gettext_noop(
        "%(pod)s would be spared if the guarantee of %(queue)s were above %(amounts)s. It is %(has)s now."
    ),
    (Then.SPARED, Change.WEIGHT): gettext_noop("%(pod)s would be spared if %(queue)s had a weight of %(weight)s."),
}
FITS_QUOTA = gettext_noop("It would fit into the quota without preemption if it requested %(less)s less.")
UNKEPT = gettext_noop(
    "%(pod)s would be spared if the guarantee of %(queue)s were above %(amounts)s. It is %(has)s now. The "
    "guarantee or the max of %(above)s must be raised too."
)
AT_LEAST = gettext_noop(
    "%(pod)s would be spared if the guarantee of %(queue)s were at least %(amounts)s. It is %(has)s now."
)
AT_LEAST_UNKEPT = gettext_noop(
    "%(pod)s would be spared if the guarantee of %(queue)s were at least %(amounts)s. It is %(has)s now. "
    "The guarantee or the max of %(above)s must be raised too."
)
"""The same texts for a least amount that is rounder than the amount it must exceed."""
BUDGETS: dict[Then, tuple[str, str]] = {
    Then.NO_VIOLATION: ngettext_noop(
        "No victim would exceed its disruption budget if %(budget)s allowed %(count)s disruption.",
        "No victim would exceed its disruption budget if %(budget)s allowed %(count)s disruptions.",
    ),
    Then.SPARED: ngettext_noop(
        "%(pod)s would be spared if the disruption budget %(budget)s allowed %(count)s disruption.",
        "%(pod)s would be spared if the disruption budget %(budget)s allowed %(count)s disruptions.",
    ),
}
SEVERAL_BUDGETS = gettext_noop(
    "No victim would exceed its disruption budget if these budgets allowed this many disruptions: %(budgets)s."
)

LEAST_SAME = gettext_noop("No other set of pods on any node would have cost less.")
LEAST_SO_FAR = gettext_noop("None of the sets of pods that were tried would have cost less.")
LEAST = ngettext_noop(
    "Lowest possible cost: %(count)s pod (%(pods)s) on %(node)s.",
    "Lowest possible cost: %(count)s pods (%(pods)s) on %(node)s.",
)
LEAST_ALONE = ngettext_noop(
    "Room could be made on %(node)s by evicting %(count)s pod (%(pods)s). The policy does not find this "
    "because it removes all pods with a lower priority before it tries.",
    "Room could be made on %(node)s by evicting %(count)s pods (%(pods)s). The policy does not find this "
    "because it removes all pods with a lower priority before it tries.",
)
LEAST_UNTRIED = ngettext_noop(
    "Room could be made on %(node)s by evicting %(count)s pod (%(pods)s). The policy does not find this "
    "because it tries only a few sets of pods per node.",
    "Room could be made on %(node)s by evicting %(count)s pods (%(pods)s). The policy does not find this "
    "because it tries only a few sets of pods per node.",
)
DISTANCE: dict[str, tuple[str, str]] = {
    "opted_out": ngettext_noop(
        "The choice made evicts %(count)s more pod that opted out.",
        "The choice made evicts %(count)s more pods that opted out.",
    ),
    "originators": ngettext_noop(
        "The choice made evicts the first pod of %(count)s more application.",
        "The choice made evicts the first pods of %(count)s more applications.",
    ),
    "violations": ngettext_noop(
        "The choice made has %(count)s more victim that exceeds a disruption budget.",
        "The choice made has %(count)s more victims that exceed disruption budgets.",
    ),
    "priority": ngettext_noop(
        "The highest priority among the chosen victims is higher by %(count)s.",
        "The highest priority among the chosen victims is higher by %(count)s.",
    ),
    "victims": ngettext_noop(
        "The choice made evicts %(count)s more pod.", "The choice made evicts %(count)s more pods."
    ),
    "priority_sum": ngettext_noop(
        "The total priority of the chosen victims is higher by %(count)s.",
        "The total priority of the chosen victims is higher by %(count)s.",
    ),
    "tree_distance": ngettext_noop(
        "The chosen victims are %(count)s step further away in the queue tree in total.",
        "The chosen victims are %(count)s steps further away in the queue tree in total.",
    ),
    "work_lost_ms": ngettext_noop(
        "The chosen victims have run %(count)s ms longer in total.",
        "The chosen victims have run %(count)s ms longer in total.",
    ),
    "started_ms": ngettext_noop(
        "The most important chosen victim started %(count)s ms earlier.",
        "The most important chosen victim started %(count)s ms earlier.",
    ),
    "created_ms": ngettext_noop(
        "The oldest chosen victim was created %(count)s ms earlier.",
        "The oldest chosen victim was created %(count)s ms earlier.",
    ),
}
"""The criteria in the order in which they decide; in the sum of priorities, the number of victims dominates."""
NO_SET = gettext_noop("All sets of victims were tried. No set that the rules allow makes enough room.")
UNFINISHED = gettext_noop("Not all sets of victims were tried because it would take too long.")
TOO_MANY = {
    "members": gettext_noop(
        "The lowest possible cost is calculated for groups of which up to %(most)s pods need room by evictions. "
        "Here %(count)s do."
    ),
    "units": gettext_noop(
        "The lowest possible cost is calculated if up to %(most)s pods or groups can be evicted on the nodes of a "
        "group. Here %(count)s can."
    ),
}
_MOST = {"members": MOST_MEMBERS, "units": MOST_UNITS}
LEFT_OUT = ngettext_noop(
    "%(count)s node was not checked because it would take too long.",
    "%(count)s nodes were not checked because it would take too long.",
)


def change_sentence(change: Counterfactual) -> Message:
    """Return the sentence for the effect of a single change."""
    params: dict[str, Param] = {
        "node": Name(change.node),
        "pod": Name(change.spared.rpartition("/")[2]),
        "less": _amounts(change.smaller),
        "priority": str(change.priority),
        "group": Name((change.group or "").rpartition("/")[2]),
        "members": str(change.members or ""),
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
    if template == SIMPLE[Then.FITS, Change.REQUEST] and not change.node:
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
    nodes = [optimal.node] if optimal.node else sorted(set(optimal.nodes.values()))
    left_out = _not_searched(optimal)
    if optimal.none:
        return (Message(NO_SET),)
    if not nodes:
        return left_out
    if optimal.same:
        return (Message(LEAST_SO_FAR if left_out else LEAST_SAME), *left_out)
    alone = LEAST_ALONE if decision.policy == priority.POLICY else LEAST_UNTRIED
    forms = LEAST if decision.evicts else alone
    least = plural_message(forms, len(optimal.victims), pods=names(optimal.victims), node=names(tuple(nodes)))
    decisive = next((name for name in DISTANCE if optimal.distance.get(name, 0) > 0), None)
    apart = (plural_message(DISTANCE[decisive], optimal.distance[decisive]),) if decisive else ()
    return (least, *apart, *left_out)


def _not_searched(optimal: Optimal) -> tuple[Message, ...]:
    """Return what was not searched, and why; nothing if everything was."""
    nodes = [plural_message(LEFT_OUT, len(optimal.left_out))] if optimal.left_out else []
    many = [Message(TOO_MANY[what], {"most": _MOST[what], "count": count}) for what, count in optimal.too_many.items()]
    return (*nodes, *many, *([Message(UNFINISHED)] if optimal.unfinished else []))


def names(keys: tuple[str, ...]) -> Name:
    """Return a few pods by their names without namespaces."""
    shown = [key.rpartition("/")[2] for key in keys[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(keys) > len(shown) else shown))


def proposed_decision(decision: Decision) -> tuple[Message, ...]:
    """Return what a policy that is not enforced would decide, with the reason where it preempts nothing."""
    why = () if decision.to_evict else (reason(decision),)
    return (sentence(decision, Tense.WOULD), *why, *notices(decision))
