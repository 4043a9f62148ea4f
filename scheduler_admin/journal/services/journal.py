"""The journal of a cluster: what passes saw, so that any moment is read again. Written by passes, dropped by size."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

import msgspec
from django.db.models import F, Q

from engine.model.collections.tracked_mapping import Moment, TrackedMapping
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.journal import PassInputs
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.journal.services.keyframes import LARGE, Keyframe, begin

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
    """Bytes of the segment's first entry, or of its first entries; 0: they are not all stored yet."""
    since: int = 0
    """Bytes of those after it."""
    entry: int = 0
    """The last one (id)."""

    def stands(self, cluster: Cluster) -> bool:
        """Whether it is the newest that is stored.

        Not if our transaction came to nothing, another worker has written meanwhile, or the segment was dropped.
        """
        newest = JournalSegment.objects.filter(Q(complete=True) | Q(pk=self.segment), cluster=cluster).order_by("-pk")
        stored = newest.values_list("pk", "began_at", "entries").first()
        return stored == (self.segment, self.began_at, self.entries)

    def full(self, now: datetime) -> bool:
        """Whether a new segment is due."""
        return now - self.began_at >= KEYFRAME_EVERY or self.since > OUTGROWN * self.keyframe

    def saw(self, state: ClusterState, moment: PassInputs, touched: set[str] | None) -> bool:
        """Whether this entry says it all already, but for the time; ``touched``: as in ``_Trail``."""
        return msgspec.structs.replace(self.moment, now_ms=moment.now_ms) == moment and journal.same_state(
            self.state, state, touched
        )

    def words_of(self, pod: Pod, now: datetime) -> str:
        """What the cluster's scheduler says of a pod: within one minute, what it said first.

        It counts nodes in its words, and so says others at each of its tries, where nothing else has changed.
        """
        known = self.state.pods.get(pod.uid)
        said = known.unschedulable_message if known else ""
        heard = said and pod.unschedulable_message and _minute(self.at) == _minute(now)
        return said if heard else pod.unschedulable_message


@dataclass
class _Trail:
    """Which pods may have changed, so that no pass has to look at all of them."""

    moment: Moment[Pod]
    """What the watcher had heard of by then."""
    touched: set[str] | None = None
    """The pods (uids) that can differ from those of the head; None: unknown."""
    reworded: set[str] = field(default_factory=set)
    """The pods (uids) of which the last pass saw other words than the watcher has."""

    def follow(self, pods: TrackedMapping[Pod]) -> None:
        """Add what has changed since the last time."""
        changed, self.moment = pods.since(self.moment), pods.moment
        if self.touched is not None and changed is not None:
            self.touched |= changed.keys()
        else:
            self.touched = None


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


_heads: WeakKeyDictionary[Watch, _Head] = WeakKeyDictionary()
_trails: WeakKeyDictionary[Watch, _Trail] = WeakKeyDictionary()
_keyframes: WeakKeyDictionary[Watch, Keyframe] = WeakKeyDictionary()
"""Those that a thread stores, or has stored since the last pass."""


def seen(*, watch: Watch, now: datetime) -> ClusterState:
    """The cluster as a pass is to see it: as it is, but for mere rewording by its scheduler."""
    state, head = watch.watcher.state(), _heads.get(watch)
    trail = _trails.setdefault(watch, _Trail(state.pods.moment))
    trail.follow(state.pods)
    trail.reworded = set()
    if head is None:
        return state
    for uid in state.pods if trail.touched is None else trail.touched:
        pod = state.pods.get(uid)
        if pod is not None and (words := head.words_of(pod, now)) != pod.unschedulable_message:
            state.pods[uid] = msgspec.structs.replace(pod, unschedulable_message=words)
            trail.reworded.add(uid)
    return state


