"""Policy ``deserved``: how much of a cluster each consumer deserves, and which pods are reclaimed (kube-arbitrator)."""

from functools import partial

from engine.audit import AuditTerms, deserved_gangs
from engine.audit.deserved import INVARIANTS
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.common.counterfactuals import changes_of_victim
from engine.policies.common.groups.changes import changes_of_ask
from engine.policies.common.policy import Counterfactuals, Policy
from engine.policies.common.policy_types import Decide
from engine.policies.deserved.decision import DIALECT, POLICY, decide
from engine.policies.deserved.groups.decision import decide_with_groups
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.pending_tiers import tiers_by
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.queue_shares import queue_shares
from engine.policies.deserved.shares.share_index import ShareIndex, share_index_of
from engine.policies.deserved.shares.share_status import ShareStatus, share_statuses
from engine.policies.deserved.texts import TEXTS
from engine.tree.lint.deserving import deserving
from engine.tree.lint.rules import LintRules
from engine.tree.reach import BY_SHARES

__all__ = [
    "DESERVED",
    "DIALECT",
    "POLICY",
    "SYSTEM",
    "Method",
    "Parameters",
    "ShareIndex",
    "ShareStatus",
    "decide",
    "deserved",
    "share_index_of",
    "share_statuses",
]


def _decider(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: decide_with_groups(snapshot, tree, ask, parameters)


def _audit_terms(parameters: Parameters) -> AuditTerms:
    return AuditTerms(method=parameters.method, node_fit=parameters.node_fit, high_priority=parameters.high_priority)


DESERVED = Policy(
    name=POLICY,
    dialect=DIALECT,
    parameters=Parameters,
    decider=_decider,
    audit_terms=_audit_terms,
    invariants=INVARIANTS._replace(with_groups=deserved_gangs.INVARIANTS),
    reach=lambda _parameters: BY_SHARES,
    lint=LintRules(
        policy=POLICY,
        flavors=False,
        lending=deserving,
        amounts=True,
        claims=False,
        quotas=True,
        yunikorn_decides=False,
        yunikorn_alike=False,
    ),
    by_tree=True,
    pending_tiers=tiers_by,
    counterfactuals=Counterfactuals(of_ask=changes_of_ask, of_victim=partial(changes_of_victim, weights=True)),
    optimum=None,
    shares=queue_shares,
    texts=TEXTS,
    foreign=False,
    by_quota=False,
    inherits_delay=True,
    within_quotas=True,
    guarded=True,
)
