"""Policy ``fence``, dialect ``design``, the long way round: node by node, pod by pod, amounts in dictionaries.

Every law stands where it is checked. It shares nothing with engine.policies.fence but its parameters and what can run
where, and is what that is held against: decision and trace alike, to the byte.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from engine.feasibility import FITS, Feasibility, unsupported_rules
from engine.model.columns.departures import DepartingPods
from engine.model.decision import (
    Decision,
    NodeReason,
    NodeVerdict,
    Outcome,
    PodFacts,
    PodReason,
    PodVerdict,
    Reason,
    Trace,
)
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.fence import DIALECT, POLICY, Parameters
from tests.engine.plain_fence.candidates import ORDER, Claim, Verdict, candidates_of, judge
from tests.engine.plain_fence.nodes import Choice, cheapest, choose_on, limit_on
from tests.engine.plain_fence.usage import figures, ledger_of

_NODES_IN_FULL = 20
"""So many of the best nodes that were passed over are kept in a trace one by one; the rest are counted."""


def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters = Parameters()) -> Decision:  # noqa: B008 - frozen
    """Which pods are to go, on which node, for ``ask`` (a pending pod of the snapshot), or why none are."""
    case = _Case(snapshot.without_reservation(ask.uid), tree, ask, parameters)
    if ask.queue is None:
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE)
    if rules := unsupported_rules(snapshot, ask):
        return case.answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(rules))
    for leaving_counted, reason in ((False, Reason.FITS), (True, Reason.FITS_SOON)):
        node = case.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return case.answer(Outcome.FITS, reason, node=node.name)
    return _not_eligible(case, ask.queue) or _preempt(case, ask.queue)


class _Case:
    """One question: the snapshot, the tree, the ask, and what was worked out from them once."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> None:
        self.snapshot, self.tree, self.ask, self.parameters = snapshot, tree, ask, parameters
        self.ledger = ledger_of(snapshot, tree)
        self.reserved = {held.node for held in snapshot.reservations}
        self.feasibility = Feasibility(snapshot, ask)

    def nodes(self) -> Iterable[Node]:
        """The nodes that the ask may run on at all: one for a DaemonSet's, else every one."""
        wanted = self.ask.required_node
        return (node for node in self.snapshot.nodes if wanted in (None, node.name))

    def node_with_room(self, *, leaving_counted: bool) -> Node | None:
        """A node where the ask fits without eviction; with ``leaving_counted`` once pods on their way out are gone."""
        columns = self.snapshot.columns
        refusing = self.feasibility.refusing(DepartingPods(columns, columns.terminating) if leaving_counted else None)
        fitting = (node for node in self.nodes() if refusing[columns.place[node.name]] == FITS and node.ready)
        return next((node for node in fitting if node.name not in self.reserved), None)

    def answer(
        self,
        outcome: Outcome,
        reason: Reason,
        *,
        detail: str = "",
        due_ms: int | None = None,
        node: str | None = None,
        victims: tuple[PodVerdict, ...] = (),
        trace: Trace | None = None,
    ) -> Decision:
        if trace is None:
            trace = Trace(queues=figures(self.ledger, self.ask, ()))
        return Decision(
            policy=POLICY,
            dialect=DIALECT,
            ask=PodFacts.of(self.ask),
            outcome=outcome,
            reason=reason,
            detail=detail,
            due_ms=due_ms,
            node=node,
            victims=victims,
            trace=trace,
        )


def _not_eligible(case: _Case, leaf: str) -> Decision | None:
    """Why the ask may not preempt, None when it may. The delay comes last: it alone passes by itself."""
    ask, tree = case.ask, case.tree

    def no(reason: Reason, detail: str = "", due_ms: int | None = None) -> Decision:
        return case.answer(Outcome.NOT_ELIGIBLE, reason, detail=detail, due_ms=due_ms)

    if ask.never_preempts:
        return no(Reason.NEVER, ask.priority_class)
    if disabled := tree.disabled_by(leaf):
        return no(Reason.DISABLED, disabled)
    if (unread := _not_known(case, leaf)) is not None:
        return no(Reason.UNREAD, unread)
    if ask.required_node is None and (law_4 := _not_below_guarantee(case, leaf)):
        return no(*law_4)
    if (capped := case.ledger.resource_over_max(leaf, ask.requests)) is not None:
        return no(Reason.OVER_MAX, f"{leaf} {capped}")
    if not case.parameters.check_delay:
        return None
    if ask.unschedulable_ms is None:
        return no(Reason.NOT_TRIED)
    due_ms = ask.unschedulable_ms + tree.delay_ms(leaf)
    return no(Reason.DELAY, due_ms=due_ms) if case.snapshot.now_ms < due_ms else None


