"""Policy ``fence``, dialect ``yunikorn``: guarantees and fences as YuniKorn implements them.

Source: Application.tryAllocate and Preemptor.TryPreemption of yunikorn-core, in its version of 2026-07.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import msgspec

from engine.decision import Decision, NodeReason, NodeVerdict, Outcome, PodFacts, PodReason, PodVerdict, Reason, Trace
from engine.feasibility import FITS, Feasibility, Spot, unjudged
from engine.policies.fence.ground import ground_of
from engine.policies.fence.usage import usage_of
from engine.policies.yunikorn import design, required
from engine.policies.yunikorn.books import Books, fits
from engine.policies.yunikorn.quirks import ALL, Quirks
from engine.policies.yunikorn.reach import Reach, reach
from engine.policies.yunikorn.victims import EMPTY, Plan, more, on_node, order, score, trimmed
from engine.queues import QueueTree
from engine.resources import CPU, Amounts
from engine.snapshot import Node, Pod, Snapshot

POLICY = "fence"
DIALECT = "yunikorn"
_BATCH = 10
"""So many nodes are asked at once; the next ones only where none of them was good enough."""
_NODES_IN_FULL = 20


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this dialect: what a partition of queues.yaml says of preemption."""

    preemption: bool = True
    """Whether asks may preempt at all."""
    check_delay: bool = True
    """Whether asks wait for their queue's delay; off only to ask what would happen."""


def decide(
    snapshot: Snapshot,
    tree: QueueTree,
    ask: Pod,
    parameters: Parameters = Parameters(),  # noqa: B008 - frozen
    quirks: Quirks = ALL,
) -> Decision:
    """Which pods YuniKorn would have go, on which node, for ``ask`` (a pending pod of the snapshot), or why none."""
    case = _Case(snapshot.without_reservation(ask.uid), tree, ask, quirks)
    if ask.queue is None:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE)
    if rules := unjudged(snapshot, ask):
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    headroom = case.books.headroom(ask.queue)
    within = fits(ask.requests, headroom, unlimited=True)
    if ask.required_node is not None:
        return _for_one_node(case, ask.required_node, within=within)
    node = case.node_with_room() if within else None
    if node is not None:
        return case.answer(Outcome.FITS, Reason.FITS, node=node.name)
    node = None if case.quirks.leaving_hold else case.node_with_room(soon=True)
    if node is not None and design.within_max_soon(case.books, ask):
        return case.answer(Outcome.FITS, Reason.FITS_SOON, node=node.name)
    return _not_eligible(case, ask.queue, parameters) or _preempt(case, ask.queue, nodes_tried=within)


