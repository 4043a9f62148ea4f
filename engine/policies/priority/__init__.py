"""Policy ``priority``: kube-scheduler's default preemption.

``decision`` holds the stages of a decision in their order, ``attempt`` where the pending pod fits and which pods may be
evicted for it, ``node_candidates`` what the policy would do on every node, ``victims`` which pods are evicted there and
what that costs, ``other_sets`` the search where those exceed disruption budgets, and ``trace`` the record of it all.
``counterfactuals``, ``optimum`` and ``pending_tiers`` are what is analyzed of its decisions.
"""

import msgspec

from engine.audit import AuditTerms
from engine.audit.priority import INVARIANTS
from engine.audit.units import INVARIANTS as OF_UNITS
from engine.policies.common.policy import Counterfactuals, Policy
from engine.policies.common.policy_types import Decide
from engine.policies.priority import groups
from engine.policies.priority.counterfactuals import changes_of_ask, changes_of_victim
from engine.policies.priority.decision import BESIDE_GROUPS, DIALECT, POLICY, decide, figures
from engine.policies.priority.optimum import PriorityWeighing
from engine.policies.priority.parameters import Parameters
from engine.policies.priority.pending_tiers import tiers_by
from engine.policies.priority.texts import TEXTS, TEXTS_OF_GROUPS
from engine.tree.lint.rules import LintRules
from engine.tree.reach import BY_PRIORITIES

__all__ = [
    "BESIDE_GROUPS",
    "DIALECT",
    "POLICY",
    "PRIORITY",
    "WITH_GROUPS",
    "Parameters",
    "decide",
    "figures",
]


def _decider(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: decide(snapshot, tree, ask, parameters)


def _decider_with_groups(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: groups.decide_with_groups(snapshot, tree, ask, parameters)


PRIORITY = Policy(
    name=POLICY,
    dialect=DIALECT,
    parameters=Parameters,
    decider=_decider,
    audit_terms=lambda _parameters: AuditTerms(),
    invariants=INVARIANTS,
    reach=lambda _parameters: BY_PRIORITIES,
    lint=LintRules(
        policy=POLICY,
        flavors=False,
        lending=None,
        amounts=False,
        claims=False,
        quotas=False,
        yunikorn_decides=False,
        yunikorn_alike=False,
    ),
    by_tree=False,
    pending_tiers=tiers_by,
    counterfactuals=Counterfactuals(of_ask=changes_of_ask, of_victim=changes_of_victim),
    optimum=PriorityWeighing,
    shares=None,
    texts=TEXTS,
    foreign=False,
    by_quota=False,
    inherits_delay=False,
    within_quotas=False,
    guarded=False,
)
WITH_GROUPS = msgspec.structs.replace(
    PRIORITY,
    dialect=BESIDE_GROUPS,
    decider=_decider_with_groups,
    invariants=OF_UNITS,
    pending_tiers=groups.tiers_by,
    counterfactuals=Counterfactuals(of_ask=groups.changes_of_ask, of_victim=groups.changes_of_victim),
    optimum=None,
    texts=TEXTS_OF_GROUPS,
    foreign=True,
)
"""The same where groups of pods are scheduled and preempted together. Only shown: it does not spare protected pods."""
