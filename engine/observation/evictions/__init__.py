"""What others evicted: the cluster's own scheduler, the Eviction API, nodes. Recorded, never decided here.

Only what the cluster itself tells is taken down: Events of preemption, the condition DisruptionTarget of pods, the
conditions of Kueue's Workloads, and where an Event never comes, the nomination of the one pod that it can have been
for. What they don't tell stays unknown. Who tells what stands in engine.observation.evictions.eviction_sources.
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
