"""Policy ``fence``, dialect ``yunikorn``: the decisions of YuniKorn, including its deviations from its own design."""

from functools import partial

from engine.audit import AuditTerms
from engine.audit.fence import INVARIANTS_OF_DIALECT
from engine.policies.common.counterfactuals import changes_of_request, changes_of_victim
from engine.policies.common.policy import Counterfactuals, Policy
from engine.policies.common.policy_types import Decide
from engine.policies.yunikorn.decision import DIALECT, POLICY, calculated_amounts, decide
from engine.policies.yunikorn.parameters import Parameters
from engine.policies.yunikorn.pending_tiers import tiers_by
from engine.policies.yunikorn.pod_table import table_of
from engine.policies.yunikorn.queue_balances import QueueBalances
from engine.policies.yunikorn.quirks.effects import QuirkEffect, effects, quota_effects
from engine.policies.yunikorn.quirks.table import ALL, Quirk, Quirks
from engine.policies.yunikorn.quota_change import Enforcement, enforce
from engine.policies.yunikorn.texts import TEXTS
from engine.tree.lint.lending import lending
from engine.tree.lint.rules import LintRules
from engine.tree.reach import BY_GUARANTEES

__all__ = [
    "ALL",
    "DIALECT",
    "YUNIKORN",
    "Enforcement",
    "Parameters",
    "QueueBalances",
    "Quirk",
    "QuirkEffect",
    "Quirks",
    "calculated_amounts",
    "decide",
    "effects",
    "enforce",
    "quota_effects",
    "table_of",
]


def _decider(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: decide(snapshot, tree, ask, parameters)


YUNIKORN = Policy(
    name=POLICY,
    dialect=DIALECT,
    parameters=Parameters,
    decider=_decider,
    audit_terms=lambda parameters: AuditTerms(check_delay=parameters.check_delay),
    invariants=INVARIANTS_OF_DIALECT,
    reach=lambda _parameters: BY_GUARANTEES,
    lint=LintRules(
        policy=POLICY,
        flavors=False,
        lending=lending,
        amounts=True,
        claims=False,
        quotas=False,
        yunikorn_decides=True,
        yunikorn_alike=True,
    ),
    by_tree=True,
    pending_tiers=tiers_by,
    counterfactuals=Counterfactuals(of_ask=changes_of_request, of_victim=partial(changes_of_victim, weights=False)),
    optimum=None,
    shares=None,
    texts=TEXTS,
    foreign=True,
    by_quota=False,
    inherits_delay=True,
    within_quotas=False,
    guarded=False,
)
