"""An ask under a tree at one moment, judged as it is or with something changed."""

from collections.abc import Mapping

import msgspec

from engine.counterfactual import Change
from engine.decision import Outcome
from engine.policies import fence, priority
from engine.queues import PreemptionPolicy, QueueTree
from engine.resources import subtract
from engine.snapshot import Pod, Snapshot
from engine.waiting import fence_tiers, priority_tiers
from engine.waiting.results import Remedy, Tier, TierName


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged: ``policy`` is `fence` (dialect design) or `priority`."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    policy: str
    parameters: fence.Parameters = fence.Parameters()

    def tiers(self) -> tuple[Tier, ...]:
        """Every tier, without remedies; see ``Waiting.tiers``."""
        if self.policy == priority.POLICY:
            return priority_tiers.judge(self.snapshot, self.ask)
        return fence_tiers.judge(self.snapshot, self.tree, self.ask, last_resort=self.parameters.last_resort)

    def lets(self, name: TierName) -> bool:
        """Whether a tier lets the ask through."""
        return all(tier.passes for tier in self.tiers() if tier.name is name)

    def gets_room(self) -> bool:
        """Whether the policy finds room or makes it, its delay over."""
        if self.policy == priority.POLICY:
            found = priority.decide(self.snapshot, self.tree, self.ask)
        else:
            at_once = msgspec.structs.replace(self.parameters, check_delay=False)
            found = fence.decide(self.snapshot, self.tree, self.ask, at_once)
        return found.outcome in (Outcome.FITS, Outcome.PREEMPT)

    def with_remedy(self, remedy: Remedy) -> "Case":
        """The same with the change made."""
        match remedy.change:
            case Change.REQUEST:
                return self._with_ask(requests=subtract(self.ask.requests, remedy.smaller))
            case Change.PRIORITY:
                return self._with_ask(priority=remedy.priority)
            case Change.MAY_PREEMPT:
                return self._with_ask(never_preempts=False)
            case Change.FENCE:
                return self._with_queues(
                    {path: {"preemption_policy": PreemptionPolicy.DEFAULT} for path in remedy.queues}
                )
            case _:
                field = "max" if remedy.change is Change.MAX else "guaranteed"
                more = {path: {**getattr(self.tree[path], field), **more} for path, more in remedy.queues.items()}
                return self._with_queues({path: {field: amounts} for path, amounts in more.items()})

    def _with_ask(self, **changed: object) -> "Case":
        return msgspec.structs.replace(self, ask=msgspec.structs.replace(self.ask, **changed))

    def _with_queues(self, changed: Mapping[str, Mapping[str, object]]) -> "Case":
        queues = {path: msgspec.structs.replace(self.tree[path], **settings) for path, settings in changed.items()}
        tree = QueueTree({**self.tree.queues, **queues}.values(), self.tree.placement)
        return msgspec.structs.replace(self, tree=tree)
