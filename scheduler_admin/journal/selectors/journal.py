"""Reads of the journal: a cluster as a pass saw it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.db.models import Max, QuerySet

from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.journal import JournalVersionError, PassInputs
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.journal.models import JournalEntry, JournalSegment


@dataclass(frozen=True)
class LiveMoment:
    """A cluster as it was last seen. ``at``: the last pass that saw it so."""

    state: ClusterState
    moment: PassInputs
    at: datetime


def live(cluster: Cluster) -> LiveMoment | None:
    """The newest that is known of a cluster; None where nothing was read yet, or not since an upgrade.

    Raises engine.planning.journal.CorruptJournalError.
    """
    segment = _segments(cluster).order_by("-pk").first()
    if segment is None:
        return None
    written = segment.written.aggregate(last=Max("offset"), at=Max("at"))
    try:
        state, moment = journal.read(chain(segment.pk, written["last"]))
    except JournalVersionError:
        return None
    # Passes that saw the same write no entry, so the last pass may be much later.
    status = ClusterStatus.objects.filter(cluster=cluster).only("pass_at").first()
    at = max(written["at"], status.pass_at) if status and status.pass_at else written["at"]
    return LiveMoment(state, msgspec.structs.replace(moment, now_ms=int(at.timestamp() * 1000)), at)


def as_of(cluster: Cluster, at: datetime) -> LiveMoment | None:
    """A cluster as the last pass up to a moment saw it; None where that is no longer, or not yet, in the journal.

    Raises JournalError.
    """
    entries = JournalEntry.objects.filter(segment__in=_segments(cluster), at__lte=at)
    entry = entries.order_by("-at", "-pk").first()
    if entry is None:
        return None
    state, moment = journal.read(chain(entry.segment_id, entry.offset))
    return LiveMoment(state, moment, entry.at)


def recorded_since(cluster: Cluster) -> datetime | None:
    """The first moment of a cluster that is still recorded; None where nothing is."""
    return _segments(cluster).order_by("pk").values_list("began_at", flat=True).first()


def stretch(cluster: Cluster, since: datetime, until: datetime) -> Iterator[tuple[ClusterState, PassInputs]]:
    """All that was seen of a cluster in a time, and what was seen last before it. Raises JournalError.

    A segment is read as a whole: no query is open while others go over what was found.
    """
    rows = _segments(cluster).filter(began_at__lt=until).order_by("pk")
    before, last_ms = rows.filter(began_at__lte=since).last(), -1
    for segment in rows.filter(pk__gte=before.pk) if before else rows:
        for number, (state, moment) in enumerate(journal.frames(list(chain(segment.pk, segment.entries)))):
            # While a keyframe was stored, passes went on in the segment before, and else right after the keyframe.
            if moment.now_ms == last_ms or (number == 0 and moment.now_ms < last_ms):
                continue
            yield state, moment
            last_ms = moment.now_ms


def _segments(cluster: Cluster) -> QuerySet[JournalSegment]:
    """Return those of a cluster that can be read."""
    return JournalSegment.objects.filter(cluster=cluster, complete=True)


def newest_entry(cluster: Cluster) -> int | None:
    """The last entry (id): as long as it is the same, so is what was seen of the cluster."""
    segment = _segments(cluster).order_by("-pk").first()
    return segment.written.order_by("-offset").values_list("pk", flat=True).first() if segment else None


def chain(segment: int, last: int) -> Iterator[bytes]:
    """The blobs of a segment (id) from its first up to the offset ``last``."""
    rows = JournalEntry.objects.filter(segment=segment, offset__lte=last).order_by("offset")
    return (bytes(blob) for blob in rows.values_list("blob", flat=True).iterator())
