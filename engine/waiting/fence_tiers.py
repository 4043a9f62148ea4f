"""The tiers of policy ``fence``, dialect ``design``: all let an ask through exactly where the policy makes room."""

from collections.abc import Iterator

import msgspec
import numpy as np

from engine.decision import Reason
from engine.policies.fence.asks import GUARDS, UNDECIDABLE
from engine.policies.fence.candidates import Claim, Field
from engine.policies.fence.question import Question
from engine.policies.fence.sets import Turns
from engine.policies.fence.spare import Allowance, Spare
from engine.policies.fence.survey import Survey, survey_of
from engine.policies.fence.telling import Told
from engine.queues import QueueTree
from engine.resources import PODS, Amounts
from engine.snapshot import Pod, Snapshot
from engine.snapshot.columns import Flags, Rows
from engine.waiting import nodes
from engine.waiting.results import NODES, Need, Reached, Tier, TierName

_ANY_PRIORITY = 2**31 - 1


def judge(snapshot: Snapshot, tree: QueueTree, ask: Pod, *, last_resort: str) -> tuple[Tier, ...]:
    """Every tier; the last one alone where a node has room, none where the ask or what it uses can't be judged."""
    question = Question(snapshot.without_reservation(ask.uid), tree, ask)
    if any(guard(question) is not None for guard in (*UNDECIDABLE.values(), GUARDS[Reason.UNREAD])):
        return ()
    for leaving_counted in (False, True):
        node = question.node_with_room(leaving_counted=leaving_counted)
        if node is not None:
            return (fits(question, node, soon=leaving_counted),)
    told = _told(question, last_resort)
    may_go = candidates(question, told.survey)
    return (
        Tier.of(TierName.QUOTA, _quota(question, may_go)),
        *([_guarantee(question)] if ask.required_node is None else []),  # a DaemonSet's claims none
        _fence(told),
        _priority(told, may_go),
        _node(told),
    )


def _told(question: Question, last_resort: str) -> Told:
    """What the policy finds; where nobody may go, with those who opted out if they may be taken too."""
    resort = last_resort == "any" or (last_resort == "daemonset" and question.ask.required_node is not None)
    found = None
    for opted_out in (False, True) if resort else (False,):
        claim = Claim(
            ask=question.ask,
            leaf=question.leaf,
            fence=question.tree.fence(question.leaf),
            entitling=question.entitling if question.ask.required_node is None else {},
            opted_out=opted_out,
        )
        found = Told(question, claim, survey_of(question, claim))
        if found.best is not None:
            break
    assert found is not None
    return found


def candidates(question: Question, survey: Survey) -> Flags:
    """Row -> whether the pod may be evicted for the ask."""
    of_row = (survey.reasons < 0)[question.ground.kinds.of] if len(question.ground.kinds.of) else survey.reasons < 0
    may_go: Flags = of_row & ~question.columns.terminating & ~question.restraints.refused
    return may_go


def _quota(question: Question, may_go: Flags) -> Iterator[Need]:
    """Every max from the leaf upwards; below one further up evictions may make room, on one node."""
    for path in question.tree.lineage(question.leaf):
        for resource, limit in sorted(question.tree[path].max.items()):
            wanted = question.ask.requests.get(resource, 0)
            if wanted <= 0:
                continue
            available = limit - question.used(path, resource)
            evictable = 0
            if available < wanted and path != question.leaf:
                evictable = _most_on_a_node(question, may_go, path, resource)
            yield Need(where=path, resource=resource, required=wanted, available=available, evictable=evictable)


def _most_on_a_node(question: Question, may_go: Flags, path: str, resource: str) -> int:
    inside = may_go & question.ground.below(path)[question.ground.row_queue]
    held = question.columns.sums(np.where(inside, question.columns.requests(resource), 0))
    return int(held.max(initial=0))


def _guarantee(question: Question) -> Tier:
    """Law 4: something must be left of every guarantee that is claimed, and one at least there must be."""
    claimed = [
        Need(
            where=path,
            resource=resource,
            required=1,
            available=question.tree[path].guaranteed[resource] - question.used(path, resource),
        )
        for resource, path in question.entitling.items()
    ]
    if claimed:
        return Tier.of(TierName.GUARANTEE, claimed)
    leaf = question.leaf
    asked = sorted(resource for resource, amount in question.ask.requests.items() if amount > 0)
    none = [Need(where=leaf, resource=name, required=1, available=-question.used(leaf, name)) for name in asked]
    return Tier.of(TierName.GUARANTEE, none, shut=leaf)


