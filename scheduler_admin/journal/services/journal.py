"""The journal of a cluster: what passes saw, so that any moment is read again. Written by passes, dropped by size."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

import msgspec

from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.journal import PassInputs
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.journal.models import JournalEntry, JournalSegment

KEYFRAME_EVERY = timedelta(minutes=10)
"""A segment goes on for so long at most: to read a moment, all of its segment before it is read."""

OUTGROWN = 4
"""Nor do a segment's other entries weigh more than so many times its first: what is read stays in proportion."""


@dataclass(frozen=True, kw_only=True)
class _Head:
    """How far this process has written a cluster's journal. The next entry is what differs from it."""

    segment: int
    began_at: datetime
    at: datetime
    entries: int
    state: ClusterState
    moment: PassInputs
    keyframe: int
    """Bytes of the segment's first entry."""
    since: int = 0
    """Bytes of those after it."""
    entry: int = 0
    """The last one (id)."""

    def stands(self, cluster: Cluster) -> bool:
        """Whether it is the newest that is stored.

        Not if our transaction came to nothing, another worker has written meanwhile, or the segment was dropped.
        """
        newest = JournalSegment.objects.filter(cluster=cluster).order_by("-pk")
        stored = newest.values_list("pk", "began_at", "entries").first()
        return stored == (self.segment, self.began_at, self.entries)

    def full(self, now: datetime) -> bool:
        """Whether a new segment is due."""
        return now - self.began_at >= KEYFRAME_EVERY or self.since > OUTGROWN * self.keyframe

    def saw(self, state: ClusterState, moment: PassInputs) -> bool:
        """Whether this entry says it all already, but for the time."""
        return msgspec.structs.replace(self.moment, now_ms=moment.now_ms) == moment and journal.same_state(
            self.state, state
        )

    def words_of(self, pod: Pod, now: datetime) -> str:
        """What the cluster's scheduler says of a pod: within one minute, what it said first.

        It counts nodes in its words, and so says others at each of its tries, where nothing else has changed.
        """
        known = self.state.pods.get(pod.uid)
        said = known.unschedulable_message if known else ""
        heard = said and pod.unschedulable_message and _minute(self.at) == _minute(now)
        return said if heard else pod.unschedulable_message


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


_heads: WeakKeyDictionary[Watch, _Head] = WeakKeyDictionary()


def seen(*, watch: Watch, now: datetime) -> ClusterState:
    """The cluster as a pass is to see it: as it is, but for mere rewording by its scheduler."""
    state, head = watch.watcher.state(), _heads.get(watch)
    for uid, pod in state.pods.items():
        if head is not None and (words := head.words_of(pod, now)) != pod.unschedulable_message:
            state.pods[uid] = msgspec.structs.replace(pod, unschedulable_message=words)
    return state


def write(
    *, cluster: Cluster, watch: Watch, state: ClusterState, moment: PassInputs, decided: bool, now: datetime
) -> int:
    """Keep what a pass saw. Returns the id of the entry that has it.

    Nothing is written when nothing was ``decided`` and everything is as it was.
    """
    head = _heads.get(watch)
    if head is not None and not head.stands(cluster):
        head = None
    if head is not None and not decided and head.saw(state, moment):
        return head.entry
    if head is None or head.full(now):
        blob = journal.encode_keyframe(state, moment)
        head = _begun(cluster, len(blob), now, state, moment)
    else:
        blob = journal.encode_changes(head.state, state, moment)
        head = _followed(head, len(blob), now, state, moment)
    entry = JournalEntry.objects.create(segment_id=head.segment, offset=head.entries - 1, at=now, blob=blob)
    _heads[watch] = replace(head, entry=entry.pk)
    return entry.pk


def _begun(cluster: Cluster, size: int, now: datetime, state: ClusterState, moment: PassInputs) -> _Head:
    segment = JournalSegment.objects.create(cluster=cluster, began_at=now, entries=1, size=size)
    return _Head(segment=segment.pk, began_at=now, at=now, entries=1, state=state, moment=moment, keyframe=size)


def _followed(head: _Head, size: int, now: datetime, state: ClusterState, moment: PassInputs) -> _Head:
    new = replace(head, at=now, entries=head.entries + 1, since=head.since + size, state=state, moment=moment)
    JournalSegment.objects.filter(pk=head.segment).update(entries=new.entries, size=new.keyframe + new.since)
    return new


def drop_beyond(*, limit: int) -> int:
    """Drop the oldest segments of every cluster whose journal is larger than ``limit`` bytes; how many were dropped.

    The newest segment, which is being written, always stays. Decisions stay: they can no longer be replayed.
    """
    dropped = 0
    for cluster in Cluster.objects.all():
        kept = 0
        segments = JournalSegment.objects.filter(cluster=cluster).order_by("-pk").values_list("pk", "size")
        for place, (pk, size) in enumerate(segments):
            kept += size
            if place and kept > limit:
                JournalSegment.objects.filter(pk=pk).delete()
                dropped += 1
    return dropped
