"""Explains what holds back evictions in a whole cluster, or in a queue's subtree, for pages and alerts."""

from collections.abc import Mapping

from engine.explain.decision.verdicts import INTERLOCKS
from engine.model.decision import Interlock
from engine.model.message import Message, gettext_noop

HEADINGS: dict[Interlock, str] = {
    Interlock.PAUSED: gettext_noop("Paused"),
    Interlock.QUEUE_PAUSED: gettext_noop("%(queue)s paused"),
    Interlock.DENY_WINDOW: gettext_noop("Evictions blocked"),
    Interlock.ALLOW_WINDOW: gettext_noop("Outside the eviction window"),
    Interlock.WATCH_GAP: gettext_noop("Cluster not fully observed"),
    Interlock.CLOCK_SKEW: gettext_noop("Clock difference"),
    Interlock.NODES_NOT_READY: gettext_noop("Too many nodes not ready"),
    Interlock.FAILING_WRITES: gettext_noop("API requests failing"),
    Interlock.EVICTIONS_PER_PASS: gettext_noop("Limit per pass reached"),
    Interlock.EVICTIONS_PER_MINUTE: gettext_noop("Limit per minute reached"),
    Interlock.EVICTIONS_PER_QUEUE: gettext_noop("Limit per queue reached"),
    Interlock.EVICTIONS_PER_NAMESPACE: gettext_noop("Limit per namespace reached"),
    Interlock.EVICTIONS_PER_NODE: gettext_noop("Limit per node reached"),
    Interlock.RESERVED_NODES: gettext_noop("Limit of reserved nodes reached"),
    Interlock.DISRUPTION_BUDGET: gettext_noop("Disruption budget"),
    Interlock.COOL_DOWN: gettext_noop("Cool-down"),
    Interlock.OTHER_INSTALLATION: gettext_noop("Another installation is active"),
    Interlock.OTHER_SCHEDULER: gettext_noop("New scheduler detected"),
    Interlock.OUT_OF_SCOPE: gettext_noop("Outside the scope of Enforce"),
    Interlock.STOPPED_IN_CLUSTER: gettext_noop("Stopped from the cluster"),
    Interlock.NO_LEASE: gettext_noop("No Lease"),
}
NOTHING = gettext_noop("No pods are evicted.")
AROUND = gettext_noop("No pods are evicted for %(queue)s or the queues below it, and none of their pods are evicted.")
_UNTIL_SOMEBODY: dict[Interlock, str] = {
    Interlock.OTHER_SCHEDULER: gettext_noop(
        "It may preempt pods at the same time as this engine. No pods are evicted until someone sets "
        "Enforce again and confirms it with the cluster’s name."
    ),
    Interlock.OUT_OF_SCOPE: gettext_noop(
        "Pods are evicted only if all pods involved are in these queues and namespaces. All other decisions are advice "
        "only."
    ),
    Interlock.STOPPED_IN_CLUSTER: gettext_noop(
        "No pods are evicted while the Lease in the cluster has the annotation scheduler-admin.io/stop. "
        "Remove it with kubectl to continue."
    ),
}
SENTENCES: dict[Interlock, str] = {
    Interlock.WATCH_GAP: gettext_noop("One kind of object can’t be watched. No pods are evicted until it can be."),
    Interlock.CLOCK_SKEW: gettext_noop(
        "This server’s clock is %(seconds)s s ahead of the API server’s (negative: behind), so waiting "
        "times and ages may be wrong. No pods are evicted until the clocks agree."
    ),
    Interlock.NODES_NOT_READY: gettext_noop(
        "%(not_ready)s of %(nodes)s nodes are not ready. Above 45 %%, the fault may be the network "
        "between the nodes and the control plane. No pods are evicted until more nodes are ready."
    ),
    Interlock.FAILING_WRITES: gettext_noop(
        "%(failed)s of the last %(requests)s requests to evict or reserve failed. No pods are evicted, "
        "except for one decision that is retried every minute."
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
