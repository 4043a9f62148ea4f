"""The effects of YuniKorn's deviations from its design: each decision is made again with one deviation turned off."""

import msgspec

from engine.model.decision import Decision, Outcome, Reason
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.decision import decide
from engine.policies.yunikorn.parameters import Parameters
from engine.policies.yunikorn.quirks.table import ALL, Quirk
from engine.policies.yunikorn.quota_change import Enforcement, enforce

_OF_QUOTAS = (Quirk.OWN_ANNOTATION, Quirk.QUOTA_DEAREST_FIRST, Quirk.QUOTA_COUNTS_UNDERUSE)
_OF_DAEMONSETS_ALONE = (
    Quirk.DAEMONSET_BELOW,
    Quirk.DAEMONSET_UNBOUNDED,
    Quirk.DAEMONSET_SPREE,
    Quirk.DAEMONSET_REGARDLESS,
)
_OF_DAEMONSETS = (
    Quirk.OWN_ANNOTATION,
    Quirk.OPTED_OUT_TAKEN,
    Quirk.DISABLED_PREEMPTS,
    Quirk.LEAVING_HOLD,
    Quirk.NO_REPRIEVE,
    *_OF_DAEMONSETS_ALONE,
    Quirk.DAEMONSET_BY_AFFINITY,
)
_OF_OTHERS = tuple(
    quirk
    for quirk in Quirk
    if quirk not in (*_OF_DAEMONSETS_ALONE, Quirk.QUOTA_DEAREST_FIRST, Quirk.QUOTA_COUNTS_UNDERUSE)
)
_NOTHING = (Outcome.NO_CANDIDATE, Outcome.NOT_ELIGIBLE)
"""The outcomes without evictions. A change from one of them to the other does not count as an effect."""


class QuirkEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One deviation that changed a decision, and the decision without it."""

    quirk: Quirk
    outcome: Outcome
    reason: Reason
    detail: str = ""
    """The detail of the reason as in a decision; the queue if a max was lowered."""
    node: str | None = None
    victims: tuple[str, ...] = ()
    """The victims as ``namespace/name``, in order."""


def effects(
    snapshot: Snapshot,
    tree: QueueTree,
    ask: Pod,
    decision: Decision,
    parameters: Parameters = Parameters(),  # noqa: B008 - frozen
) -> tuple[QuirkEffect, ...]:
    """Return the deviations without which ``decision`` would have another outcome, node or set of victims.

    ``decision``: this dialect's decision for ``ask`` on that snapshot.
    """
    can_matter = _OF_OTHERS if ask.required_node is None else _OF_DAEMONSETS
    without = ((quirk, decide(snapshot, tree, ask, parameters, ALL.without(quirk))) for quirk in can_matter)
    return tuple(_effect_of(quirk, one) for quirk, one in without if _result(one) != _result(decision))


def _result(one: Decision) -> tuple[bool, str | None, frozenset[str]]:
    return one.outcome in _NOTHING, one.node, frozenset(verdict.pod.key for verdict in one.victims)


def _effect_of(quirk: Quirk, decision: Decision) -> QuirkEffect:
    return QuirkEffect(
        quirk=quirk,
        outcome=decision.outcome,
        reason=decision.reason,
        detail=decision.detail,
        node=decision.node,
        victims=tuple(verdict.pod.key for verdict in decision.victims),
    )


def quota_effects(snapshot: Snapshot, tree: QueueTree) -> tuple[QuirkEffect, ...]:
    """Return the deviations that change the victims of a lowered max, for every queue that is over its max."""
    found = {enforcement.queue: enforcement for enforcement in enforce(snapshot, tree)}
    return tuple(
        _lowered(quirk, without)
        for quirk in _OF_QUOTAS
        for without in enforce(snapshot, tree, ALL.without(quirk))
        if _keys(without) != _keys(found[without.queue])
    )


def _lowered(quirk: Quirk, without: Enforcement) -> QuirkEffect:
    return QuirkEffect(
        quirk=quirk,
        outcome=Outcome.PREEMPT if without.victims else Outcome.NO_CANDIDATE,
        reason=Reason.LOWERED_MAX,
        detail=without.queue,
        victims=tuple(pod.key for pod in without.victims),
    )


def _keys(one: Enforcement) -> set[str]:
    return {pod.key for pod in one.victims}
