"""The first stages of a decision about a gang: what is undecidable, what fits already, and which gangs may preempt."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from engine.feasibility import unsupported_rules
from engine.model.decision import Decision, Outcome, PodVerdict, Reason, ReclaimNotice, Trace
from engine.model.objects import Pod
from engine.policies.common.eligibility import GUARDS
from engine.policies.common.groups.answers import GroupAnswers, GroupResult
from engine.policies.common.groups.members import gated_member
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.pending_gang import PendingGang

_OF_EACH = (Reason.NEVER, Reason.DISABLED, Reason.UNREAD)
"""What forbids a gang to preempt if it holds for any of its members."""
MOST_CHOICES = 100
"""How many choices of members are tried, at most."""


class DecisionStages(ABC):
    """The stages of one decision about a gang; each returns a decision if it ends there."""

    def __init__(self, gang: PendingGang, policy: str, dialect: str) -> None:
        self._gang = gang
        self._answers = GroupAnswers(policy, dialect, gang.group, gang.members, gang.placed)
        self._fitting = 0
        """How many members are known to have room without any eviction."""

    @abstractmethod
    def own(self, pod: Pod) -> tuple[str | None, ...]:
        """Return in what all members have to be alike: the queue first."""

    def undecidable(self) -> Decision | None:
        """Return a decision with the reason why nothing can be decided for the gang, None if it can."""
        gang, members = self._gang, self._gang.members
        if any(pod.queue is None for pod in members):
            return self._refused(Reason.NO_QUEUE)
        rules = {rule for pod in members for rule in unsupported_rules(gang.snapshot, pod)}
        rules.update(gang.group.unread_rules)
        if rules:
            return self._refused(Reason.UNREAD_RULES, ", ".join(sorted(rules)))
        if len(members) < gang.wanted:
            return self._refused(Reason.TOO_FEW_MEMBERS, str(gang.placed + len(members)))
        gated = gated_member(gang.snapshot, gang.group)
        return None if gated is None else self._refused(Reason.GATED_MEMBER, gated.key)

    def fits_already(self) -> Decision | None:
        """Return a decision with the nodes if enough members have room, now or once terminating pods are gone."""
        gang = self._gang
        _, placed = gang.place_free(leaving_counted=False)
        if len(placed) >= gang.wanted:
            return self._answer(Outcome.FITS, Reason.FITS, placed=placed)
        _, placed = gang.free
        self._fitting = len(placed)
        return self._answer(Outcome.FITS, Reason.FITS_SOON, placed=placed) if len(placed) >= gang.wanted else None

    def not_eligible(self) -> Decision | None:
        """Return a decision with the reason why the gang may not preempt, None if it may.

        All of its pending members must be alike in this, also those that are not needed.
        """
        first, *others = self._gang.members
        if odd := next((pod for pod in others if self.own(pod) != self.own(first)), None):
            return self._refused(Reason.QUEUES_DIFFER, odd.key)
        if bound := next((pod for pod in (first, *others) if pod.required_node is not None), None):
            return self._refused(Reason.ONE_NODE_ONLY, bound.key)
        for pod in self._gang.members:
            attempt = self._gang.of(pod)
            for reason in _OF_EACH:
                if (detail := GUARDS[reason](attempt)) is not None:
                    return self._refused(reason, detail)
        return None

    def first_of_choices(self) -> Decision:
        """Try the choices of members that may preempt, and return the first decision that finds victims."""
        refused, failed = list[Decision](), list[Decision]()
        for number, chosen in enumerate(self._choices()):
            if number == MOST_CHOICES:
                failed.append(self._answer(Outcome.SEARCH_LIMIT, Reason.SEARCH_LIMIT))
                break
            why = self.refused(chosen)
            if why is not None:
                refused.append(why)
                continue
            decision = self.victims_for(chosen)
            if decision.outcome not in (Outcome.NO_CANDIDATE, Outcome.SEARCH_LIMIT):
                return decision
            failed.append(decision)
        return next((one for one in failed if one.outcome is Outcome.SEARCH_LIMIT), [*failed, *refused][0])

    def _choices(self) -> Iterator[tuple[Pod, ...]]:
        _, placed = self._gang.free
        return self._gang.choices(placed)

    @abstractmethod
    def refused(self, chosen: tuple[Pod, ...]) -> Decision | None:
        """Return a decision with the reason why some members may not preempt, None if they may."""

    @abstractmethod
    def victims_for(self, chosen: tuple[Pod, ...]) -> Decision:
        """Return the decision about some members that all need a node by preemption."""

    def _refused(self, reason: Reason, detail: str = "", *, due: int | None = None) -> Decision:
        return self._answer(Outcome.NOT_ELIGIBLE, reason, detail=detail, due=due)

    def _answer(
        self,
        outcome: Outcome,
        reason: Reason,
        *,
        detail: str = "",
        due: int | None = None,
        placed: Placed = (),
        victims: tuple[PodVerdict, ...] = (),
        notices: tuple[ReclaimNotice, ...] = (),
        spared: int = 0,
        trace: Trace | None = None,
    ) -> Decision:
        gang, nodes = self._gang, self._gang.first.columns.nodes
        result = GroupResult(
            scheduled=gang.placed + (len(placed) or self._fitting),
            nodes={pod.uid: nodes[place].name for pod, place in placed},
            spared=spared,
        )
        return self._answers.answer(
            outcome,
            reason,
            result,
            detail=detail,
            due=due,
            victims=victims,
            notices=notices,
            trace=self._figures() if trace is None else trace,
        )

    def _figures(self) -> Trace:
        """Return a trace with the figures of the members' queue alone."""
        first = self._gang.members[0]
        return Trace(queues=self._gang.first.usage.figures(first.queue, first.requests, ()))
