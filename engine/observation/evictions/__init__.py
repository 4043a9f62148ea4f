"""Record evictions by others: the cluster's own scheduler, the Eviction API, and nodes.

Only what the cluster itself reports is recorded: Events of preemption, the condition DisruptionTarget of pods, and the
conditions of Kueue's Workloads. If an Event never comes, the nomination of the only pod that the eviction can have been
for is recorded. Everything else remains unknown. engine.observation.evictions.eviction_sources lists what each source
reports.
"""

from engine.observation.evictions.agreement import Agreement, Cause, Compared, agrees, compared
from engine.observation.evictions.broken_rules import ObservedUsage, judged
from engine.observation.evictions.eviction_sources import EVIDENCE, RULES, SCHEDULERS, EvictionSource, RulesOf
from engine.observation.evictions.grouping import observe
from engine.observation.evictions.kueue_verdict import Gone, KnownBy, Weighed
from engine.observation.evictions.observed import (
    Flag,
    Flagged,
    Hindsight,
    Observed,
    Taken,
    Untold,
    decode,
    encode,
    joined,
    parted,
)
from engine.observation.evictions.sightings import Key, sighted

__all__ = [
    "EVIDENCE",
    "RULES",
    "SCHEDULERS",
    "Agreement",
    "Cause",
    "Compared",
    "EvictionSource",
    "Flag",
    "Flagged",
    "Gone",
    "Hindsight",
    "Key",
    "KnownBy",
    "Observed",
    "ObservedUsage",
    "RulesOf",
    "Taken",
    "Untold",
    "Weighed",
    "agrees",
    "compared",
    "decode",
    "encode",
    "joined",
    "judged",
    "observe",
    "parted",
    "sighted",
]
