"""Explains what holds back evictions in a whole cluster, or in a queue's subtree, for pages and alerts."""

from collections.abc import Mapping

from engine.explain.decision.verdicts import INTERLOCKS
from engine.model.decision import Interlock
from engine.model.message import Message, gettext_noop

HEADINGS: dict[Interlock, str] = {
    Interlock.PAUSED: gettext_noop("Paused"),
    Interlock.QUEUE_PAUSED: gettext_noop("%(queue)s paused"),
    Interlock.DENY_WINDOW: gettext_noop("Evictions denied"),
    Interlock.ALLOW_WINDOW: gettext_noop("Outside the hours for evictions"),
    Interlock.WATCH_GAP: gettext_noop("A gap in what is seen"),
    Interlock.CLOCK_SKEW: gettext_noop("Clocks differ"),
    Interlock.NODES_NOT_READY: gettext_noop("Too many nodes not ready"),
    Interlock.FAILING_WRITES: gettext_noop("Requests fail"),
    Interlock.EVICTIONS_PER_PASS: gettext_noop("Budget of a pass used up"),
    Interlock.EVICTIONS_PER_MINUTE: gettext_noop("Budget of a minute used up"),
    Interlock.EVICTIONS_PER_QUEUE: gettext_noop("Budget of a queue used up"),
    Interlock.EVICTIONS_PER_NAMESPACE: gettext_noop("Budget of a namespace used up"),
    Interlock.EVICTIONS_PER_NODE: gettext_noop("Budget of a node used up"),
    Interlock.RESERVED_NODES: gettext_noop("No more nodes may be reserved"),
    Interlock.DISRUPTION_BUDGET: gettext_noop("Disruption budgets"),
    Interlock.COOL_DOWN: gettext_noop("Cool-down"),
    Interlock.LEASE: gettext_noop("Another installation acts"),
    Interlock.RIVAL: gettext_noop("Another scheduler has appeared"),
    Interlock.SCOPE: gettext_noop("Enforce is limited"),
    Interlock.STOPPED: gettext_noop("Stopped in the cluster"),
    Interlock.NO_LEASE: gettext_noop("The lease can’t be taken"),
}
NOTHING = gettext_noop("Nothing is evicted.")
AROUND = gettext_noop("Nothing is evicted for %(queue)s and what lies below, nor from there.")
_UNTIL_SOMEBODY: dict[Interlock, str] = {
    Interlock.RIVAL: gettext_noop(
        "It may preempt beside us. Nothing is evicted until somebody sets enforce again and confirms it with the "
        "cluster’s name."
    ),
    Interlock.SCOPE: gettext_noop(
        "Pods are evicted only where the ask and all victims are in these queues and namespaces. Everything else is "
        "only advised."
    ),
    Interlock.STOPPED: gettext_noop(
        "Nothing is evicted while the lease in the cluster has the annotation scheduler-admin.io/stop. Take it away "
        "with kubectl to go on."
    ),
}
SENTENCES: dict[Interlock, str] = {
    Interlock.WATCH_GAP: gettext_noop("A kind of objects can’t be followed. Nothing is evicted until it can."),
    Interlock.CLOCK_SKEW: gettext_noop(
        "Our clock is %(seconds)s s before the API server’s (behind it if negative), so waits and ages may be wrong."
        " Nothing is evicted until the clocks are set."
    ),
    Interlock.NODES_NOT_READY: gettext_noop(
        "%(not_ready)s of %(nodes)s nodes are not ready; beyond 45 %% the fault may lie between them and us."
        " Nothing is evicted until more are."
    ),
    Interlock.FAILING_WRITES: gettext_noop(
        "%(failed)s of the last %(requests)s requests to evict or reserve failed. Nothing is evicted, but for one"
        " decision that tries again every minute."
    ),
}
"""The sentences of circuit breakers, with their figures."""


def hold_heading(safeguard: Interlock, queue: str) -> Message:
    """Return the heading of a hold, in a few words."""
    return _with(HEADINGS[safeguard], {"queue": queue})


def hold_sentence(safeguard: Interlock, queue: str, figures: Mapping[str, int]) -> Message:
    """Return the sentence that explains a hold, with its numbers."""
    if safeguard in SENTENCES:
        return _with(SENTENCES[safeguard], figures)
    if safeguard in _UNTIL_SOMEBODY:
        return Message(_UNTIL_SOMEBODY[safeguard])
    stopped = (Interlock.PAUSED, Interlock.QUEUE_PAUSED, Interlock.DENY_WINDOW, Interlock.ALLOW_WINDOW)
    if safeguard in stopped:
        return _with(AROUND, {"queue": queue}) if queue else Message(NOTHING)
    return Message(INTERLOCKS[safeguard])


def _with(template: str, params: Mapping[str, str | int]) -> Message:
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})
