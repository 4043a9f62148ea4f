"""Keyframes of large clusters: pieces that a thread encodes and stores while passes go on.

A pass waits for none of them. It copies the state, which takes no time, and the thread reads that copy. The segment
that the keyframe begins counts once all pieces are stored: whoever reads the journal before that, or after the worker
was killed meanwhile, reads the segment before.
"""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Thread

from django.db import connection, transaction
from django.db.models import F

from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.journal import PassInputs
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.monitoring.logs import start_logging_with
from scheduler_admin.journal.models import JournalEntry, JournalSegment

log = logging.getLogger(__name__)

LARGE = 20_000
"""Pods from which on a keyframe is not stored by the pass itself, which takes 0.2 seconds up to here."""


@dataclass
class Keyframe:
    """A keyframe that a thread stores, or has stored."""

    segment: int
    state: ClusterState
    moment: PassInputs
    pieces: int
    size: int = 0
    """Bytes of the pieces that are stored."""
    failed: bool = False
    touched: set[str] | None = field(default_factory=set)
    """The pods (uids) that passes have found changed since; None: unknown."""
    ended: Event = field(default_factory=Event)

    @property
    def stored(self) -> bool:
        """Whether all pieces are stored."""
        return self.ended.is_set() and not self.failed


def begin(*, cluster: Cluster, state: ClusterState, moment: PassInputs, now: datetime) -> Keyframe:
    """Begin a segment, and store its keyframe in a thread once the transaction of the pass is committed."""
    pieces = journal.count_pieces(state)
    segment = JournalSegment.objects.create(cluster=cluster, began_at=now, entries=pieces, complete=False)
    keyframe = Keyframe(segment.pk, state, moment, pieces)
    thread = Thread(target=_store, args=(keyframe, cluster, now), name=f"keyframe of {cluster.name}", daemon=True)
    transaction.on_commit(thread.start)
    return keyframe


def _store(keyframe: Keyframe, cluster: Cluster, at: datetime) -> None:
    start_logging_with(cluster=cluster.name)
    try:
        _delete_unfinished(keyframe, cluster)
        for offset, blob in enumerate(journal.encode_pieces(keyframe.state, keyframe.moment)):
            JournalEntry.objects.create(segment_id=keyframe.segment, offset=offset, at=at, blob=blob)
            keyframe.size += len(blob)
        JournalSegment.objects.filter(pk=keyframe.segment).update(size=F("size") + keyframe.size)
    except Exception:  # the database may be away, or another worker has the cluster now: a later pass begins anew
        log.exception("The keyframe could not be stored.")
        keyframe.failed = True
    finally:
        connection.close()
        keyframe.ended.set()


def _delete_unfinished(keyframe: Keyframe, cluster: Cluster) -> None:
    """Delete what a worker left that was killed while it stored a keyframe: one worker at a time has a cluster."""
    JournalSegment.objects.filter(cluster=cluster, complete=False, pk__lt=keyframe.segment).delete()
