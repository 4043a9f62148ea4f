"""Policies ``cohort`` and ``fair-share``: Kueue's classic preemption and its fair sharing, over workloads and quota.

Neither policy looks at nodes. Both assign flavors in the same way and have the same candidates for preemption. They
differ in which of the candidates they preempt.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from engine.audit import AuditTerms
from engine.audit.quota import INVARIANTS
from engine.policies.cohort.admissible import Inadmissible, inadmissible, without_replaced
from engine.policies.cohort.figures import figures
from engine.policies.cohort.flavor_assignment import Assignment, Mode, SetAssignment
from engine.policies.cohort.parameters import FairParameters, Parameters, reading_of
from engine.policies.cohort.pending_tiers import tiers_by
from engine.policies.cohort.pod_decision import DIALECT, STRATEGY_SETS, QuotaPolicy
from engine.policies.cohort.queue_shares import queue_shares
from engine.policies.cohort.search.candidates import preemption_candidates
from engine.policies.cohort.search.fair import STRATEGIES, Strategy, strategies_of
from engine.policies.cohort.search.quota_index import usage_of
from engine.policies.cohort.search.targets import PreemptionReason, Target, TargetSearch
from engine.policies.cohort.texts import FAIR_TEXTS, TEXTS
from engine.policies.cohort.workload_decision import FAIR_SHARE, POLICY, WorkloadVerdict, decide
from engine.policies.common.counterfactuals import changes_of_request, changes_of_victim
from engine.policies.common.parameters import known_parameters
from engine.policies.common.policy import Counterfactuals, Policy
from engine.tree.lint.lending import lending
from engine.tree.lint.rules import LintRules
from engine.tree.reach import Reach, by_quota

__all__ = [
    "COHORT",
    "DIALECT",
    "FAIR",
    "FAIR_SHARE",
    "POLICY",
    "STRATEGIES",
    "STRATEGY_SETS",
    "Assignment",
    "FairParameters",
    "Inadmissible",
    "Mode",
    "Parameters",
    "PreemptionReason",
    "QuotaPolicy",
    "SetAssignment",
    "Strategy",
    "Target",
    "TargetSearch",
    "WorkloadVerdict",
    "decide",
    "figures",
    "inadmissible",
    "preemption_candidates",
    "reading_of",
    "strategies_of",
    "usage_of",
    "without_replaced",
]


def _reach(parameters: Mapping[str, Any]) -> Reach:
    return by_quota(reading_of(known_parameters(parameters, Parameters)), fair=False)


def _fair_reach(parameters: Mapping[str, Any]) -> Reach:
    return by_quota(reading_of(known_parameters(parameters, Parameters)), fair=True)


COHORT = Policy(
    name=POLICY,
    dialect=DIALECT,
    parameters=Parameters,
    decider=QuotaPolicy,
    audit_terms=lambda parameters: AuditTerms(reading=reading_of(parameters)),
    invariants=INVARIANTS,
    reach=_reach,
    lint=LintRules(
        policy=POLICY,
        flavors=True,
        lending=lending,
        amounts=False,
        claims=False,
        quotas=False,
        yunikorn_decides=False,
        yunikorn_alike=False,
    ),
    by_tree=True,
    pending_tiers=tiers_by(Parameters),
    counterfactuals=Counterfactuals(of_ask=changes_of_request, of_victim=partial(changes_of_victim, weights=False)),
    optimum=None,
    shares=None,
    texts=TEXTS,
    foreign=False,
    by_quota=True,
    inherits_delay=False,
    within_quotas=False,
    guarded=False,
)
FAIR = Policy(
    name=FAIR_SHARE,
    dialect=DIALECT,
    parameters=FairParameters,
    decider=QuotaPolicy,
    audit_terms=lambda parameters: AuditTerms(reading=reading_of(parameters)),
    invariants=INVARIANTS,
    reach=_fair_reach,
    lint=LintRules(
        policy=FAIR_SHARE,
        flavors=True,
        lending=lending,
        amounts=False,
        claims=False,
        quotas=False,
        yunikorn_decides=False,
        yunikorn_alike=False,
    ),
    by_tree=True,
    pending_tiers=tiers_by(FairParameters),
    counterfactuals=Counterfactuals(of_ask=changes_of_request, of_victim=partial(changes_of_victim, weights=True)),
    optimum=None,
    shares=queue_shares,
    texts=FAIR_TEXTS,
    foreign=False,
    by_quota=True,
    inherits_delay=False,
    within_quotas=False,
    guarded=False,
)