def _not_known(case: _Case, leaf: str) -> str | None:
    """The queue whose usage counts for the ask and isn't known: a pod in it, perhaps the ask, can't be read."""
    counts = [path for path in case.tree.lineage(leaf) if case.tree[path].max or case.tree[path].guaranteed]
    unread = [pod for pod in case.snapshot.pods if pod.unread and (pod.node is not None or pod.uid == case.ask.uid)]
    within = ((path, pod) for path in (leaf, *counts) for pod in unread)
    return next((path for path, pod in within if pod.queue and case.tree.contains(path, pod.queue)), None)


def _not_below_guarantee(case: _Case, leaf: str) -> tuple[Reason, str] | None:
    """Law 4: below the entitling guarantee in every resource that is asked and guaranteed, and in at least one."""
    entitling = entitled(case.tree, leaf, case.ask)
    if not entitling:
        return Reason.NO_GUARANTEE, leaf
    for resource, path in entitling.items():
        if case.ledger.asking[path].get(resource, 0) >= case.tree[path].guaranteed[resource]:
            return Reason.AT_GUARANTEE, f"{path} {resource}"
    return None


def entitled(tree: QueueTree, leaf: str, ask: Pod) -> dict[str, str]:
    """E(r) of every resource that the ask requests and that is guaranteed somewhere above it."""
    asked = sorted(resource for resource, amount in ask.requests.items() if amount > 0)
    found = {resource: tree.entitling(leaf, resource) for resource in asked}
    return {resource: path for resource, path in found.items() if path is not None}


def _preempt(case: _Case, leaf: str) -> Decision:
    """Choose the victims; pods that opted out only when nothing else makes room, and the parameters allow it."""
    last_resort = case.parameters.last_resort
    resort_allowed = last_resort == "any" or (last_resort == "daemonset" and case.ask.required_node is not None)
    attempt = _attempt(case, leaf, opted_out=False)
    if attempt.outcome is not Outcome.PREEMPT and resort_allowed:
        resort = _attempt(case, leaf, opted_out=True)
        if resort.outcome is Outcome.PREEMPT:
            return resort
    return attempt


def _attempt(case: _Case, leaf: str, *, opted_out: bool) -> Decision:
    snapshot, tree, ask = case.snapshot, case.tree, case.ask
    entitling = {} if ask.required_node is not None else entitled(tree, leaf, ask)
    claim = Claim(ask=ask, leaf=leaf, fence=tree.fence(leaf), entitling=entitling, opted_out=opted_out)
    verdicts = judge(snapshot, tree, case.ledger, claim)
    candidates = candidates_of(snapshot, verdicts)
    choices: list[Choice] = []
    passed: list[NodeVerdict] = []
    together: list[NodeVerdict] = []
    going = {pod.uid for pods in candidates.values() for pod in pods}
    columns = snapshot.columns
    gone = DepartingPods(columns, columns.terminating | columns.among(going))
    refusing = case.feasibility.refusing(gone, surely=DepartingPods(columns, columns.terminating))
    for node in case.nodes():
        found = _on_node(case, node, candidates.get(node.name, []), int(refusing[columns.place[node.name]]))
        if isinstance(found, Choice):
            choices.append(found)
        elif found.reason is NodeReason.NOT_ENOUGH and refusing[columns.place[node.name]] == FITS:
            together.append(found)
        else:
            passed.append(found)
    best, dearer = cheapest(choices)
    trace = _trace(case, claim, verdicts, best, [*dearer, *_first_limits(together), *passed])
    if best is None:
        reason, detail = _why_none(claim, verdicts, any_candidates=any(candidates.values()))
        return case.answer(Outcome.NO_CANDIDATE, reason, detail=detail, trace=trace)
    reason = Reason.DAEMONSET if ask.required_node is not None else Reason.BELOW_GUARANTEE
    if any(pod.opted_out for pod in best.victims):
        reason = Reason.LAST_RESORT
    victims = tuple(
        PodVerdict(
            pod=PodFacts.of(pod),
            reason=PodReason.LAST_RESORT if pod.opted_out else PodReason.OVER_GUARANTEE,
            detail=pod.queue or "",
        )
        for pod in best.victims
    )
    return case.answer(Outcome.PREEMPT, reason, node=best.node, victims=victims, trace=trace)


