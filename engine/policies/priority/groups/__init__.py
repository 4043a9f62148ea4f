"""Policy ``priority`` for groups of pods, as kube-scheduler 1.37 decides with feature gate GenericWorkload.

``decision`` holds the stages in their order, ``attempt`` who the members are and which units may be evicted,
``placing`` where the members get a node, ``node_scores`` which node is best, ``budget_charges`` which disruption
budgets the evictions exceed, ``reprieve`` what stays after all, and ``trace`` the record of it. ``changes`` and
``pending_tiers`` are what is analyzed of its decisions.
"""

from engine.policies.priority.groups.changes import changes_of_ask, changes_of_victim
from engine.policies.priority.groups.decision import decide_group, decide_with_groups
from engine.policies.priority.groups.pending_tiers import tiers_by

__all__ = ["changes_of_ask", "changes_of_victim", "decide_group", "decide_with_groups", "tiers_by"]
