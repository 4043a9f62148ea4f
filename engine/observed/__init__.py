"""What others evicted: the cluster's own scheduler, the Eviction API, nodes. Recorded, never decided here.

Only what the cluster itself tells is taken down: Events of preemption, the condition DisruptionTarget of pods, and
where an Event never comes, the nomination of the one pod that it can have been for. What they don't tell stays unknown.
"""

from engine.observed.observing import observe
from engine.observed.results import Flag, Flagged, Observed, Taken, decode, encode, joined, parted
from engine.observed.sightings import Key, Source, sighted

__all__ = [
    "Flag",
    "Flagged",
    "Key",
    "Observed",
    "Source",
    "Taken",
    "decode",
    "encode",
    "joined",
    "observe",
    "parted",
    "sighted",
]
