"""Builds decisions about groups of pods, which are alike under every policy that decides these as a whole."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.model.decision import Decision, GroupFacts, Outcome, PodFacts, PodVerdict, Reason, ReclaimNotice, Trace
from engine.model.objects import Pod, SchedulingGroup


class GroupResult(NamedTuple):
    """What is found out about the nodes of a group."""

    scheduled: int = 0
    """How many members would have a node, those that had one included."""
    nodes: Mapping[str, str] = {}
    """Uid of a member that gets a node -> the node, in the order in which they were placed."""
    untried: int = 0
    """How many had not been tried when it was clear that too few would have one."""
    spared: int = 0
    """How many running pods on these nodes may stay after all."""


class GroupAnswers(NamedTuple):
    """The decisions of a policy about one group."""

    policy: str
    dialect: str
    group: SchedulingGroup
    waiting: Sequence[Pod]
    """The members that want a node; the decision is made with the first."""
    bound: int
    """How many others have one."""

    def answer(
        self,
        outcome: Outcome,
        reason: Reason,
        result: GroupResult,
        *,
        detail: str = "",
        due: int | None = None,
        victims: tuple[PodVerdict, ...] = (),
        notices: tuple[ReclaimNotice, ...] = (),
        trace: Trace = Trace(),  # noqa: B008 - frozen
    ) -> Decision:
        """Return the decision. ``due``: from when on the group may preempt, in Unix milliseconds."""
        first, *others = self.waiting
        return Decision(
            policy=self.policy,
            dialect=self.dialect,
            ask=PodFacts.of(first),
            together=tuple(map(PodFacts.of, others)),
            outcome=outcome,
            reason=reason,
            detail=detail,
            due_ms=due,
            victims=victims,
            notices=notices,
            group=self._facts(result),
            trace=trace,
        )

    def _facts(self, result: GroupResult) -> GroupFacts:
        return GroupFacts.of(
            self.group,
            bound=self.bound,
            nodes=dict(result.nodes),
            scheduled=result.scheduled,
            untried=result.untried,
            spared=result.spared,
        )


def undecided(policy: str, dialect: str, ask: Pod, reason: Reason, detail: str) -> Decision:
    """Return that a pod of a group is not decided itself, with the reason and its detail."""
    return Decision(
        policy=policy,
        dialect=dialect,
        ask=PodFacts.of(ask),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=reason,
        detail=detail,
    )
