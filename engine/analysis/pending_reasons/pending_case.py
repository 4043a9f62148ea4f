"""Judge a pending pod under a tree at one moment, unchanged or with a change."""

from collections.abc import Mapping

import msgspec

from engine.model.change import Change
from engine.model.objects import Pod
from engine.model.pending_reasons import Remedy, Tier, TierName
from engine.model.quantities import subtract
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.policy_types import PolicyTiers


class PendingCase(msgspec.Struct, frozen=True, kw_only=True):
    """A pending pod with its snapshot and tree, and the rules by which it is judged."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    rules: PolicyTiers

    def tiers(self) -> tuple[Tier, ...]:
        """Return every tier, without remedies; see ``PendingReasons.tiers``."""
        return tuple(self.rules.judge(self.snapshot, self.tree, self.ask))

    def lets(self, name: TierName) -> bool:
        """Return whether the pending pod passes a tier."""
        judged = self.rules.judge(self.snapshot, self.tree, self.ask)
        return next((tier.passes for tier in judged if tier.name is name), True)

    def gets_room(self) -> bool:
        """Return whether the policy finds or makes room, assuming that the delay is over."""
        return self.rules.gets_room(self.snapshot, self.tree, self.ask)

    def with_remedy(self, remedy: Remedy) -> "PendingCase":
        """Return a copy of the case with a remedy applied."""
        match remedy.change:
            case Change.REQUEST:
                return self._with_pod(requests=subtract(self.ask.requests, remedy.smaller))
            case Change.PRIORITY:
                return self._with_pod(priority=remedy.priority)
            case Change.MAY_PREEMPT:
                return self._with_pod(never_preempts=False)
            case Change.FENCE:
                return self._with_queues(
                    {path: {"preemption_policy": PreemptionPolicy.DEFAULT} for path in remedy.queues}
                )
            case _:
                field = "max" if remedy.change in (Change.MAX, Change.HARD) else "guaranteed"
                more = {path: {**getattr(self.tree[path], field), **more} for path, more in remedy.queues.items()}
                return self._with_queues({path: {field: amounts} for path, amounts in more.items()})

    def _with_pod(self, **changed: object) -> "PendingCase":
        return msgspec.structs.replace(self, ask=msgspec.structs.replace(self.ask, **changed))

    def _with_queues(self, changed: Mapping[str, Mapping[str, object]]) -> "PendingCase":
        queues = {path: msgspec.structs.replace(self.tree[path], **settings) for path, settings in changed.items()}
        tree = QueueTree({**self.tree.queues, **queues}.values(), self.tree.placement)
        return msgspec.structs.replace(self, tree=tree)
