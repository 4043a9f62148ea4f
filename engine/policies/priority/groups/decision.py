"""The stages in which a group of pods is decided.

Source: the scheduling cycle of a pod group in kube-scheduler 1.37 with feature gate GenericWorkload
(pkg/scheduler/schedule_one_podgroup.go and framework/preemption/podgrouppreemption.go), looking at all nodes.
"""

from engine.feasibility import unsupported_rules
from engine.model.decision import Decision, Outcome, PodVerdict, Reason, Trace
from engine.model.objects import Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import names_pod_group, pod_group_of
from engine.policies.common.groups.answers import GroupAnswers, GroupResult, undecided
from engine.policies.common.groups.placing import Placement
from engine.policies.common.safeguards import within_safeguards
from engine.policies.priority.decision import BESIDE_GROUPS, POLICY, decide_beside_groups
from engine.policies.priority.groups.attempt import GroupAttempt, waiting_members
from engine.policies.priority.groups.reprieve import find_victims
from engine.policies.priority.groups.trace import spared_rows, trace_of, verdicts
from engine.policies.priority.parameters import Parameters


def decide_with_groups(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> Decision:
    """Return the decision about a pending pod as kube-scheduler 1.37 decides with feature gate GenericWorkload.

    A group is decided as a whole, with the first of its waiting members; a pod without a group is decided alone.
    """
    if not names_pod_group(ask):
        return decide_beside_groups(snapshot, tree, ask, parameters)
    group = pod_group_of(snapshot, ask)
    if group is None:
        return undecided(POLICY, BESIDE_GROUPS, ask, Reason.NO_GROUP, ask.scheduling_group)
    members = waiting_members(snapshot, group)
    if members[0].uid != ask.uid:
        return undecided(POLICY, BESIDE_GROUPS, ask, Reason.DECIDED_WITH, members[0].key)
    for pod in members:
        snapshot = snapshot.without_reservation(pod.uid)
    return within_safeguards(snapshot, tree, ask, lambda at: decide_group(at, group), regardless=True)


def decide_group(snapshot: Snapshot, group: SchedulingGroup) -> Decision:
    """Return where the waiting members of a group get a node, and which units are evicted for them.

    At least one member of the group must be waiting.
    """
    stages = GroupStages(snapshot, group)
    return (
        stages.undecidable() or stages.refused() or stages.fits_already() or stages.not_eligible() or stages.preempt()
    )


class GroupStages:
    """The stages of one decision about a group; each returns a decision if it ends there."""

    def __init__(self, snapshot: Snapshot, group: SchedulingGroup) -> None:
        self.attempt, self.group = GroupAttempt(snapshot, group), group

    def undecidable(self) -> Decision | None:
        """Return a decision with the reason why nothing can be decided for the group, None if it can."""
        waiting = self.attempt.waiting
        rules = {rule for pod in waiting for rule in unsupported_rules(self.attempt.snapshot, pod)}
        rules.update(self.group.unread_rules)
        if rules:
            return self._answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD_RULES, detail=", ".join(sorted(rules)))
        unread = self.group.key if self.group.unread else next((pod.key for pod in waiting if pod.unread), None)
        return None if unread is None else self._answer(Outcome.NOT_ELIGIBLE, Reason.UNREAD, detail=unread)

    def refused(self) -> Decision | None:
        """Return a decision if the group is not tried at all, None if it is."""
        if self.attempt.existing < self.group.needed:
            return self._answer(Outcome.NOT_ELIGIBLE, Reason.TOO_FEW_MEMBERS, detail=str(self.attempt.existing))
        if gated := self.attempt.gated_member:
            return self._answer(Outcome.NOT_ELIGIBLE, Reason.GATED_MEMBER, detail=gated.key)
        odd = self.attempt.odd_member
        return None if odd is None else self._answer(Outcome.NOT_ELIGIBLE, Reason.MEMBERS_DIFFER, detail=odd.key)

    def fits_already(self) -> Decision | None:
        """Return a decision with the nodes of the members if enough of them fit without any eviction."""
        placement = self.attempt.place()
        return self._answer(Outcome.FITS, Reason.FITS, placement=placement) if placement.enough else None

    def not_eligible(self) -> Decision | None:
        """Return a decision with the reason why the group may not preempt, None if it may."""
        waiting = self.attempt.waiting
        if any(pod.never_preempts for pod in waiting):
            return self._answer(Outcome.NOT_ELIGIBLE, Reason.NEVER, detail=waiting[0].priority_class)
        if node := self.attempt.emptying_node:
            return self._answer(Outcome.NOT_ELIGIBLE, Reason.WAITING_FOR_VICTIMS, detail=node)
        return None

    def preempt(self) -> Decision:
        """Place the members in a cluster without all units of lower priority, then let stay what can."""
        attempt = self.attempt
        if not attempt.lower.any():
            return self._answer(Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES)
        placement = attempt.place(attempt.departing)
        if not placement.enough:
            return self._answer(Outcome.NO_CANDIDATE, Reason.NO_ROOM, placement=placement, trace=trace_of(attempt))
        placed = [(pod, placement.places[pod.uid]) for pod in attempt.waiting if pod.uid in placement.places]
        places = [place for _pod, place in placed]
        victims = find_victims(attempt.shapes, attempt.departing, attempt.units, attempt.turns, placed)
        spared = spared_rows(attempt, places, victims)
        return self._answer(
            Outcome.PREEMPT,
            Reason.LOWER_PRIORITY,
            placement=placement,
            victims=tuple(verdicts(attempt, victims)),
            spared=len(spared),
            trace=trace_of(attempt, spared, victims),
        )

    def _answer(
        self,
        outcome: Outcome,
        reason: Reason,
        *,
        detail: str = "",
        placement: Placement | None = None,
        victims: tuple[PodVerdict, ...] = (),
        spared: int = 0,
        trace: Trace = Trace(),  # noqa: B008 - frozen
    ) -> Decision:
        attempt, nodes = self.attempt, self.attempt.columns.nodes
        answers = GroupAnswers(POLICY, BESIDE_GROUPS, self.group, attempt.waiting, len(attempt.bound))
        result = GroupResult()
        if placement is not None:
            found = placement.places.items() if placement.enough else ()
            result = GroupResult(
                scheduled=placement.scheduled,
                nodes={uid: nodes[place].name for uid, place in found},
                untried=placement.remaining,
                spared=spared,
            )
        return answers.answer(outcome, reason, result, detail=detail, victims=victims, trace=trace)
