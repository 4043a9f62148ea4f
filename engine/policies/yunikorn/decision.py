"""Policy ``fence``, dialect ``yunikorn``: guarantees and fences as YuniKorn implements them.

Source: Application.tryAllocate and Preemptor.TryPreemption of yunikorn-core, in its version of 2026-07.
"""

from collections.abc import Sequence
from functools import partial

import msgspec

from engine.feasibility import FITS, unsupported_rules
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod
from engine.model.quantities import CPU, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.gangs import placeholder_for
from engine.policies.yunikorn import required_node
from engine.policies.yunikorn.attempt import YuniKornAttempt
from engine.policies.yunikorn.candidates import YuniKornCandidates
from engine.policies.yunikorn.node_candidates import search_nodes
from engine.policies.yunikorn.parameters import Parameters
from engine.policies.yunikorn.pod_table import table_of
from engine.policies.yunikorn.queue_balances import QueueBalances, figures
from engine.policies.yunikorn.quirks import design_rules
from engine.policies.yunikorn.quirks.table import ALL, Quirks
from engine.policies.yunikorn.trace import trace_of
from engine.policies.yunikorn.victims.selection import Plan, additional_victims, final_victims

POLICY = "fence"
DIALECT = "yunikorn"
_BEYOND = {PodReason.OUTSIDE_FENCE, PodReason.SAME_QUEUE, PodReason.NO_QUEUE}
"""The reasons for excluded pods that together mean that the fence leaves no candidates."""


def decide(
    snapshot: Snapshot,
    tree: QueueTree,
    ask: Pod,
    parameters: Parameters = Parameters(),  # noqa: B008 - frozen
    quirks: Quirks = ALL,
) -> Decision:
    """Decide which pods YuniKorn would evict, on which node, for ``ask`` (a pending pod of the snapshot), or why none.

    ``quirks``: the deviations from YuniKorn's design that are in effect.
    """
    attempt = YuniKornAttempt(snapshot.without_reservation(ask.uid), tree, ask, quirks)
    undecidable = _undecidable(attempt)
    if undecidable is not None:
        return undecidable
    full = attempt.balances.full(attempt.leaf, ask.requests)
    if ask.required_node is not None:
        return _for_one_node(attempt, ask.required_node, full)
    return (
        _fits_already(attempt, full=full is not None)
        or _not_eligible(attempt, parameters)
        or _preempt(attempt, nodes_tried=full is None)
    )


def _undecidable(attempt: YuniKornAttempt) -> Decision | None:
    """Return a decision with the reason why nothing can be decided for the pending pod, None if it can."""
    ask, tree, snapshot = attempt.ask, attempt.tree, attempt.snapshot
    if ask.queue is None:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE)
    if rules := unsupported_rules(snapshot, ask):
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    if (placeholder := placeholder_for(snapshot, ask)) is not None:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.PLACEHOLDER, detail=placeholder.key)
    if (unread := next((pod.queue for pod in snapshot.unread_for(ask) if pod.queue in tree), None)) is not None:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.UNREAD, detail=unread)
    return None


def _fits_already(attempt: YuniKornAttempt, *, full: bool) -> Decision | None:
    """Return a decision with the node that has room, now or once terminating pods are gone, None if none has.

    ``full``: whether the pending pod would exceed a max of its queues.
    """
    node = None if full else attempt.node_with_room()
    if node is not None:
        return _answer(attempt, Outcome.FITS, Reason.FITS, node=node)
    node = None if attempt.quirks.leaving_hold else attempt.node_with_room(soon=True)
    if node is not None and design_rules.within_max_soon(attempt.balances, attempt.ask):
        return _answer(attempt, Outcome.FITS, Reason.FITS_SOON, node=node)
    return None


