"""Policies ``cohort`` and ``fair-share``: Kueue's classic preemption and its fair sharing, over workloads and quota.

No node is looked at. Both assign flavors alike and have the same candidates; they differ in which of them go.
"""

from engine.policies.cohort.admissible import Inadmissible, inadmissible, without_replaced
from engine.policies.cohort.asking import DIALECT, STRATEGY_SETS, ByQuota, FairParameters, Parameters, reading_of
from engine.policies.cohort.assigning import Assignment, Mode, SetAssignment
from engine.policies.cohort.candidates import may_go
from engine.policies.cohort.deciding import FAIR_SHARE, POLICY, WorkloadVerdict, decide
from engine.policies.cohort.fair import STRATEGIES, Strategy, strategies_of
from engine.policies.cohort.figures import figures
from engine.policies.cohort.ground import usage_of
from engine.policies.cohort.targets import PreemptionReason, Target, TargetSearch

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
