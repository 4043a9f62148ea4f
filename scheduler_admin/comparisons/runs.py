"""Runs a comparison in a worker of its own: reads the journal, lets every side decide, keeps what was found."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from time import monotonic
from typing import Any

import msgspec
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone
from django.utils.translation import gettext_noop

from engine.formats.tree_json.canonical import decode_tree
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.planning.comparison import (
    ComparedSide,
    EmptyRecordError,
    Recording,
    SideFigures,
    at_moment,
    record,
    rerun_recording,
    step_count,
)
from engine.planning.journal import JournalError, PassInputs
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.sides import side_of
from scheduler_admin.decisions.models import Victim
from scheduler_admin.journal.selectors.journal import as_of, stretch
from scheduler_admin.journal.selectors.snapshots import saved

log = logging.getLogger(__name__)

TELL_EVERY_S = 1.0
TOO_LONG = gettext_noop("The comparison took too long. Choose a shorter period or fewer configurations.")
BROKEN = gettext_noop("The comparison failed. See the worker's log for the reason.")


class _StoppedError(Exception):
    """Somebody stopped it, or took it for dead."""


def run(*, pk: int) -> None:
    """Run a comparison that waits; one that is taken already, or was stopped, is left alone."""
    now = timezone.now()
    waiting = Comparison.objects.filter(pk=pk, state=Comparison.State.WAITING)
    if not waiting.update(state=Comparison.State.RUNNING, began_at=now, seen_at=now):
        return
    one = Comparison.objects.select_related("cluster", "snapshot").get(pk=pk)
    try:
        _end(pk, Comparison.State.DONE, result=_compared(one, _Progress(pk)))
    except _StoppedError:
        return
    except (EmptyRecordError, JournalError) as error:
        told = str(error).rstrip(".")
        _end(pk, Comparison.State.FAILED, trouble=f"{told[:1].upper()}{told[1:]}.")
    except SoftTimeLimitExceeded:
        _end(pk, Comparison.State.FAILED, trouble=TOO_LONG)
    except Exception:
        log.exception("Comparison %s failed", pk)
        _end(pk, Comparison.State.FAILED, trouble=BROKEN)


def _end(pk: int, state: str, **found: Any) -> None:
    running = Comparison.objects.filter(pk=pk, state=Comparison.State.RUNNING)
    running.update(state=state, ended_at=timezone.now(), **found)


class _Progress:
    """Tells how far it has come, and hears whether it is to stop, once a second."""

    def __init__(self, pk: int) -> None:
        self._pk, self._done, self._told = pk, 0, monotonic()

    def expect(self, steps: int) -> None:
        """So many steps there are in all."""
        self._tell(steps=steps)

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        self.look()

    def look(self) -> None:
        """Raises _StoppedError."""
        if monotonic() - self._told >= TELL_EVERY_S:
            self._tell()

    def _tell(self, **more: int) -> None:
        self._told = monotonic()
        running = Comparison.objects.filter(pk=self._pk, state=Comparison.State.RUNNING)
        if not running.update(done=self._done, seen_at=timezone.now(), **more):
            raise _StoppedError

    def watching(self, side: ComparedSide) -> ComparedSide:
        """The side, whose every decision looks whether it is to stop: one look at a large cluster takes long."""

        def decide(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Decision:
            self.look()
            return side.decide(snapshot, tree, ask)

        return msgspec.structs.replace(side, decide=decide)


def _compared(one: Comparison, progress: _Progress) -> dict[str, Any]:
    """``since_ms`` and ``step_ms`` of what was looked at, ``record``: what happened, ``sides``: figures, in order."""
    sides = [progress.watching(side_of(each)) for each in one.sides]
    if one.until is None:
        return _at_moment(one, sides, progress)
    since_ms, until_ms = _ms(one.since), _ms(one.until)
    progress.expect(step_count(since_ms, until_ms) * (len(sides) + 1))
    recording = _recorded(one, since_ms, until_ms, progress.step)
    found = [rerun_recording(recording, side, each=progress.step) for side in sides]
    return {
        "since_ms": recording.since_ms,
        "step_ms": recording.steps[0].for_ms,
        "record": _plain(recording.figures),
        "sides": [_plain(figures) for figures in found],
    }


def _at_moment(one: Comparison, sides: list[ComparedSide], progress: _Progress) -> dict[str, Any]:
    progress.expect(len(sides))
    state, moment = _seen(one)
    found = []
    for side in sides:
        found.append(_plain(at_moment(state, moment, side)))
        progress.step()
    return {"since_ms": moment.now_ms, "step_ms": None, "record": None, "sides": found}


def _seen(one: Comparison) -> tuple[ClusterState, PassInputs]:
    """What was seen of the cluster. Raises EmptyRecordError where that is gone, JournalError."""
    if one.of_snapshot:
        if one.snapshot is None:
            raise EmptyRecordError(gettext_noop("The snapshot was deleted."))
        found = saved(one.snapshot)
        return found.state, found.moment
    seen = as_of(one.cluster, one.since)
    if seen is None:
        raise EmptyRecordError(gettext_noop("Nothing had been recorded by that time."))
    return seen.state, seen.moment


def _recorded(one: Comparison, since_ms: int, until_ms: int, each: Callable[[], None]) -> Recording:
    assert one.until is not None
    victims = Victim.objects.filter(cluster=one.cluster, evicted_at__gte=one.since, evicted_at__lt=one.until)
    frames: Iterator[tuple[ClusterState, PassInputs]] = stretch(one.cluster, one.since, one.until)
    return record(
        frames,
        decode_tree(one.measure.encode()) if one.measure else ROOT_ONLY,
        since_ms=since_ms,
        until_ms=until_ms,
        evicted=dict(victims.values_list("uid", "decision_id")),
        each=each,
    )


def _plain(figures: SideFigures) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    return plain


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
