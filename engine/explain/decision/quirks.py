"""Explains YuniKorn's departures from its own design: what it does, and what would have happened otherwise."""

from engine.explain.change_texts import names
from engine.explain.decision.figures import figures
from engine.model.decision import Decision, Outcome, QueueFigures, Reason
from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message, short_name
from engine.model.quantities import format_amount
from engine.policies.yunikorn import Quirk, QuirkEffect

RULES: dict[Quirk, str] = {
    Quirk.WHOLE_ASK: gettext_noop(
        "YuniKorn lets a pod preempt only if its whole request fits into what is left of its queue’s "
        "guarantee. By the design, it is enough that the queue is below its guarantee."
    ),
    Quirk.VICTIMS_CHARGED: gettext_noop(
        "YuniKorn charges the pending pod’s queue with what the victims hold, not with what the pod "
        "requests. It stops at the first victim that exceeds what is left of the guarantee."
    ),
    Quirk.LEAF_BELOW: gettext_noop(
        "YuniKorn checks whether a queue is above its guarantee before its pod is evicted, not after."
    ),
    Quirk.PARENT_BELOW: gettext_noop(
        "YuniKorn does not respect the guarantees of the queues above the victim’s queue."
    ),
    Quirk.INSIDE_CLAIM: gettext_noop(
        "YuniKorn takes victims from inside the queue whose guarantee is claimed, although that queue gains nothing."
    ),
    Quirk.LEAVING_UNCOUNTED: gettext_noop(
        "YuniKorn does not count terminating pods of the pending pod’s queue, or room reserved for its "
        "other pending pods, as used."
    ),
    Quirk.MAX_FENCE: gettext_noop(
        "YuniKorn treats a queue that the pending pod would take above its max as a fence, and ignores "
        "everything outside it."
    ),
    Quirk.NAME_PREFIX: gettext_noop(
        "YuniKorn mistakes a queue whose name starts the same for a parent of the pending pod’s queue, "
        "and ignores its guarantee."
    ),
    Quirk.PRIORITIES_BEND: gettext_noop(
        "YuniKorn lets a queue’s priority settings expose pods with a higher priority than the pending pod’s."
    ),
    Quirk.OWN_ANNOTATION: gettext_noop(
        "YuniKorn reads the opt-out annotation of the pod itself before that of its priority class."
    ),
    Quirk.OPTED_OUT_TAKEN: gettext_noop(
        "YuniKorn preempts pods that opted out for any pending pod. By the design, they are the last "
        "resort for a DaemonSet’s pod."
    ),
    Quirk.DISABLED_PREEMPTS: gettext_noop("YuniKorn lets a queue with preemption disabled still preempt others."),
    Quirk.DELAY_FROM_CREATION: gettext_noop(
        "YuniKorn starts the preemption delay when the pod is created, not when no room was found for it."
    ),
    Quirk.TWO_VICTIMS: gettext_noop("YuniKorn preempts at most two pods."),
    Quirk.LEAVING_HOLD: gettext_noop(
        "YuniKorn does not count the room that terminating pods will leave, so it evicts more pods."
    ),
    Quirk.FREE_SPACE_IGNORED: gettext_noop(
        "YuniKorn requires that the victims alone cover the request, even if the node has free capacity."
    ),
    Quirk.NO_REPRIEVE: gettext_noop("YuniKorn does not spare victims that turn out not to be needed."),
    Quirk.AMOUNTS_ALONE: gettext_noop(
        "YuniKorn checks only amounts in the end and leaves out victims that were needed for a port or an affinity."
    ),
    Quirk.OTHER_NODES: gettext_noop(
        "If only the queue is full, YuniKorn preempts pods on any node where the pending pod fits."
    ),
    Quirk.MAX_UNCHECKED: gettext_noop(
        "YuniKorn does not check whether the pending pod is within the max of its queues once the victims are gone."
    ),
    Quirk.DAEMONSET_BELOW: gettext_noop("YuniKorn ignores all guarantees when it makes room for a DaemonSet’s pod."),
    Quirk.DAEMONSET_UNBOUNDED: gettext_noop(
        "When YuniKorn makes room for a DaemonSet’s pod, it ignores fences, queues with preemption "
        "disabled, preemptionPolicy Never, and applications."
    ),
    Quirk.DAEMONSET_SPREE: gettext_noop(
        "YuniKorn preempts pods until they alone cover a DaemonSet’s pod, even if the node has free capacity."
    ),
    Quirk.DAEMONSET_REGARDLESS: gettext_noop(
        "When YuniKorn makes room for a DaemonSet’s pod, it checks only amounts, not the node’s other rules."
    ),
    Quirk.DAEMONSET_BY_AFFINITY: gettext_noop(
        "YuniKorn recognizes a DaemonSet’s pod only by an affinity that names its node."
    ),
    Quirk.QUOTA_DEAREST_FIRST: gettext_noop(
        "When a max is lowered, YuniKorn first preempts pods that opted out and the first pods of applications."
    ),
    Quirk.QUOTA_COUNTS_UNDERUSE: gettext_noop(
        "YuniKorn also counts what queues are below their guarantees when it distributes the evictions."
    ),
}
LEFT_OF_GUARANTEE = gettext_noop(
    "%(queue)s has %(left)s %(resource)s of its guarantee left, and the pod requests %(asked)s."
)
LEFT_BELOW = gettext_noop("%(queue)s keeps %(after)s of its guarantee of %(guaranteed)s %(resource)s.")
_BELOW = (Quirk.LEAF_BELOW, Quirk.PARENT_BELOW, Quirk.DAEMONSET_BELOW, Quirk.NAME_PREFIX)

GO = ngettext_noop(
    "Otherwise, %(count)s pod would be preempted on %(node)s: %(pods)s.",
    "Otherwise, %(count)s pods would be preempted on %(node)s: %(pods)s.",
)
GO_SOMEWHERE = ngettext_noop(
    "Otherwise, %(count)s pod would be preempted: %(pods)s.", "Otherwise, %(count)s pods would be preempted: %(pods)s."
)
COVERED = ngettext_noop(
    "%(count)s victim on %(node)s would be enough: %(pods)s.",
    "%(count)s victims on %(node)s would be enough: %(pods)s.",
)
NOTHING = gettext_noop("Otherwise, no pod would be preempted.")
NOTHING_AS_IT_FITS = gettext_noop("Otherwise, no pod would be preempted: it fits on %(node)s.")
NOTHING_AS_IT_FITS_SOON = gettext_noop(
    "Otherwise, no other pod would be preempted: it fits on %(node)s once the terminating pods are gone."
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
