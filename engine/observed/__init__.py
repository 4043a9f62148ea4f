"""What others evicted: the cluster's own scheduler, the Eviction API, nodes. Recorded, never decided here.

Only what the cluster itself tells is taken down: Events of preemption, the condition DisruptionTarget of pods, the
conditions of Kueue's Workloads, and where an Event never comes, the nomination of the one pod that it can have been
for. What they don't tell stays unknown. Who tells what stands in engine.observed.sources.
"""

from engine.observed.comparing import Agreement, Cause, Compared, agrees, compared
from engine.observed.observing import observe
from engine.observed.results import Flag, Flagged, Hindsight, Observed, Taken, Untold, decode, encode, joined, parted
from engine.observed.rules import Usage, judged
from engine.observed.sightings import Key, sighted
from engine.observed.sources import EVIDENCE, RULES, SCHEDULERS, RulesOf, Source
from engine.observed.weighed import Gone, KnownBy, Weighed

__all__ = [
    "EVIDENCE",
    "RULES",
    "SCHEDULERS",
    "Agreement",
    "Cause",
    "Compared",
    "Flag",
    "Flagged",
    "Gone",
    "Hindsight",
    "Key",
    "KnownBy",
    "Observed",
    "RulesOf",
    "Source",
    "Taken",
    "Untold",
    "Usage",
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