def _fence(told: Told) -> Tier:
    """Who could go if it were not for the priorities."""
    question, ground = told.question, told.question.ground
    highest = msgspec.structs.replace(question.ask, priority=_ANY_PRIORITY)
    field = Field(ground, msgspec.structs.replace(told.claim, ask=highest), told.survey.spared)
    within = np.asarray(field.reasons < 0, np.bool_)
    reach = within[ground.kinds.of] if len(within) else within
    disabled = question.tree.disabled_by(question.leaf) or ""
    pods = np.bincount(ground.row_queue[reach & ~question.columns.terminating], minlength=ground.nobody + 1)
    if disabled:
        pods[:] = 0
    return Tier.of(
        TierName.FENCE,
        [Need(where=told.claim.fence or "", resource=PODS, required=1, available=int(pods.sum()))],
        shut=disabled,
        reached=tuple(
            Reached(queue=ground.paths[number], pods=int(pods[number]), spare=_spare(told, int(number)))
            for number in np.flatnonzero(pods)
        ),
    )


def _spare(told: Told, queue: int) -> Amounts:
    """What may be taken of what is asked: as much as it uses, less where a guarantee stands in the way."""
    question, ground = told.question, told.question.ground
    found: Amounts = {}
    for resource, wanted in sorted(question.ask.requests.items()):
        spare = int(question.usage.of(question.usage.giving, resource)[queue])
        if resource in told.survey.spared:
            spare = min(spare, *(int(told.survey.spared[resource][above]) for above in ground.line[:, queue]))
        if wanted > 0 and resource != PODS and spare > 0:
            found[resource] = spare
    return found


def _priority(told: Told, may_go: Flags) -> Tier:
    ask, columns = told.question.ask, told.question.columns
    pods = 0 if ask.never_preempts else int(np.count_nonzero(may_go))
    return Tier.of(
        TierName.PRIORITY,
        [Need(resource=PODS, required=1, available=pods)],
        shut=(ask.priority_class or "Never") if ask.never_preempts else "",
        held=nodes.held(columns, ask, may_go) if pods else {},
    )


def fits(question: Question, node: str, *, soon: bool) -> Tier:
    """The one tier where a node has room; ``soon``: once those on their way out are gone."""
    place = question.columns.place[node]
    needs = nodes.needs(question.columns, question.feasibility, question.ask, place, gone=question.columns.terminating)
    return Tier.of(TierName.NODE, [Need(resource=NODES, required=1, available=1), *needs], soon=soon)


def _node(told: Told) -> Tier:
    """The node that the policy takes; else the one that comes nearest with all gone that may go together."""
    question, columns = told.question, told.question.columns
    leaving = columns.terminating
    if told.best is not None:
        gone = columns.only(told.victims)
        place: int | None = told.best
    else:
        gone = most_gone(told)
        open_to = question.scope & ~question.usage.kept & ~columns.not_ready
        place = nodes.nearest(question.snapshot, question.ask, question.feasibility, gone | leaving, open_to)
    first = Need(resource=NODES, required=1, available=len(told.ranked))
    if place is None:
        needs: tuple[Need, ...] = ()
    else:
        needs = nodes.needs(columns, question.feasibility, question.ask, place, gone=leaving, evicted=gone & ~leaving)
    if len(told.ranked):
        return Tier.of(TierName.NODE, [first, *needs])
    trace = told.trace()
    limited = next((one for one in trace.nodes if one.limit), None)
    return Tier.of(
        TierName.NODE,
        [first, *needs],
        refusing=trace.node_counts,
        limited=limited.node if limited else "",
        limit=(limited.limit or None) if limited else None,
    )


def most_gone(told: Told) -> Flags:
    """Row -> whether it goes where the policy takes all that it may in turn, on every node by itself (law 2)."""
    question, ground = told.question, told.question.ground
    may_go = candidates(question, told.survey)
    rows = ground.order.rows[may_go[ground.order.rows]]
    counts = np.bincount(question.columns.node[rows], minlength=len(question.columns.nodes))
    places = np.flatnonzero(counts)
    turns = Turns(ground, question.leaf, places, rows, counts[places])
    spare, gone = Spare(ground, turns.rows, told.survey.spared), np.zeros(len(question.columns.pods), np.bool_)
    allowance = Allowance(question.columns, turns.rows, question.restraints.limits)
    at: Rows = np.arange(len(places))
    for turn in range(int(counts.max(initial=0))):
        at = at[turns.count[at] > turn]
        index = turns.start[at] + turn
        index = index[spare.allows(index) & allowance.allows(index)]
        spare.take(index)
        allowance.take(index)
        gone[turns.rows[index]] = True
    return gone
