"""Explains YuniKorn's departures from its own design: what it does, and what would have happened otherwise."""

from engine.explain.change_texts import names
from engine.explain.decision.figures import figures
from engine.model.decision import Decision, Outcome, QueueFigures, Reason
from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message, short_name
from engine.model.quantities import format_amount
from engine.policies.yunikorn import Quirk, QuirkEffect

RULES: dict[Quirk, str] = {
    Quirk.WHOLE_ASK: gettext_noop(
        "YuniKorn lets an ask preempt only if the whole of it fits into what is left of its queue’s guarantee; by the "
        "design it suffices to be below it."
    ),
    Quirk.VICTIMS_CHARGED: gettext_noop(
        "YuniKorn charges what victims hold to the asker’s queue, not what it asks, and stops at the first pod that is "
        "more than what is left of the guarantee."
    ),
    Quirk.LEAF_BELOW: gettext_noop(
        "YuniKorn looks whether a queue is above its guarantee before its pod goes, not after."
    ),
    Quirk.PARENT_BELOW: gettext_noop("YuniKorn does not keep what the queues above a victim’s queue were promised."),
    Quirk.INSIDE_CLAIM: gettext_noop(
        "YuniKorn takes pods from inside the queue whose guarantee is claimed, which gains nothing by that."
    ),
    Quirk.LEAVING_UNCOUNTED: gettext_noop(
        "YuniKorn does not count the asker’s own pods on their way out, nor the room kept for its other asks, as used."
    ),
    Quirk.MAX_FENCE: gettext_noop(
        "YuniKorn takes a queue that the ask would take over its max for a fence, and looks at nothing outside."
    ),
    Quirk.NAME_PREFIX: gettext_noop(
        "YuniKorn takes a queue for one above the asker’s when its name begins alike, and forgets its guarantee."
    ),
    Quirk.PRIORITIES_BEND: gettext_noop(
        "YuniKorn lets a queue’s priority settings expose pods of a higher priority than the ask’s."
    ),
    Quirk.OWN_ANNOTATION: gettext_noop(
        "YuniKorn heeds what a pod’s own annotation says about being preempted, before its priority class’s."
    ),
    Quirk.OPTED_OUT_TAKEN: gettext_noop(
        "YuniKorn takes pods that opted out for any ask; by the design they are the last resort of a DaemonSet’s."
    ),
    Quirk.DISABLED_PREEMPTS: gettext_noop("YuniKorn lets a queue that turned preemption off still preempt others."),
    Quirk.DELAY_FROM_CREATION: gettext_noop(
        "YuniKorn counts the delay from the ask’s creation, not from when no room was found for it."
    ),
    Quirk.TWO_VICTIMS: gettext_noop("YuniKorn takes at most two victims."),
    Quirk.LEAVING_HOLD: gettext_noop(
        "YuniKorn does not count the room that pods on their way out are about to leave, so that others go as well."
    ),
    Quirk.FREE_SPACE_IGNORED: gettext_noop(
        "YuniKorn wants the victims alone to cover the ask, whatever is free on the node besides."
    ),
    Quirk.NO_REPRIEVE: gettext_noop("YuniKorn spares no victim that turns out not to be needed."),
    Quirk.AMOUNTS_ALONE: gettext_noop(
        "YuniKorn looks at amounts alone in the end, and leaves out who had to go for a port or an affinity."
    ),
    Quirk.OTHER_NODES: gettext_noop("YuniKorn takes pods of any node where the ask fits and only its queue is full."),
    Quirk.MAX_UNCHECKED: gettext_noop(
        "YuniKorn does not check whether the ask is within the max of its queues once the victims are gone."
    ),
    Quirk.DAEMONSET_BELOW: gettext_noop("YuniKorn keeps no guarantee when it makes room for a DaemonSet’s pod."),
    Quirk.DAEMONSET_UNBOUNDED: gettext_noop(
        "YuniKorn heeds no fence, no turned-off queue, no preemptionPolicy Never and no application when it makes room "
        "for a DaemonSet’s pod."
    ),
    Quirk.DAEMONSET_SPREE: gettext_noop(
        "YuniKorn takes pods until they alone cover a DaemonSet’s pod, whatever is free on the node besides."
    ),
    Quirk.DAEMONSET_REGARDLESS: gettext_noop(
        "YuniKorn looks at amounts alone when it makes room for a DaemonSet’s pod, not at the node’s other rules."
    ),
    Quirk.DAEMONSET_BY_AFFINITY: gettext_noop(
        "YuniKorn knows a DaemonSet’s pod only by an affinity that names its node."
    ),
    Quirk.QUOTA_DEAREST_FIRST: gettext_noop(
        "YuniKorn takes the pods that opted out, and the first ones of their applications, before all others where a "
        "max was lowered."
    ),
    Quirk.QUOTA_COUNTS_UNDERUSE: gettext_noop(
        "YuniKorn shares out what is to go also by what queues lack of their guarantees."
    ),
}
LEFT_OF_GUARANTEE = gettext_noop("%(queue)s has %(left)s %(resource)s of it left, the ask wants %(asked)s.")
LEFT_BELOW = gettext_noop("%(queue)s is left with %(after)s of the %(guaranteed)s %(resource)s that it is guaranteed.")
_BELOW = (Quirk.LEAF_BELOW, Quirk.PARENT_BELOW, Quirk.DAEMONSET_BELOW, Quirk.NAME_PREFIX)

