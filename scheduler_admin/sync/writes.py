"""Writing a revision into a cluster's copy: once, onto what was seen, gone on with where a worker has died."""

from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.utils.translation import gettext_noop

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.refusals import ApiRefusedError
from engine.cluster.sync.copies import ClusterCopy as Seen
from engine.cluster.sync.copies import CopyChangedError, FieldConflict, FieldConflictError, Rewrite
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.clusters.status.store import mark_news
from scheduler_admin.core.faults import reached
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.kinds import kind_of
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.observation import keep

BEGUN_WITHIN = timedelta(minutes=1)
"""Who asked has turned to something else by then: it is given up, unless it turns out to have been done."""
_LATE = gettext_noop("The write could not start within a minute. Request it again. %(why)s")

_NOT_TAKEN = gettext_noop("The scheduler would reject the configuration, so nothing was written: %(why)s")
_SUPERSEDED = gettext_noop("Another revision was published in the meantime. Nothing was written.")


def carry_out(*, writing: Writing, connection: Connection, now: datetime) -> None:
    """Do what was asked, unless it is done, or something else is there, or in force, by now.

    Where no answer comes it stays to be tried again, for a minute. A repetition does nothing: what is there says so.
    """
    state = Writing.State
    confirmed = tuple(msgspec.convert(one, FieldConflict) for one in writing.confirmed)
    asked = Rewrite(onto=writing.onto, before=writing.before, text=writing.text, confirmed=confirmed)
    kind = kind_of(writing.form)
    try:
        there = kind.read(connection, (writing.namespace,))
        if there is not None and there.text == writing.text:
            _end(writing, state.WRITTEN, now, there)  # by a worker that did not live to say so
        elif there is None:
            _end(writing, state.CHANGED_MEANWHILE, now, note=str(CopyChangedError()))
        elif now - writing.at > BEGUN_WITHIN and there.version == writing.onto:
            _end(writing, state.FAILED, now, note=_LATE % {"why": writing.note})
        elif there.version == writing.onto and not _in_force(writing):
            _end(writing, state.CHANGED_MEANWHILE, now, note=_SUPERSEDED)
        elif why := _refusal(writing, connection):
            _end(writing, state.REJECTED, now, note=_NOT_TAKEN % {"why": why})
        else:
            reached("write asked")
            made = kind.write(connection, there, asked)
            reached("write answered")
            _end(writing, state.WRITTEN, now, made)
    except CopyChangedError as error:
        _end(writing, state.CHANGED_MEANWHILE, now, note=str(error))
    except FieldConflictError as error:
        writing.clashes = [msgspec.to_builtins(one) for one in error.conflicts]
        _end(writing, state.NEEDS_CONFIRMATION, now, note=str(error))
    except ApiRefusedError as error:
        _end(writing, state.REJECTED, now, note=str(error))
    except (ClusterError, ImportFailure) as error:
        put_off(writing=writing, why=str(error), now=now)


def _refusal(writing: Writing, connection: Connection) -> str:
    """Why the scheduler would not take the text; empty where it would, or can't be asked: lint has judged it, too."""
    try:
        return kind_of(writing.form).refusal(connection, writing.cluster.yunikorn_service, writing.text)
    except ClusterError:
        return ""


def _in_force(writing: Writing) -> bool:
    """Whether its revision still is: somebody may have gone back, in haste, from what it is about."""
    if writing.revision is None:
        return True
    return Revision.objects.filter(pk=writing.revision.pk, hierarchy__current=writing.revision.pk).exists()


def put_off(*, writing: Writing, why: str, now: datetime) -> None:
    """Let it be tried again, until it is too late."""
    if now - writing.at > BEGUN_WITHIN:
        _end(writing, Writing.State.FAILED, now, note=_LATE % {"why": why})
    elif writing.note != why:
        writing.note = why
        writing.save(update_fields=["note"])
        mark_news(writing.cluster_id)


@transaction.atomic
def _end(writing: Writing, state: Writing.State, now: datetime, made: Seen | None = None, note: str = "") -> None:
    writing.state, writing.note, writing.ended_at = state, note, now
    writing.full_clean()
    writing.save()
    if made is not None:
        copy = Copy.objects.get(cluster=writing.cluster_id)
        keep(copy=copy, seen=made, now=now, written=writing.revision, put_back=writing.revision is None)
    record(
        actor=None,
        by="engine",
        verb=f"configuration.write.{state.value}",
        target=f"{writing.title} → {writing.cluster}",
        details={"note": note, "asked_by": writing.by_name},
    )
    mark_news(writing.cluster_id)