def _not_eligible(attempt: YuniKornAttempt, parameters: Parameters) -> Decision | None:
    """Return a decision with the reason why the pending pod may not preempt, None if it may.

    Source: Preemptor.CheckPreconditions of yunikorn-core.
    """
    ask = attempt.ask
    if not parameters.preemption:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.TURNED_OFF)
    if ask.never_preempts:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not attempt.quirks.disabled_preempts and (disabled := attempt.tree.disabled_by(attempt.leaf)):
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    if not parameters.check_delay:
        return None
    since_ms = ask.created_ms // 1000 * 1000 if attempt.quirks.delay_from_creation else ask.unschedulable_ms
    if since_ms is None:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.NOT_TRIED)
    due_ms = since_ms + attempt.tree.delay_ms(attempt.leaf, inherited=attempt.quirks.delay_from_creation)
    if attempt.snapshot.now_ms < due_ms:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.DELAY, due_ms=due_ms)
    return None


def _preempt(attempt: YuniKornAttempt, *, nodes_tried: bool) -> Decision:
    """Determine the candidates, plan victims on the nodes, choose the node, and settle the victims."""
    candidates = YuniKornCandidates(attempt)
    if not len(candidates.rows):
        return _no_candidates(attempt, trace_of(candidates))
    if not candidates.entitled():
        trace = trace_of(candidates)
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.OVER_GUARANTEE, detail=attempt.leaf, trace=trace)
    node_candidates = search_nodes(candidates, nodes_tried=nodes_tried)
    trace = trace_of(candidates, node_candidates)
    if node_candidates.best is None:
        return _answer(attempt, Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=trace)
    return _evict(candidates, node_candidates.best, trace)


def _no_candidates(attempt: YuniKornAttempt, trace: Trace) -> Decision:
    fenced = trace.fence and _BEYOND.issuperset(trace.excluded_counts)
    reason, detail = (Reason.FENCE, trace.fence) if fenced else (Reason.NO_CANDIDATES, "")
    return _answer(attempt, Outcome.NO_CANDIDATE, reason, detail=detail, trace=trace)


def _evict(candidates: YuniKornCandidates, plan: Plan, trace: Trace) -> Decision:
    """Settle the victims of the chosen plan, with additional ones on other nodes."""
    attempt, quirks = candidates.attempt, candidates.attempt.quirks
    chosen, further = plan.victims[: plan.index + 1], list[Pod]()
    if quirks.other_nodes:
        additional = additional_victims(attempt.balances, attempt.ask, chosen, candidates.others(chosen))
        if additional is None:
            return _answer(attempt, Outcome.NO_CANDIDATE, Reason.OVER_GUARANTEE, detail=attempt.leaf, trace=trace)
        further = additional
    if not chosen and not further:
        return _answer(attempt, Outcome.NO_CANDIDATE, Reason.QUEUE_FULL, detail=attempt.leaf, trace=trace)
    node = plan.node.name
    lacking = partial(_still_kept_out, attempt, node)
    victims = final_victims(attempt.balances, attempt.ask, plan, (*chosen, *further), lacking)
    if victims is None:
        reason = Reason.VICTIMS_TOO_SMALL if quirks.free_space_ignored else Reason.NO_ROOM
        return _answer(attempt, Outcome.NO_CANDIDATE, reason, detail=node, trace=trace)
    return _answer(attempt, Outcome.PREEMPT, Reason.BELOW_GUARANTEE, node=node, victims=victims, trace=trace)


def _still_kept_out(attempt: YuniKornAttempt, node: str, victims: Sequence[Pod]) -> bool:
    """Return whether something besides amounts on the node keeps the pending pod out once the victims are gone.

    The quirks decide whether a max of its queues and the other rules of the node are checked.
    """
    if not attempt.quirks.max_unchecked and not design_rules.within_max(attempt.balances, attempt.ask, victims):
        return True
    place = attempt.columns.place[node]
    gone = [*victims, *attempt.leaving(place)]
    return not attempt.quirks.amounts_alone and design_rules.kept_out(attempt.feasibility.on(place), gone)