class _Case:
    """One question: the snapshot, the tree, the ask, and what was worked out from them once."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, quirks: Quirks) -> None:
        self.snapshot, self.tree, self.ask, self.quirks = snapshot, tree, ask, quirks
        self.books = Books(snapshot, tree, quirks)
        self.reserved = {held.node for held in snapshot.reservations}
        self.feasibility = Feasibility(snapshot, ask)
        self.first = self.feasibility.refusing()

    def opted_out(self, pod: Pod) -> bool:
        """Whether a pod would rather not be taken."""
        own = pod.own_opt_out if self.quirks.own_annotation else None
        return pod.opted_out if own is None else own

    def claimed(self, leaf: str) -> bool:
        """Whether a leaf lies inside a queue whose guarantee the ask claims."""
        paths = design.claims(self.tree, self.ask.queue or "", self.ask.requests).values()
        return any(self.tree.contains(path, leaf) for path in paths)

    def leaving(self, node: str) -> list[Pod]:
        """Whose room on a node counts as free already."""
        pods = [] if self.quirks.leaving_hold else self.snapshot.pods_by_node.get(node, ())
        return [pod for pod in pods if pod.terminating]

    def spot(self, node: str) -> Spot:
        """The node, to be asked."""
        return self.feasibility.on(self.snapshot.columns.place[node])

    def node_with_room(self, *, soon: bool = False) -> Node | None:
        """A node where the ask fits without eviction; ``soon``: once those on their way out are gone."""
        places = (place for place in range(len(self.snapshot.nodes)) if self.fits(place, soon=soon))
        nodes = (self.snapshot.nodes[place] for place in places)
        return next((node for node in nodes if node.name not in self.reserved and not node.unschedulable), None)

    def fits(self, place: int, *, soon: bool) -> bool:
        """Whether it fits on the node there."""
        if self.first[place] == FITS or not soon:
            return bool(self.first[place] == FITS)
        leaving = self.leaving(self.snapshot.nodes[place].name)
        return bool(leaving) and self.feasibility.on(place).refusal([pod.uid for pod in leaving]) is None

    def free(self, node: Node) -> Amounts:
        """What is free on a node; pods on their way out hold theirs."""
        return self.snapshot.free(node, without=self.leaving(node.name))

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
        usage = usage_of(ground_of(self.snapshot, self.tree), self.snapshot)
        verdicts = tuple(
            PodVerdict(
                pod=PodFacts.of(pod),
                reason=PodReason.LAST_RESORT if self.opted_out(pod) else PodReason.OVER_GUARANTEE,
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
            trace=msgspec.structs.replace(trace, queues=usage.figures(self.ask.queue, self.ask.requests, victims)),
        )


def _not_eligible(case: _Case, leaf: str, parameters: Parameters) -> Decision | None:
    """Why the ask may not preempt, None when it may."""
    ask = case.ask
    if not parameters.preemption:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.TURNED_OFF)
    if ask.never_preempts:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not case.quirks.disabled_preempts and (disabled := case.tree.disabled_by(leaf)):
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    if not parameters.check_delay:
        return None
    since_ms = ask.created_ms // 1000 * 1000 if case.quirks.delay_from_creation else ask.unschedulable_ms
    if since_ms is None:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.NOT_TRIED)
    due_ms = since_ms + case.tree.delay_ms(leaf)
    if case.snapshot.now_ms < due_ms:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.DELAY, due_ms=due_ms)
    return None


def _preempt(case: _Case, leaf: str, *, nodes_tried: bool) -> Decision:
    ask, books = case.ask, case.books
    found = reach(case.tree, books, ask, leaf)
    verdicts = {pod.uid: _verdict(case, found, pod) for pod in case.snapshot.pods if pod.node is not None}
    candidates = [pod for pod in case.snapshot.pods if pod.node is not None and verdicts[pod.uid] is None]
    candidates.sort(key=lambda pod: order(pod, opted_out=case.opted_out(pod)))
    trace = Trace(
        fence=found.root if found.root != case.tree.root else "",
        entitling={name: leaf for name in ask.requests if name in case.tree[leaf].guaranteed},
        candidates=len(candidates),
        excluded_counts=dict(sorted(Counter(str(why) for why in verdicts.values() if why is not None).items())),
    )
    if not candidates:
        reason = Reason.FENCE if trace.fence else Reason.NO_CANDIDATES
        return case.answer(Outcome.NO_CANDIDATE, reason, detail=trace.fence, trace=trace)
    if not _entitled(case, leaf, candidates):
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.OVER_GUARANTEE, detail=leaf, trace=trace)
    plans, passed = _plans(case, candidates, nodes_tried=nodes_tried)
    best = _best(case, plans, candidates)
    dearer = [
        NodeVerdict(node=plan.node.name, reason=NodeReason.DEARER, detail="victims", victims=plan.index + 1)
        for plan in plans
        if best is None or plan.node is not best.node
    ]
    trace = msgspec.structs.replace(
        trace,
        nodes=tuple((dearer + passed)[:_NODES_IN_FULL]),
        node_counts=dict(sorted(Counter(str(one.reason) for one in dearer + passed).items())),
    )
    if best is None:
        return case.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, trace=trace)
    chosen = best.victims[: best.index + 1] if case.quirks.max_unchecked else best.victims
    left = [pod for pod in candidates if pod not in chosen]
    further = more(books, ask, chosen, left) if case.quirks.other_nodes else []
    if further is None:
        return case.answer(Outcome.NO_CANDIDATE, Reason.OVER_GUARANTEE, detail=leaf, trace=trace)
    if not chosen and not further:
        return case.answer(Outcome.NO_CANDIDATE, Reason.QUEUE_FULL, detail=leaf, trace=trace)
    victims = trimmed(books, ask, best, (*chosen, *further), partial(_lacking, case, best.node))
    if victims is None:
        reason = Reason.VICTIMS_TOO_SMALL if case.quirks.free_space_ignored else Reason.NO_ROOM
        return case.answer(Outcome.NO_CANDIDATE, reason, detail=best.node.name, trace=trace)
    return case.answer(Outcome.PREEMPT, Reason.BELOW_GUARANTEE, node=best.node.name, victims=victims, trace=trace)


def _lacking(case: _Case, node: Node, victims: Sequence[Pod]) -> bool:
    """Whether something besides amounts still keeps the ask out with the victims gone, as far as that is looked at."""
    if not case.quirks.max_unchecked and not design.within_max(case.books, case.ask, victims):
        return True
    gone = [*victims, *case.leaving(node.name)]
    return not case.quirks.amounts_alone and design.kept_out(case.spot(node.name), gone)


def _verdict(case: _Case, found: Reach, pod: Pod) -> PodReason | None:
    """Why a bound pod may not go, None where it may."""
    if pod.queue is None or pod.queue not in found.leaves:
        return PodReason.NO_QUEUE
    leaf = found.leaves[pod.queue]
    if leaf.reason is not None:
        return leaf.reason
    if pod.terminating:
        return PodReason.TERMINATING
    if pod.required_node is not None or (pod.daemonset and not case.quirks.daemonset_by_affinity):
        return PodReason.DAEMONSET
    if (pod.namespace, pod.application) == (case.ask.namespace, case.ask.application):
        return PodReason.SAME_APPLICATION
    if leaf.limit is not None and pod.priority > leaf.limit:
        return PodReason.HIGHER_PRIORITY
    if not case.quirks.opted_out_taken and case.opted_out(pod):
        return PodReason.OPTED_OUT
    return None if case.quirks.inside_claim or not case.claimed(pod.queue) else PodReason.ENTITLED_SUBTREE


def _entitled(case: _Case, leaf: str, candidates: Sequence[Pod]) -> bool:
    """Whether what is left of the asker's guarantee holds the ask, now or with all candidates gone."""
    ask, trial = case.ask, case.books.copy()
    if not case.quirks.leaving_uncounted:
        design.count_leaving(trial, case.snapshot)
    if not case.quirks.whole_ask:
        return design.entitled(trial, leaf, ask.requests)
    remaining = trial.remaining(leaf, leaf)
    if remaining is not None and all(remaining.get(name, amount) >= amount for name, amount in ask.requests.items()):
        return True
    trial.add(leaf, ask.requests)
    for pod in candidates:
        trial.remove(pod.queue or "", pod.requests)
    remaining = trial.remaining(leaf, leaf)
    return remaining is not None and all(remaining.get(name, 0) >= 0 for name in ask.requests)


