"""What would have prevented a preemption, or would allow one: only what follows exactly from the trace's arithmetic."""

from collections.abc import Iterable

from engine.decision import Decision, Outcome, PodFacts, QueueFigures, Reason
from engine.explain import priority
from engine.explain.figures import asked, figures, queues_of
from engine.explain.message import Message, Name, gettext_noop, short_name
from engine.policies import FOREIGN
from engine.resources import PODS, add, format_amount

MORE_GUARANTEE = gettext_noop(
    "More than %(kept)s %(resource)s guaranteed to %(queue)s, which has %(guaranteed)s: "
    "the victims left it %(kept)s, and law 2 would have forbidden taking it below its guarantee."
)
FIRST_GUARANTEE = gettext_noop(
    "More than %(kept)s %(resource)s guaranteed to %(queue)s, which is guaranteed none: "
    "the victims left it %(kept)s, and law 2 would have forbidden taking it below its guarantee."
)
HIGHER_PRIORITY = gettext_noop(
    "A priority above %(asker)s, where %(pod)s has %(priority)s: law 6 forbids taking a pod of higher priority."
)
CLAIM_GUARANTEE = gettext_noop(
    "More than %(used)s %(resource)s guaranteed to %(queue)s, which has %(guaranteed)s and uses %(used)s: "
    "it would then be below its guarantee, as law 4 demands."
)
MORE_MAX = gettext_noop(
    "A max of %(would)s %(resource)s for %(queue)s, which has %(max)s and uses %(used)s: "
    "the ask would then fit under it."
)


def prevention(decision: Decision, victims: Iterable[PodFacts] | None = None) -> tuple[Message, ...]:
    """What would each by itself have kept the laws from allowing this decision; ``victims``: said of these only.

    Nothing where it is another scheduler's rules that allowed it.
    """
    if decision.policy not in ("fence", priority.POLICY) or decision.outcome is not Outcome.PREEMPT:
        return ()
    if decision.dialect in FOREIGN:
        return ()
    chosen = tuple(verdict.pod for verdict in decision.victims) if victims is None else tuple(victims)
    if decision.policy == priority.POLICY:
        return tuple(_priority(decision, chosen, priority.PREVENTION))
    queues = {pod.queue for pod in chosen}
    found = [message for path in queues_of(decision) if path in queues for message in _guarantees(decision, path)]
    return (*found, *_priority(decision, chosen, HIGHER_PRIORITY))


def _guarantees(decision: Decision, path: str) -> list[Message]:
    """Law 2 holds a queue's guarantee against what the victims leave it, in everything that they hold."""
    standing = figures(decision, path)
    if standing is None:
        return []
    held = add({}, {})
    for verdict in decision.victims:
        held = add(held, verdict.pod.requests if verdict.pod.queue == path else {})
    found = []
    for resource, amount in held.items():
        if amount <= 0 or resource == PODS:
            continue
        params = {
            "queue": short_name(path),
            "resource": resource,
            "kept": format_amount(resource, standing.after.get(resource, 0)),
        }
        if resource in standing.guaranteed:
            guaranteed = format_amount(resource, standing.guaranteed[resource])
            found.append(Message(MORE_GUARANTEE, {**params, "guaranteed": guaranteed}))
        else:
            found.append(Message(FIRST_GUARANTEE, params))
    return found


def _priority(decision: Decision, chosen: tuple[PodFacts, ...], template: str) -> list[Message]:
    """One victim of too high a priority breaks the whole set."""
    return [
        Message(
            template,
            {"asker": str(decision.ask.priority), "pod": Name(pod.name), "priority": str(pod.priority)},
        )
        for pod in chosen
    ]


def remedies(decision: Decision) -> tuple[Message, ...]:
    """What would all together make an ask eligible that asks too much or too early for its guarantees.

    Nothing where another rule forbids it, or where the trace does not hold every queue that has a say.
    """
    if decision.reason not in (Reason.AT_GUARANTEE, Reason.OVER_MAX) or figures(decision, decision.ask.queue) is None:
        return ()
    found: list[Message] = []
    for resource, wanted in asked(decision).items():
        entitling = _entitling(decision, resource)
        if entitling is None:
            return ()
        found += _claim(entitling, resource) + _under_max(decision, resource, wanted)
    return tuple(found)


def _entitling(decision: Decision, resource: str) -> tuple[QueueFigures, ...] | None:
    """The nearest queue upwards that has a guarantee in it, if any; None where figures on the way are missing."""
    path = decision.ask.queue
    while path:
        standing = figures(decision, path)
        if standing is None:
            return None
        if resource in standing.guaranteed:
            return (standing,)
        path = path.rpartition(".")[0]
    return ()


def _claim(entitling: tuple[QueueFigures, ...], resource: str) -> list[Message]:
    """Law 4 demands usage below the guarantee in everything that is asked and guaranteed."""
    return [
        Message(
            CLAIM_GUARANTEE,
            {
                "queue": short_name(standing.path),
                "resource": resource,
                "used": format_amount(resource, standing.before.get(resource, 0)),
                "guaranteed": format_amount(resource, standing.guaranteed[resource]),
            },
        )
        for standing in entitling
        if standing.before.get(resource, 0) >= standing.guaranteed[resource]
    ]


def _under_max(decision: Decision, resource: str, wanted: int) -> list[Message]:
    """An eviction frees nothing under the leaf's own max, as nothing is taken from the leaf."""
    standing = figures(decision, decision.ask.queue)
    if standing is None or resource not in standing.max:
        return []
    used = standing.before.get(resource, 0)
    if used + wanted <= standing.max[resource]:
        return []
    return [
        Message(
            MORE_MAX,
            {
                "queue": short_name(standing.path),
                "resource": resource,
                "used": format_amount(resource, used),
                "would": format_amount(resource, used + wanted),
                "max": format_amount(resource, standing.max[resource]),
            },
        )
    ]