def _for_one_node(attempt: YuniKornAttempt, name: str, full: tuple[str, str] | None) -> Decision:
    """Decide for a DaemonSet pod, which is meant for the node ``name``.

    ``full``: the queue and the resource in which the pod would exceed a max, None if it would not.

    Source: Application.tryReservedAllocate of yunikorn-core, which uses NewRequiredNodePreemptor.
    """
    if full is not None:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.OVER_MAX, detail=" ".join(full))
    place = attempt.snapshot.columns.place.get(name)
    if place is None:
        return _answer(attempt, Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=name)
    return (
        _fits_on(attempt, place, soon=False)
        or _daemonset_not_eligible(attempt)
        or _fits_on(attempt, place, soon=True)
        or _preempt_on(attempt, place)
    )


def _fits_on(attempt: YuniKornAttempt, place: int, *, soon: bool) -> Decision | None:
    """Return a decision if the node has room, now or once terminating pods are gone (``soon``), None if it has not."""
    if attempt.refusing(soon=soon)[place] != FITS:
        return None
    reason = Reason.FITS_SOON if soon else Reason.FITS
    return _answer(attempt, Outcome.FITS, reason, node=attempt.columns.nodes[place].name)


def _daemonset_not_eligible(attempt: YuniKornAttempt) -> Decision | None:
    """Return a decision with the reason why the DaemonSet pod may not preempt, None if it may."""
    ask = attempt.ask
    if not attempt.quirks.daemonset_unbounded and ask.never_preempts:
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not attempt.quirks.disabled_preempts and (disabled := attempt.tree.disabled_by(ask.queue or "")):
        return _answer(attempt, Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    return None


def _preempt_on(attempt: YuniKornAttempt, place: int) -> Decision:
    """Choose victims on the one node that the DaemonSet pod is meant for."""
    node = attempt.snapshot.nodes[place]
    here = [attempt.columns.pods[row] for row in attempt.columns.rows(place)]
    leaving = [] if attempt.quirks.leaving_hold else [pod for pod in here if pod.terminating]
    rules = required_node.RequiredNodeRules(
        free=attempt.snapshot.free(node, without=leaving),
        opted_out=attempt.unwilling,
        kept_out=lambda victims: design_rules.kept_out(attempt.feasibility.on(place), [*victims, *leaving]),
    )
    victims = required_node.victims(attempt.balances, attempt.ask, here, rules)
    if not victims:
        return _answer(attempt, Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=node.name)
    return _answer(attempt, Outcome.PREEMPT, Reason.DAEMONSET, node=node.name, victims=victims)


def _answer(
    attempt: YuniKornAttempt,
    outcome: Outcome,
    reason: Reason,
    *,
    detail: str = "",
    due_ms: int | None = None,
    node: str | None = None,
    victims: Sequence[Pod] = (),
    trace: Trace = Trace(),  # noqa: B008 - frozen
) -> Decision:
    verdicts = tuple(
        PodVerdict(
            pod=PodFacts.of(pod),
            reason=PodReason.LAST_RESORT if attempt.unwilling(pod) else PodReason.OVER_GUARANTEE,
            detail=pod.queue or "",
        )
        for pod in victims
    )
    return Decision(
        policy=POLICY,
        dialect=DIALECT,
        ask=PodFacts.of(attempt.ask),
        outcome=outcome,
        reason=reason,
        detail=detail,
        due_ms=due_ms,
        node=node,
        victims=verdicts,
        trace=msgspec.structs.replace(trace, queues=figures(attempt.balances, attempt.ask, victims)),
    )


def calculated_amounts(
    snapshot: Snapshot, tree: QueueTree, preemptor_leaf: str | None
) -> dict[str, dict[str, Amounts | None]]:
    """Return the preemptable amounts and the remaining guarantee of every queue, as YuniKorn calculates them.

    Resources have YuniKorn's names. ``preemptor_leaf``: the leaf of the preemptor, if any.
    """
    balances = QueueBalances(snapshot, tree, table_of(snapshot, tree, ALL), ALL)
    return {
        path: {
            "preemptable": _in_yunikorn_terms(balances.preemptable(path)),
            "remaining_guaranteed": _in_yunikorn_terms(balances.remaining(path, preemptor_leaf)),
        }
        for path in tree.walk()
    }


def _in_yunikorn_terms(amounts: Amounts | None) -> Amounts | None:
    return amounts if amounts is None else {"vcore" if name == CPU else name: one for name, one in amounts.items()}