def _plans(case: _Case, candidates: Sequence[Pod], *, nodes_tried: bool) -> tuple[list[Plan], list[NodeVerdict]]:
    """What would go on every node, the fewest first, and why others are passed over."""
    by_node: dict[str, list[Pod]] = {}
    for pod in candidates:
        by_node.setdefault(pod.node or "", []).append(pod)
    plans: list[Plan] = []
    passed: list[NodeVerdict] = []
    for node in case.snapshot.nodes:
        reason = _unavailable(case, node)
        here = by_node.get(node.name, [])
        plan = None if reason else on_node(case.books, case.ask, node, case.free(node), here)
        if plan is not None and (plan.victims or not nodes_tried):
            plans.append(plan)
        else:
            passed.append(NodeVerdict(node=node.name, reason=reason or _why_not(here), victims=len(here)))
    plans.sort(key=lambda plan: (plan.index, plan.node.name))
    return plans, passed


def _why_not(here: Sequence[Pod]) -> NodeReason:
    return NodeReason.NOT_ENOUGH if here else NodeReason.NO_CANDIDATES


def _unavailable(case: _Case, node: Node) -> NodeReason | None:
    if node.name in case.reserved:
        return NodeReason.RESERVED
    if node.unschedulable:
        return NodeReason.UNSCHEDULABLE
    return None if fits(case.ask.requests, node.allocatable) else NodeReason.TOO_SMALL


