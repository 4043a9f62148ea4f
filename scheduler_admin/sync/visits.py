"""One visit to a cluster's copy: what people asked for is written, then it is looked at."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import ClusterIdentity
from engine.cluster.errors import ClusterError
from engine.cluster.sync.copies import CopyEffect
from scheduler_admin.sync.models import Copy, Writing, WritingQuerySet
from scheduler_admin.sync.observation import keep_error, look
from scheduler_admin.sync.writes import carry_out, put_off

SETTLING = timedelta(seconds=5)
"""So soon it is looked at again while the scheduler has yet to take over what was written."""
EVERY = timedelta(minutes=1)
"""So often each copy is looked at; at once where somebody asks."""
AGAIN = timedelta(seconds=5)
"""What was asked for and could not be done is tried again after so long."""
CLAIM = timedelta(seconds=20)
"""So long whoever looks has for it before another may."""


def claim(copy: Copy, now: datetime) -> bool:
    """Whether the copy is due, and this is the one that visits it now."""
    return Copy.objects.filter(pk=copy.pk, due_at__lte=now).update(due_at=now + CLAIM) == 1


def visit(*, copy: Copy, connection: Connection, namespaces: Iterable[str], now: datetime) -> None:
    """Write what was asked for, look, and say when to look again. Nothing is done in another cluster.

    ``namespaces``: where YuniKorn runs, in which its ConfigMap is unless somebody said where it is.
    """
    try:
        ClusterIdentity(connection, copy.cluster.uid).check()
    except ClusterError as error:
        fail(copy=copy, error=error, now=now)
        return
    for writing in _asked_for(copy):
        carry_out(writing=writing, connection=connection, now=now)
    copy.refresh_from_db()
    look(copy=copy, connection=connection, namespaces=namespaces, now=now)
    _come_again(copy, now)


def fail(*, copy: Copy, error: ClusterError, now: datetime) -> None:
    """The cluster can't be reached: say so, here and at what was asked for."""
    for writing in _asked_for(copy):
        put_off(writing=writing, why=str(error), now=now)
    keep_error(copy=copy, sentence=str(error))
    _come_again(copy, now)


def _come_again(copy: Copy, now: datetime) -> None:
    """Unless somebody asked for another look in the meantime."""
    settling = Copy.objects.filter(pk=copy.pk, effect=CopyEffect.PENDING).exists()
    after = AGAIN if _asked_for(copy).exists() else SETTLING if settling else EVERY
    Copy.objects.filter(pk=copy.pk, due_at=now + CLAIM).update(due_at=now + after)


def _asked_for(copy: Copy) -> WritingQuerySet:
    return Writing.objects.filter(cluster=copy.cluster_id, state=Writing.State.IN_PROGRESS)
