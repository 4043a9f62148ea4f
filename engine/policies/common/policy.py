"""What a policy is: one object with everything that the product knows about it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from engine.audit import AuditTerms, Invariants
from engine.model.counterfactual import Counterfactual
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.decide_again import Again
from engine.policies.common.groups.unit_weighing import UnitWeighing
from engine.policies.common.parameters import known_parameters
from engine.policies.common.policy_types import Decide, QueueShare, TiersBy
from engine.policies.common.texts import PolicyTexts
from engine.policies.common.weighing import Weighing
from engine.tree.lint.rules import LintRules
from engine.tree.reach import Reach


class Counterfactuals(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest changes that are tried to find out what would have changed a decision of the policy."""

    of_ask: Callable[[Again, Decision], Iterator[Counterfactual]]
    """Yield changes of the pending pod with which it takes less from others, or nothing."""
    of_victim: Callable[[Again, Decision, str], Iterator[Counterfactual]]
    """Yield changes of a victim, by its uid, and of its queue that would have spared it."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy in one dialect. A field that a policy has no use for is None; none has a default."""

    name: str
    dialect: str
    parameters: type[msgspec.Struct] | None
    """The parameters that a revision may set; None: nothing is decided by it, it only explains."""
    decider: Callable[[Any], Decide] | None
    """Return the function that decides, for parameters of that type; None where nothing is decided by it."""
    audit_terms: Callable[[Any], AuditTerms]
    """Return what its parameters change about the audit, for parameters of that type."""
    invariants: Invariants
    """What the audit checks of its decisions."""
    reach: Callable[[Mapping[str, Any]], Reach]
    """Return which queues may preempt which others as far as the tree decides it, for a revision's parameters."""
    lint: LintRules | None
    """What is checked in trees that are published with it; None: no tree is."""
    by_tree: bool
    """Whether the tree limits which pods it evicts. If so, it needs one, and no other scheduler may evict beside it."""
    pending_tiers: TiersBy | None
    """Return the tiers that explain why a pod is pending; None: they are not known."""
    counterfactuals: Counterfactuals | None
    """What would have changed its decisions; None: that is not worked out."""
    optimum: Callable[[Snapshot, QueueTree, Pod, Mapping[str, Any]], Weighing | UnitWeighing] | None
    """Return how sets of victims are weighed to find the least one; None: that is not searched."""
    shares: Callable[[Snapshot, QueueTree, Any], Mapping[str, QueueShare]] | None
    """Return each queue's share by its path, for parameters of that type; None: the policy compares no shares."""
    texts: PolicyTexts
    foreign: bool
    """Whether it reproduces another scheduler. Then a broken invariant does not keep a decision from being shown."""
    by_quota: bool
    """Whether it decides by quota alone and looks at no node."""
    inherits_delay: bool
    """Whether a leaf without a delay, or grace period, has that of the nearest queue above."""
    within_quotas: bool
    """Whether the ResourceQuotas of a namespace limit what it deserves."""
    guarded: bool
    """Whether it is given the safeguards to choose within also where nothing is carried out or advised."""

    @property
    def enforceable(self) -> bool:
        """Return whether its decisions may be carried out here."""
        return not (self.foreign or self.by_quota)

    def decide_by(self, parameters: Mapping[str, Any]) -> Decide | None:
        """Return the function that decides by a revision's parameters; None where nothing is decided by the policy.

        Raises msgspec.ValidationError for parameters that it does not have.
        """
        if self.parameters is None or self.decider is None:
            return None
        return self.decider(msgspec.convert(dict(parameters), self.parameters))

    def queue_shares(
        self, snapshot: Snapshot, tree: QueueTree, parameters: Mapping[str, Any]
    ) -> Mapping[str, QueueShare]:
        """Return each queue's share by its path, for a revision's parameters; empty where shares are not compared."""
        if self.shares is None or self.parameters is None:
            return {}
        return self.shares(snapshot, tree, known_parameters(parameters, self.parameters))

    def terms(self, parameters: Mapping[str, Any]) -> AuditTerms:
        """Return what a revision's parameters change about the audit; parameters of other policies are ignored."""
        return self.audit_terms(known_parameters(parameters, self.parameters) if self.parameters else None)