def _first_limits(together: list[NodeVerdict]) -> list[NodeVerdict]:
    """What stops pods from going together is told of three nodes."""
    rest = [msgspec.structs.replace(verdict, limit=UNSET) for verdict in together[3:]]
    return [*together[:3], *rest]


def _on_node(case: _Case, node: Node, candidates: list[Pod], refusing: int) -> Choice | NodeVerdict:
    """The victims on one node, or why it is passed over; ``refusing``: what does whichever candidates are gone."""
    if node.name in case.reserved:
        return NodeVerdict(node=node.name, reason=NodeReason.RESERVED)
    if not node.ready:
        return NodeVerdict(node=node.name, reason=NodeReason.NOT_READY)
    place = case.snapshot.columns.place[node.name]
    refused = None if refusing == FITS else case.feasibility.refusal(refusing, place)
    if refused is not None and refused.reason is not NodeReason.INSUFFICIENT:
        return NodeVerdict(node=node.name, reason=refused.reason, detail=refused.detail)
    if not candidates:
        return NodeVerdict(node=node.name, reason=NodeReason.NO_CANDIDATES)
    spot = case.feasibility.on(place)
    found = None if refused else choose_on(case.snapshot, case.tree, case.ledger, case.ask, node, spot, candidates)
    if found is not None:
        return found
    limit = None if refused else limit_on(case.snapshot, case.tree, case.ledger, case.ask, node, spot, candidates)
    return NodeVerdict(node=node.name, reason=NodeReason.NOT_ENOUGH, victims=len(candidates), limit=limit or UNSET)


def _why_none(claim: Claim, verdicts: dict[str, Verdict | None], *, any_candidates: bool) -> tuple[Reason, str]:
    if any_candidates:
        return Reason.NO_ROOM, ""
    within = claim.fence and any(
        verdict is None or verdict[0] not in (PodReason.OUTSIDE_FENCE, PodReason.SAME_QUEUE)
        for verdict in verdicts.values()
    )
    if claim.fence and not within:
        return Reason.FENCE, claim.fence
    counts = Counter(verdict[0] for verdict in verdicts.values() if verdict is not None)
    told = [(-counts[reason], number, reason) for number, reason in enumerate(ORDER) if counts[reason]]
    told = [one for one in told if one[2] is not PodReason.SAME_QUEUE]
    return Reason.NO_CANDIDATES, str(min(told)[2]) if told else ""


def _trace(
    case: _Case,
    claim: Claim,
    verdicts: dict[str, Verdict | None],
    best: Choice | None,
    passed: list[NodeVerdict],
) -> Trace:
    here = case.snapshot.pods_by_node[best.node] if best else ()
    excluded = [
        PodVerdict(pod=PodFacts.of(pod), reason=verdict[0], detail=verdict[1])
        for pod in here
        if (verdict := verdicts.get(pod.uid)) is not None
    ]
    counts = Counter(str(verdict[0]) for verdict in verdicts.values() if verdict is not None)
    return Trace(
        fence=claim.fence or "",
        entitling=claim.entitling,
        queues=figures(case.ledger, case.ask, best.victims if best else ()),
        reprieved=best.reprieved if best else (),
        excluded=tuple(excluded),
        nodes=tuple(passed[:_NODES_IN_FULL]),
        candidates=sum(1 for verdict in verdicts.values() if verdict is None),
        excluded_counts=dict(sorted(counts.items())),
        node_counts=dict(sorted(Counter(str(verdict.reason) for verdict in passed).items())),
    )
