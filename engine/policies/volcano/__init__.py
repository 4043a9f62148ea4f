"""Dialect ``volcano`` of policy ``deserved``: what queues deserve by Volcano's plugins, and what it reclaims."""

from engine.audit import AuditTerms
from engine.audit.deserved import INVARIANTS_OF_DIALECT
from engine.policies.common.policy import Policy
from engine.policies.volcano.figures import figures
from engine.policies.volcano.queue_hierarchy import HierarchyError
from engine.policies.volcano.reclaim import FirstConsidered, Reclaim, reclaim
from engine.policies.volcano.texts import TEXTS
from engine.tree.reach import BY_SHARES

DIALECT = "volcano"

__all__ = ["DIALECT", "VOLCANO", "FirstConsidered", "HierarchyError", "Reclaim", "figures", "reclaim"]


VOLCANO = Policy(
    name="deserved",
    dialect=DIALECT,
    parameters=None,
    decider=None,
    audit_terms=lambda _parameters: AuditTerms(),
    invariants=INVARIANTS_OF_DIALECT,
    reach=lambda _parameters: BY_SHARES,
    lint=None,
    by_tree=True,
    pending_tiers=None,
    counterfactuals=None,
    optimum=None,
    shares=None,
    texts=TEXTS,
    foreign=True,
    by_quota=False,
    inherits_delay=True,
    within_quotas=False,
    guarded=False,
)
