"""Policy ``priority`` for groups of pods, as kube-scheduler 1.37 decides with feature gate GenericWorkload.

``decision`` holds the stages in their order, ``placing`` where the members get a node, ``node_scores`` which node is
best, ``units`` what is evicted together, ``budget_charges`` which disruption budgets that violates, and ``reprieve``
what stays after all.
"""

from engine.policies.priority.groups.decision import GroupDecision, GroupReason, decide_group

__all__ = ["GroupDecision", "GroupReason", "decide_group"]