def write(
    *, cluster: Cluster, watch: Watch, state: ClusterState, moment: PassInputs, decided: bool, now: datetime
) -> int:
    """Keep what a pass saw, which ``seen`` has returned. Returns the id of the entry that has it.

    Nothing is written when nothing was ``decided`` and everything is as it was.
    """
    trail, head = _trails[watch], _heads.get(watch)
    if head is not None and not head.stands(cluster):
        head = None
    touched, trail.touched = trail.touched, set(trail.reworded)
    if watch in _keyframes:
        head, touched = _with_keyframe(watch, head, touched, now)
    if head is not None and head.entry and not decided and head.saw(state, moment, touched):
        _heads[watch] = replace(head, state=state)
        return head.entry
    if head is None or (watch not in _keyframes and head.full(now)):
        if len(state.pods) < LARGE:
            blob = journal.encode_keyframe(state, moment)
            return _kept(watch, _begun(cluster, len(blob), now, state, moment), blob)
        _keyframes[watch] = keyframe = begin(cluster=cluster, state=state, moment=moment, now=now)
        if head is None:  # its entries come after the pieces of the keyframe, which are not there yet
            head, touched = _after(keyframe, now, now), set()
    blob = journal.encode_changes(head.state, state, moment, touched)
    return _kept(watch, _followed(head, len(blob), now, state, moment), blob)


def _with_keyframe(
    watch: Watch, head: _Head | None, touched: set[str] | None, now: datetime
) -> tuple[_Head | None, set[str] | None]:
    """Return the head to go on from, and the pods that can differ from its, where a thread stores a keyframe."""
    keyframe = _keyframes[watch]
    keyframe.touched = None if touched is None or keyframe.touched is None else keyframe.touched | touched
    if head is not None and not keyframe.ended.is_set():
        return head, touched
    del _keyframes[watch]
    within = head is not None and head.segment == keyframe.segment
    if head is None or not keyframe.stored:
        return None if within else head, touched
    segment = JournalSegment.objects.filter(pk=keyframe.segment)
    if within:
        segment.update(complete=True)
        return replace(head, keyframe=keyframe.size), touched
    segment.update(complete=True, began_at=now)  # what passes saw meanwhile is in the segment before
    return _after(keyframe, now, head.at), keyframe.touched


def _after(keyframe: Keyframe, now: datetime, at: datetime) -> _Head:
    """Return the head of a segment that has nothing but its keyframe. ``at``: when the last entry was written."""
    return _Head(
        segment=keyframe.segment,
        began_at=now,
        at=at,
        entries=keyframe.pieces,
        state=keyframe.state,
        moment=keyframe.moment,
        keyframe=keyframe.size,
    )


def _begun(cluster: Cluster, size: int, now: datetime, state: ClusterState, moment: PassInputs) -> _Head:
    segment = JournalSegment.objects.create(cluster=cluster, began_at=now, entries=1, size=size)
    return _Head(segment=segment.pk, began_at=now, at=now, entries=1, state=state, moment=moment, keyframe=size)


def _followed(head: _Head, size: int, now: datetime, state: ClusterState, moment: PassInputs) -> _Head:
    new = replace(head, at=now, entries=head.entries + 1, since=head.since + size, state=state, moment=moment)
    JournalSegment.objects.filter(pk=head.segment).update(entries=new.entries, size=F("size") + size)
    return new


def _kept(watch: Watch, head: _Head, blob: bytes) -> int:
    entry = JournalEntry.objects.create(segment_id=head.segment, offset=head.entries - 1, at=head.at, blob=blob)
    _heads[watch] = replace(head, entry=entry.pk)
    return entry.pk


def drop_beyond(*, limit: int) -> int:
    """Drop the oldest segments of every cluster whose journal is larger than ``limit`` bytes; how many were dropped.

    The newest segment, which is being written, always stays, and so does one whose keyframe is not stored yet.
    Decisions stay: they can no longer be replayed.
    """
    dropped = 0
    for cluster in Cluster.objects.all():
        kept = 0
        segments = (
            JournalSegment.objects.filter(cluster=cluster, complete=True).order_by("-pk").values_list("pk", "size")
        )
        for place, (pk, size) in enumerate(segments):
            kept += size
            if place and kept > limit:
                JournalSegment.objects.filter(pk=pk).delete()
                dropped += 1
    return dropped