def _best(case: _Case, plans: Sequence[Plan], candidates: Sequence[Pod]) -> Plan | None:
    """The least of the first plans of which one is good enough: none that opted out or came first among its victims."""
    best: Plan | None = None
    for start in range(0, len(plans), _BATCH):
        for plan in plans[start : start + _BATCH]:
            tried = _with_all_rules(case, plan)
            if tried is None:
                continue
            rated = msgspec.structs.replace(tried, score=_score(case, tried, candidates))
            if best is None or rated.score < best.score:
                best = rated
        if best is not None and best.score < 2**32:
            break
    return best


def _score(case: _Case, plan: Plan, candidates: Sequence[Pod]) -> int:
    """The least is best. Looked at are the node's first candidates, though it may be others that would go."""
    here = [pod for pod in candidates if pod.node == plan.node.name]
    if not here:
        return EMPTY
    return score((pod, case.opted_out(pod)) for pod in here[: plan.index + 1]) + plan.index + 1


def _with_all_rules(case: _Case, plan: Plan) -> Plan | None:
    """With so many of its victims gone that the node's rules let the ask in; None where they never do."""
    spot, leaving = case.spot(plan.node.name), [pod.uid for pod in case.leaving(plan.node.name)]
    for index in range(plan.index, len(plan.victims)):
        if spot.refusal([*leaving, *(pod.uid for pod in plan.victims[: index + 1])]) is None:
            return msgspec.structs.replace(plan, index=index)
    return plan if plan.index < 0 and spot.refusal() is None else None


def _for_one_node(case: _Case, name: str, *, within: bool) -> Decision:
    """A DaemonSet's ask, which is for one node."""
    ask = case.ask
    if not within:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.OVER_MAX, detail=case.books.full(ask.queue or "", ask.requests))
    place = case.snapshot.columns.place.get(name)
    if place is None:
        return case.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=name)
    if case.first[place] == FITS:
        return case.answer(Outcome.FITS, Reason.FITS, node=name)
    if not case.quirks.daemonset_unbounded and ask.never_preempts:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=ask.priority_class)
    if not case.quirks.disabled_preempts and (disabled := case.tree.disabled_by(ask.queue or "")):
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.DISABLED, detail=disabled)
    node, leaving = case.snapshot.nodes[place], case.leaving(name)
    if case.fits(place, soon=True):
        return case.answer(Outcome.FITS, Reason.FITS_SOON, node=name)
    rules = required.Rules(
        free=case.free(node),
        opted_out=case.opted_out,
        kept_out=lambda victims: design.kept_out(case.spot(name), [*victims, *leaving]),
    )
    victims = required.victims(case.books, ask, case.snapshot.pods_by_node[name], rules)
    if not victims:
        return case.answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, detail=name)
    return case.answer(Outcome.PREEMPT, Reason.DAEMONSET, node=name, victims=victims)


def reckoning(snapshot: Snapshot, tree: QueueTree, asker: str | None) -> dict[str, dict[str, Amounts | None]]:
    """What of every queue may be preempted, and what is left of its guarantee, as YuniKorn reckons and calls them."""
    books = Books(snapshot, tree, ALL)
    return {
        path: {
            "preemptable": _theirs(books.preemptable(path)),
            "remaining_guaranteed": _theirs(books.remaining(path, asker)),
        }
        for path in tree.walk()
    }


def _theirs(amounts: Amounts | None) -> Amounts | None:
    return amounts if amounts is None else {"vcore" if name == CPU else name: one for name, one in amounts.items()}
