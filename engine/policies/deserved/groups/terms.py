"""On which terms each member of a gang may preempt: within what its queue deserves, or beyond it by its priority class.

Source: the section on preemption of the proposal of k8s-arbitrator; that a gang is decided whole or not at all, and
member by member, is this product's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from engine.model.columns.node_columns import Flags
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.candidates import Candidates
from engine.policies.deserved.groups.units import ReclaimUnits
from engine.policies.deserved.parameters import Parameters


class MemberAttempt(ReclaimAttempt):
    """One attempt to place a member of a gang, for all members that are alike and on the same terms."""

    def __init__(
        self,
        snapshot: Snapshot,
        tree: QueueTree,
        ask: Pod,
        parameters: Parameters,
        *,
        together: Amounts,
        outranks: bool,
    ) -> None:
        """Prepare the attempt. ``outranks``: whether it takes its queue beyond what that deserves, and may do so."""
        super().__init__(snapshot, tree, ask, parameters, together=together)
        self._outranks = outranks

    @property
    def outranks(self) -> bool:
        return self._outranks


class MemberTerms:
    """An attempt with the units that may be evicted for it."""

    def __init__(self, attempt: ReclaimAttempt, own: SchedulingGroup | None) -> None:
        """Judge all bound pods. ``own``: the group of the pending pods, of which nothing is evicted."""
        self.attempt, self._own = attempt, own
        self.candidates = Candidates(attempt, whole_groups=True)
        self.units = ReclaimUnits(self.candidates, own)

    @property
    def queues(self) -> Flags:
        """Return for every queue number whether the queue has any candidates."""
        return self.candidates.queues

    def of(self, queues: Flags) -> "MemberTerms":
        """Return the same with the candidates of some queues; the grace periods of the others are not over."""
        if self.attempt.outranks or np.array_equal(queues, self.queues):
            return self
        fewer = copy(self)
        fewer.candidates = self.candidates.of(queues)
        fewer.units = ReclaimUnits(fewer.candidates, self._own)
        return fewer

    def same(self, other: "MemberTerms") -> bool:
        """Return whether the same pods may be evicted on other terms: for the same resources, and as urgently."""
        one, two = self.attempt, other.attempt
        return (one.outranks, one.ask.priority, one.wanted.keys()) == (
            two.outranks,
            two.ask.priority,
            two.wanted.keys(),
        )


Terms = Mapping[str, MemberTerms]
"""Uid of a member -> its terms; members that are alike have the same object."""


def grace_stages(terms: Terms) -> Iterator[tuple[Terms, bool]]:
    """Yield which units to try, each with whether they may be preempted now.

    First those of the queues whose grace periods are over, then those of queues with a reclaim notice, then all.
    Members of high priority wait for none of these.
    """
    each = list({id(one): one for one in terms.values()}.values())
    if all(one.attempt.outranks for one in each):
        yield terms, True
        return
    every = [one.queues for one in each]
    attempt = each[0].attempt
    over = [queues & attempt.past_grace for queues in every]
    tried = [np.zeros_like(queues) for queues in every]
    for stage in (over, [queues & attempt.notified for queues in every], every):
        if not _equal(stage, tried):
            fewer = {id(one): one.of(queues) for one, queues in zip(each, stage, strict=True)}
            yield {uid: fewer[id(one)] for uid, one in terms.items()}, stage is over
        tried = stage


def _equal(some: Sequence[Flags], others: Sequence[Flags]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))
