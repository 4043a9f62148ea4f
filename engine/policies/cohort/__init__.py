"""Policies ``cohort`` and ``fair-share``: Kueue's classic preemption and its fair sharing, over workloads and quota.

No node is looked at. Both assign flavors alike and have the same candidates; they differ in which of them go.
"""

from engine.policies.cohort.admissible import Inadmissible, inadmissible, without_replaced
from engine.policies.cohort.figures import figures
from engine.policies.cohort.flavor_assignment import Assignment, Mode, SetAssignment
from engine.policies.cohort.pod_decision import DIALECT, STRATEGY_SETS, ByQuota, FairParameters, Parameters, reading_of
from engine.policies.cohort.search.candidates import may_go
from engine.policies.cohort.search.fair import STRATEGIES, Strategy, strategies_of
from engine.policies.cohort.search.quota_index import usage_of
from engine.policies.cohort.search.targets import PreemptionReason, Target, TargetSearch
from engine.policies.cohort.workload_decision import FAIR_SHARE, POLICY, WorkloadVerdict, decide

__all__ = [
    "DIALECT",
    "FAIR_SHARE",
    "POLICY",
    "STRATEGIES",
    "STRATEGY_SETS",
    "Assignment",
    "ByQuota",
    "FairParameters",
    "Inadmissible",
    "Mode",
    "Parameters",
    "PreemptionReason",
    "SetAssignment",
    "Strategy",
    "Target",
    "TargetSearch",
    "WorkloadVerdict",
    "decide",
    "figures",
    "inadmissible",
    "may_go",
    "reading_of",
    "strategies_of",
    "usage_of",
    "without_replaced",
]
