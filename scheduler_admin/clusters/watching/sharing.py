"""How the engine's workers share clusters out: each sees to its own part, once a second, in threads of its own.

Not as a task: of several workers that wait for the next one, the same may get it every time. One thread says that the
worker is there; another ends watches, which may have to wait for a pass and for connections.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db import DatabaseError, connection
from django.utils import timezone

from engine.cluster.watching.runtime import tune_runtime
from engine.cluster.watching.supervised import Supervised
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.clusters.watching.watchers import OWNER, WATCHES

log = logging.getLogger(__name__)
TURN_S = 1.0


class Sharing:
    """This worker's part, from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self._presence = Presence()
        self._present = Supervised("presence", self._be_present)
        self._turns = Supervised("sharing", self._share)

    def start(self) -> None:
        """Begin."""
        self._present.start()
        self._turns.start()

    def stop(self) -> None:
        """End, after a turn that has begun; then give every cluster back."""
        self._turns.stop()
        WATCHES.stop()
        self._present.stop()
        ownership.release(owner=OWNER)

    def _be_present(self) -> float:
        tune_runtime()  # again, as each cluster that came or went has some twenty threads
        if not _succeeds(partial(be_present, self._presence)):
            self._presence = Presence()
        return TURN_S

    def _share(self) -> float:
        _succeeds(share)
        return TURN_S


def _succeeds(turn: Callable[[], None]) -> bool:
    """Take a turn; whether the database was there. Where it is away, what is watched stays so."""
    try:
        turn()
    except DatabaseError as error:
        log.warning("Assigning clusters to engine workers failed: %s", error)
        return False
    finally:
        connection.close_if_unusable_or_obsolete()
    return True


class Presence:
    """Since when this worker has had its turns, without a long gap between two of them."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._latest: datetime | None = None

    def lasts(self, now: datetime) -> bool:
        """Note a turn; whether this worker was there for so long that one that was not heard of meanwhile is gone."""
        if self._since is None or self._latest is None or not timedelta() <= now - self._latest < ownership.ALIVE:
            self._since = now
        self._latest = now
        return now - self._since > ownership.ALIVE


def be_present(presence: Presence) -> None:
    """Say that this worker is there. The clusters of a worker that is gone are free from then on."""
    now = timezone.now()
    ownership.note(owner=OWNER, now=now)
    if presence.lasts(now) and (gone := ownership.release_silent(now=now)):
        log.warning("Engine workers are gone, and others take their clusters: %s", ", ".join(gone))


def share() -> None:
    """Drop what this worker watches in vain, and give a cluster to a worker that has fewer.

    Where a pass came before the cluster was read, and it has been read since, the next one is due at once.
    """
    own = Cluster.objects.filter(hierarchy__current__isnull=False, owner=OWNER)
    WATCHES.keep(own.values_list("pk", flat=True))
    ownership.make_due(WATCHES.newly_read(), owner=OWNER)
    if heir := ownership.heir(owner=OWNER, now=timezone.now()):
        WATCHES.give(heir)
