"""Policy ``fence``, dialect ``yunikorn``: guarantees and fences as YuniKorn implements them.

Source: Application.tryAllocate and Preemptor.TryPreemption of yunikorn-core, in its version of 2026-07.
"""

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility, unsupported_rules
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Rows
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.model.objects import Pod
from engine.model.quantities import CPU, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn import design_rules, required_node
from engine.policies.yunikorn.node_candidates import NodeCandidates
from engine.policies.yunikorn.parameters import Parameters
from engine.policies.yunikorn.pod_table import opted_out, table_of
from engine.policies.yunikorn.queue_balances import QueueBalances, figures
from engine.policies.yunikorn.quirks import ALL, Quirks
from engine.policies.yunikorn.victims import additional_victims, final_victims

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
    if ask.queue is None:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE)
    if rules := unsupported_rules(snapshot, ask):
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    if (unread := next((pod.queue for pod in snapshot.unread_for(ask) if pod.queue in tree), None)) is not None:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD, detail=unread)
    full = attempt.balances.full(ask.queue, ask.requests)
    if ask.required_node is not None:
        return _for_one_node(attempt, ask.required_node, full)
    node = attempt.node_with_room() if full is None else None
    if node is not None:
        return attempt.answer(Outcome.FITS, Reason.FITS, node=node)
    node = None if quirks.leaving_hold else attempt.node_with_room(soon=True)
    if node is not None and design_rules.within_max_soon(attempt.balances, ask):
        return attempt.answer(Outcome.FITS, Reason.FITS_SOON, node=node)
    return _not_eligible(attempt, ask.queue, parameters) or _preempt(attempt, ask.queue, nodes_tried=full is None)


