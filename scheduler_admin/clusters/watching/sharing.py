"""How the engine's workers share clusters out: each sees to its own part, once a second, in a thread of its own.

Not as a task: of several workers that wait for the next one, the same may get it every time.
"""

import logging

from django.db import DatabaseError, connection
from django.utils import timezone

from engine.cluster.watching.supervised import Supervised
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.clusters.watching.watchers import OWNER, WATCHES

log = logging.getLogger(__name__)
TURN_S = 1.0


class Sharing:
    """This worker's part, from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self._turns = Supervised("sharing", self._turn)

    def start(self) -> None:
        """Begin."""
        self._turns.start()

    def stop(self) -> None:
        """End, after a turn that has begun; then give every cluster back."""
        self._turns.stop()
        WATCHES.stop()
        ownership.release(owner=OWNER)

    def _turn(self) -> float:
        try:
            take_turn()
        except DatabaseError as error:  # it is away: what is watched stays so
            log.warning("Assigning clusters to engine workers failed: %s", error)
        finally:
            connection.close()
        return TURN_S


def take_turn() -> None:
    """Say that this worker is there, drop what it watches in vain, and give a cluster to a worker that has fewer."""
    now = timezone.now()
    ownership.note(owner=OWNER, now=now)
    own = Cluster.objects.filter(hierarchy__current__isnull=False, owner=OWNER)
    WATCHES.keep(own.values_list("pk", flat=True))
    if heir := ownership.heir(owner=OWNER, now=now):
        WATCHES.give(heir)