GO = ngettext_noop(
    "Without that %(count)s pod would go on %(node)s: %(pods)s.",
    "Without that %(count)s pods would go on %(node)s: %(pods)s.",
)
GO_SOMEWHERE = ngettext_noop(
    "Without that %(count)s pod would go: %(pods)s.", "Without that %(count)s pods would go: %(pods)s."
)
COVERED = ngettext_noop(
    "%(count)s would have sufficed on %(node)s: %(pods)s.", "%(count)s would have sufficed on %(node)s: %(pods)s."
)
NOTHING = gettext_noop("Without that nothing would go.")
NOTHING_AS_IT_FITS = gettext_noop("Without that nothing would go: it fits on %(node)s.")
NOTHING_AS_IT_FITS_SOON = gettext_noop(
    "Without that nothing else would go: it fits on %(node)s once the pods that are on their way out are gone."
)


def quirk_messages(effect: QuirkEffect, decision: Decision | None = None) -> tuple[Message, ...]:
    """Return what YuniKorn does, with numbers of the ``decision`` where they help, and the outcome without it."""
    return (
        Message(RULES[effect.quirk]),
        *(_numbers(effect.quirk, decision) if decision else ()),
        _outcome_without(effect),
    )


def _outcome_without(effect: QuirkEffect) -> Message:
    node, pods = Name(effect.node or ""), names(effect.victims)
    if effect.outcome is Outcome.FITS:
        soon = effect.reason is Reason.FITS_SOON
        return Message(NOTHING_AS_IT_FITS_SOON if soon else NOTHING_AS_IT_FITS, {"node": node})
    if not effect.victims:
        return Message(NOTHING)
    if not effect.node:
        return plural_message(GO_SOMEWHERE, len(effect.victims), pods=pods)
    forms = COVERED if effect.quirk is Quirk.TWO_VICTIMS else GO
    return plural_message(forms, len(effect.victims), pods=pods, node=node)


def _numbers(quirk: Quirk, decision: Decision) -> tuple[Message, ...]:
    if quirk is Quirk.WHOLE_ASK:
        return _left_of_guarantee(decision)
    return _left_below(quirk, decision) if quirk in _BELOW else ()


def _left_of_guarantee(decision: Decision) -> tuple[Message, ...]:
    """Return the sentence for the first resource of which the pod requests more than is left of the guarantee."""
    queue_figures = figures(decision, decision.ask.queue)
    for name, promised in queue_figures.guaranteed.items() if queue_figures else ():
        unused, requested = (
            promised - (queue_figures.before.get(name, 0) if queue_figures else 0),
            decision.ask.requests.get(name, 0),
        )
        if 0 < unused < requested:
            shown = {"left": format_amount(name, unused), "asked": format_amount(name, requested), "resource": name}
            return (Message(LEFT_OF_GUARANTEE, {"queue": short_name(decision.ask.queue), **shown}),)
    return ()


def _left_below(quirk: Quirk, decision: Decision) -> tuple[Message, ...]:
    """Return the sentence for the first queue that ends below its guarantee.

    That is a victim's leaf, or an ancestor where the quirk concerns ancestors.
    """
    leaves = {verdict.pod.queue for verdict in decision.victims}
    for queue_figures in decision.trace.queues:
        if (queue_figures.path in leaves) is (quirk is Quirk.PARENT_BELOW):
            continue
        if name := _short_of(queue_figures):
            numbers = {
                "after": format_amount(name, queue_figures.after.get(name, 0)),
                "guaranteed": format_amount(name, queue_figures.guaranteed[name]),
                "resource": name,
            }
            return (Message(LEFT_BELOW, {"queue": short_name(queue_figures.path), **numbers}),)
    return ()


def _short_of(queue_figures: QueueFigures) -> str | None:
    """Return a resource of which a queue lost something and ends below its guarantee."""
    return next(
        (
            name
            for name, promised in queue_figures.guaranteed.items()
            if queue_figures.after.get(name, 0) < min(promised, queue_figures.before.get(name, 0))
        ),
        None,
    )