class YuniKornAttempt:
    """The state of preemption for one pending pod: the snapshot, the tree, queue balances and feasibility checks."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> None:
        self.snapshot, self.tree, self.ask, self.quirks = snapshot, tree, ask, quirks
        self.columns = snapshot.columns
        self.table = table_of(snapshot, tree, quirks)
        self.balances = QueueBalances(snapshot, tree, self.table, quirks)
        self.feasibility = Feasibility(snapshot, ask)
        self.first = self.feasibility.refusing()
        self.reserved = np.zeros(len(snapshot.nodes), np.bool_)
        place = self.columns.place
        self.reserved[[place[held.node] for held in snapshot.reservations if held.node in place]] = True

    def refusing(self, *, soon: bool) -> Rows:
        """Return for each node (by place) the number of the check that refuses the pending pod there, or FITS.

        ``soon``: whether to count the capacity of terminating pods as free. YuniKorn itself does not (quirk
        ``leaving_hold``).
        """
        if not soon or self.quirks.leaving_hold:
            return self.first
        return self.feasibility.refusing(DepartingPods(self.columns, self.columns.terminating))

    def node_with_room(self, *, soon: bool = False) -> str | None:
        """Return the first node where the pending pod fits without eviction, None if there is none.

        ``soon``: whether to count the capacity of terminating pods as free.
        """
        places = np.flatnonzero((self.refusing(soon=soon) == FITS) & ~self.reserved & ~self.columns.unschedulable)
        return self.columns.nodes[places[0]].name if len(places) else None

    def answer(
        self,
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
                reason=PodReason.LAST_RESORT if self.unwilling(pod) else PodReason.OVER_GUARANTEE,
                detail=pod.queue or "",
            )
            for pod in victims
        )
        return Decision(
            policy=POLICY,
            dialect=DIALECT,
            ask=PodFacts.of(self.ask),
            outcome=outcome,
            reason=reason,
            detail=detail,
            due_ms=due_ms,
            node=node,
            victims=verdicts,
            trace=msgspec.structs.replace(trace, queues=figures(self.balances, self.ask, victims)),
        )

    def unwilling(self, pod: Pod) -> bool:
        """Return whether a pod opted out of preemption."""
        return opted_out(pod, own_annotation=self.quirks.own_annotation)


def _not_eligible(attempt: YuniKornAttempt, leaf: str, parameters: Parameters) -> Decision | None:
    """Return a decision with the reason why the pending pod may not preempt, None if it may."""
    ask = attempt.ask
    if not parameters.preemption:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.TURNED_OFF)
    if ask.never_preempts:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not attempt.quirks.disabled_preempts and (disabled := attempt.tree.disabled_by(leaf)):
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    if not parameters.check_delay:
        return None
    since_ms = ask.created_ms // 1000 * 1000 if attempt.quirks.delay_from_creation else ask.unschedulable_ms
    if since_ms is None:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.NOT_TRIED)
    due_ms = since_ms + attempt.tree.delay_ms(leaf, inherited=attempt.quirks.delay_from_creation)
    if attempt.snapshot.now_ms < due_ms:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.DELAY, due_ms=due_ms)
    return None


def _preempt(attempt: YuniKornAttempt, leaf: str, *, nodes_tried: bool) -> Decision:
    found = NodeCandidates(attempt.snapshot, attempt.balances, attempt.feasibility, nodes_tried=nodes_tried)
    trace = Trace(
        fence=found.reach.root if found.reach.root != attempt.tree.root else "",
        entitling={name: leaf for name in attempt.ask.requests if name in attempt.tree[leaf].guaranteed},
        candidates=len(found.candidates),
        excluded_counts=found.excluded(),
    )
    if not len(found.candidates):
        fenced = trace.fence and _BEYOND.issuperset(trace.excluded_counts)
        reason, detail = (Reason.FENCE, trace.fence) if fenced else (Reason.NO_CANDIDATES, "")
        return attempt.answer(Outcome.NO_CANDIDATE, reason, detail=detail, trace=trace)
    if not found.entitled():
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.OVER_GUARANTEE, detail=leaf, trace=trace)
    best = found.best(attempt.reserved)
    trace = msgspec.structs.replace(trace, nodes=found.passed_over(best), node_counts=found.node_counts(best))
    if best is None:
        return attempt.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=trace)
    chosen = best.victims[: best.index + 1]
    further = (
        additional_victims(attempt.balances, attempt.ask, chosen, found.others(chosen))
        if attempt.quirks.other_nodes
        else []
    )
    if further is None:
        return attempt.answer(Outcome.NO_CANDIDATE, Reason.OVER_GUARANTEE, detail=leaf, trace=trace)
    if not chosen and not further:
        return attempt.answer(Outcome.NO_CANDIDATE, Reason.QUEUE_FULL, detail=leaf, trace=trace)
    victims = final_victims(
        attempt.balances,
        attempt.ask,
        best,
        (*chosen, *further),
        partial(_still_kept_out, attempt, found, best.node.name),
    )
    if victims is None:
        reason = Reason.VICTIMS_TOO_SMALL if attempt.quirks.free_space_ignored else Reason.NO_ROOM
        return attempt.answer(Outcome.NO_CANDIDATE, reason, detail=best.node.name, trace=trace)
    return attempt.answer(Outcome.PREEMPT, Reason.BELOW_GUARANTEE, node=best.node.name, victims=victims, trace=trace)


def _still_kept_out(attempt: YuniKornAttempt, found: NodeCandidates, node: str, victims: Sequence[Pod]) -> bool:
    """Return whether something besides amounts on the node keeps the pending pod out once the victims are gone.

    The quirks decide whether a max of its queues and the other rules of the node are checked.
    """
    if not attempt.quirks.max_unchecked and not design_rules.within_max(attempt.balances, attempt.ask, victims):
        return True
    place = attempt.columns.place[node]
    gone = [*victims, *found.leaving(place)]
    return not attempt.quirks.amounts_alone and design_rules.kept_out(attempt.feasibility.on(place), gone)


def _for_one_node(attempt: YuniKornAttempt, name: str, full: tuple[str, str] | None) -> Decision:
    """Decide for a DaemonSet pod, which is meant for the node ``name``.

    ``full``: the queue and the resource in which the pod would exceed a max, None if it would not.
    """
    ask = attempt.ask
    if full is not None:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.OVER_MAX, detail=" ".join(full))
    place = attempt.snapshot.columns.place.get(name)
    if place is None:
        return attempt.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=name)
    if attempt.first[place] == FITS:
        return attempt.answer(Outcome.FITS, Reason.FITS, node=name)
    if not attempt.quirks.daemonset_unbounded and ask.never_preempts:
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not attempt.quirks.disabled_preempts and (disabled := attempt.tree.disabled_by(ask.queue or "")):
        return attempt.answer(Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    if attempt.refusing(soon=True)[place] == FITS:
        return attempt.answer(Outcome.FITS, Reason.FITS_SOON, node=name)
    here = [attempt.columns.pods[row] for row in attempt.columns.rows(place)]
    leaving = [] if attempt.quirks.leaving_hold else [pod for pod in here if pod.terminating]
    rules = required_node.RequiredNodeRules(
        free=attempt.snapshot.free(attempt.snapshot.nodes[place], without=leaving),
        opted_out=attempt.unwilling,
        kept_out=lambda victims: design_rules.kept_out(attempt.feasibility.on(place), [*victims, *leaving]),
    )
    victims = required_node.victims(attempt.balances, ask, here, rules)
    if not victims:
        return attempt.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=name)
    return attempt.answer(Outcome.PREEMPT, Reason.DAEMONSET, node=name, victims=victims)


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
