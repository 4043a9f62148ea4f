"""Policy ``fence``: guarantees and fences as YuniKorn's design document promises them (dialect ``design``).

``decision`` holds the stages of a decision in their order, ``parameters`` what a revision may set, ``candidates``
which pods may be victims, ``node_candidates`` what the policy would do on every node, ``selection`` the choice of node
and victims, and ``trace`` the record of both. ``groups`` decides gangs, and whole groups as victims. ``optimum`` and
``pending_tiers`` are what is analyzed of its decisions.
"""

from functools import partial

from engine.audit import AuditTerms, fence, gangs
from engine.policies.common.counterfactuals import changes_of_victim
from engine.policies.common.groups.changes import changes_of_ask
from engine.policies.common.policy import Counterfactuals, Policy
from engine.policies.common.policy_types import Decide
from engine.policies.fence.decision import DIALECT, POLICY, decide, may_resort
from engine.policies.fence.groups.decision import decide_with_groups
from engine.policies.fence.optimum import FenceWeighing
from engine.policies.fence.parameters import Parameters
from engine.policies.fence.pending_tiers import tiers_by
from engine.policies.fence.texts import TEXTS
from engine.tree.lint.lending import lending
from engine.tree.lint.rules import LintRules
from engine.tree.reach import BY_GUARANTEES

__all__ = ["DIALECT", "FENCE", "POLICY", "Parameters", "decide", "may_resort"]


def _decider(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: decide_with_groups(snapshot, tree, ask, parameters)


def _audit_terms(parameters: Parameters) -> AuditTerms:
    return AuditTerms(last_resort=parameters.last_resort, check_delay=parameters.check_delay)


FENCE = Policy(
    name=POLICY,
    dialect=DIALECT,
    parameters=Parameters,
    decider=_decider,
    audit_terms=_audit_terms,
    invariants=fence.INVARIANTS._replace(with_groups=gangs.INVARIANTS),
    reach=lambda _parameters: BY_GUARANTEES,
    lint=LintRules(
        policy=POLICY,
        flavors=False,
        lending=lending,
        amounts=True,
        claims=True,
        quotas=False,
        yunikorn_decides=False,
        yunikorn_alike=True,
    ),
    by_tree=True,
    pending_tiers=tiers_by,
    counterfactuals=Counterfactuals(of_ask=changes_of_ask, of_victim=partial(changes_of_victim, weights=False)),
    optimum=FenceWeighing,
    shares=None,
    texts=TEXTS,
    foreign=False,
    by_quota=False,
    inherits_delay=False,
    within_quotas=False,
    guarded=True,
)
