"""Record evictions by others: the cluster's own scheduler, the Eviction API, and nodes.

Only what the cluster itself reports is recorded: Events of preemption, the condition DisruptionTarget of pods, and the
conditions of Kueue's Workloads. If an Event never comes, the nomination of the only pod that the eviction can have been
for is recorded. Everything else remains unknown. engine.observation.evictions.eviction_sources lists what each source
reports.
"""

from engine.observation.evictions.agreement import Agreement, Cause, Compared, agrees, compare_with_replay, rules_of
from engine.observation.evictions.broken_rules import ObservedUsage, with_broken_rules
from engine.observation.evictions.eviction_sources import EVIDENCE, SCHEDULERS, EvictionSource
from engine.observation.evictions.grouping import observe
from engine.observation.evictions.kueue_verdict import KnownBy, PreemptedWorkload, WorkloadReplay
from engine.observation.evictions.observed import (
    DecisionReplay,
    Flag,
    Flagged,
    NotReplayedReason,
    Observed,
    ObservedVictim,
    decode,
    encode,
    merge_observed,
    without_victims,
)
from engine.observation.evictions.preemptors import is_resized
from engine.observation.evictions.sightings import Key, sighting_keys

__all__ = [
    "EVIDENCE",
    "SCHEDULERS",
    "Agreement",
    "Cause",
    "Compared",
    "DecisionReplay",
    "EvictionSource",
    "Flag",
    "Flagged",
    "Key",
    "KnownBy",
    "NotReplayedReason",
    "Observed",
    "ObservedUsage",
    "ObservedVictim",
    "PreemptedWorkload",
    "WorkloadReplay",
    "agrees",
    "compare_with_replay",
    "decode",
    "encode",
    "is_resized",
    "merge_observed",
    "observe",
    "rules_of",
    "sighting_keys",
    "with_broken_rules",
    "without_victims",
]
