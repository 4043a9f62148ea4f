"""One attempt to place the waiting members of a gang: which of them claim a guarantee, and how much they may take.

Source: the entitlement is rule 4 of YuniKorn's design document "Preemption"; that a gang is decided whole or not at all
is this product's own.
"""

from collections.abc import Iterable, Sequence

import msgspec

from engine.model.decision import Reason
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add, total
from engine.policies.common.eligibility import WAITS, due_ms
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.pending_gang import PendingGang
from engine.policies.fence.candidates import GuaranteeClaim
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue, find_preemptable_amounts

Refusal = tuple[Reason, str, int | None]
"""Why a gang may not preempt: the reason, its detail, and from when on it may."""


class GangAttempt(PendingGang):
    """The state of preemption for one gang, computed on demand."""

    def refusal(self, placed: Placed, chosen: Sequence[Pod], *, check_delay: bool) -> Refusal | None:
        """Return why some members may not preempt beside those that are ``placed``, None if they may.

        Invariant 4 holds for each of them with the members before it in their queue.
        """
        before = total(pod.requests for pod, _place in placed)
        for pod in chosen:
            attempt = self.of(pod)
            if not attempt.entitling:
                return Reason.NO_GUARANTEE, attempt.leaf, None
            for resource, path in attempt.entitling.items():
                if attempt.used(path, resource) + before.get(resource, 0) >= self.tree[path].guaranteed[resource]:
                    return Reason.AT_GUARANTEE, f"{path} {resource}", None
            for resource in self.tree[attempt.leaf].max:
                if pod.requests.get(resource, 0) > 0 and attempt.over_max(attempt.leaf, resource) > -before.get(
                    resource, 0
                ):
                    return Reason.OVER_MAX, f"{attempt.leaf} {resource}", None
            before = add(before, pod.requests)
        return self._waits((*(pod for pod, _place in placed), *chosen)) if check_delay else None

    def _waits(self, wanted: Iterable[Pod]) -> Refusal | None:
        """Return whether one of the wanted members was not tried yet, or until when the youngest has to wait."""
        attempts = [self.of(pod) for pod in wanted]
        for reason, guard in WAITS.items():
            if any(guard(attempt) is not None for attempt in attempts):
                due = max((due for attempt in attempts if (due := due_ms(attempt)) is not None), default=None)
                return reason, "", due if reason is Reason.DELAY else None
        return None

    def claim(self, chosen: Iterable[Pod], *, opted_out: bool) -> GuaranteeClaim:
        """Return the guarantees that some members claim together. No victim has a higher priority than any of them."""
        entitling = {name: path for pod in chosen for name, path in self.of(pod).entitling.items()}
        priority = min(self.group.priority, *(pod.priority for pod in self.members))
        return GuaranteeClaim(
            ask=msgspec.structs.replace(self.members[0], priority=priority),
            leaf=self.first.leaf,
            fence=self.tree.fence(self.first.leaf),
            entitling=dict(sorted(entitling.items())),
            opted_out=opted_out,
        )

    def amounts(self, requests: Amounts) -> AmountsByQueue:
        """Return what may be preempted from each queue if the members that are placed request so much."""
        asking = msgspec.structs.replace(self.members[0], requests=requests)
        return find_preemptable_amounts(self.first.pod_index, self.first.usage, self.first.leaf, asking)
