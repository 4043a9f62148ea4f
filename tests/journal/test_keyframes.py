"""Keyframes of large clusters are stored by a thread, and no moment is lost or out of order, whatever happens."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
import time_machine

from engine.model.snapshot import ClusterState
from engine.planning import journal as form
from engine.planning.journal import PassInputs, same_state
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay import replay
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.journal.selectors.journal import as_of, live, recorded_since, stretch
from scheduler_admin.journal.services import journal, keyframes
from tests.builders import node
from tests.journal.test_journal import clock, observed
from tests.worker.passing import run
from tests.worker.watch import Watch

__all__ = ["clock", "observed"]
pytestmark = pytest.mark.django_db(transaction=True)
BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Every cluster is large; a keyframe is stored as long as this is set, but for its first piece."""
    monkeypatch.setattr(journal, "LARGE", 1)
    monkeypatch.setattr(form, "PIECE", 2)
    opened, pieces = Event(), form.encode_pieces

    def slow(state: ClusterState, moment: PassInputs) -> Iterator[bytes]:
        for piece in pieces(state, moment):
            yield piece
            opened.wait(60)

    monkeypatch.setattr(form, "encode_pieces", slow)
    opened.set()
    yield opened
    opened.set()


def stored(watch: Any) -> None:
    """Wait until the thread has ended."""
    assert journal._keyframes[watch].ended.wait(60)


def passes(cluster: Cluster, watch: Watch, clock: time_machine.Traveller, *turns: int) -> None:
    """Run passes a second after each other, each of which sees another label of the node."""
    for turn in turns:
        watch.put(node("n1", 4, labels={"turn": str(turn)}))
        run(cluster, watch)
        clock.shift(timedelta(seconds=1))


def turn_of(state: ClusterState) -> int:
    """The label of the node."""
    return int(state.nodes["n1"].labels["turn"])


def is_live(cluster: Cluster, watch: Watch) -> bool:
    """Whether the journal gives back what is there now."""
    found = live(cluster)
    return found is not None and same_state(found.state, watch.state)


def started(cluster: Cluster, watch: Watch, clock: time_machine.Traveller) -> None:
    """Two passes, between which the first keyframe is stored."""
    passes(cluster, watch, clock, 0)
    stored(watch)
    passes(cluster, watch, clock, 1)


def test_the_first_keyframe_counts_once_it_is_stored(
    observed: Cluster, watch: Watch, clock: time_machine.Traveller, gate: Event
) -> None:
    """What passes decided before that can be replayed then."""
    started(observed, watch, clock)
    [segment] = JournalSegment.objects.all()
    assert segment.complete
    assert segment.entries == segment.written.count() == form.count_pieces(watch.state) + 2
    assert segment.size == sum(len(one.blob) for one in segment.written.all())
    assert is_live(observed, watch)
    assert replay.same(Decision.objects.get())


def test_passes_go_on_in_the_old_segment_while_a_keyframe_is_stored(
    observed: Cluster, watch: Watch, clock: time_machine.Traveller, gate: Event
) -> None:
    """Each moment is there at once, and afterwards once and in order."""
    started(observed, watch, clock)
    clock.shift(timedelta(minutes=10))
    gate.clear()
    for turn in (2, 3, 4):
        passes(observed, watch, clock, turn)
        assert is_live(observed, watch)
    gate.set()
    stored(watch)
    passes(observed, watch, clock, 5, 6)
    assert list(JournalSegment.objects.order_by("pk").values_list("complete", flat=True)) == [True, True]
    assert is_live(observed, watch)
    whole = stretch(observed, BEGAN, BEGAN + timedelta(hours=1))
    assert [turn_of(state) for state, _moment in whole] == list(range(7))
    late = BEGAN + timedelta(minutes=10, seconds=2)
    found = [as_of(observed, late + timedelta(seconds=second)) for second in range(5)]
    assert [turn_of(one.state) for one in found if one] == [2, 3, 4, 5, 6]


def test_a_worker_that_is_killed_amid_a_keyframe_leaves_a_valid_journal(
    observed: Cluster, watch: Watch, clock: time_machine.Traveller, gate: Event
) -> None:
    """The next one deletes what it left."""
    started(observed, watch, clock)
    clock.shift(timedelta(minutes=10))
    gate.clear()
    passes(observed, watch, clock, 2)
    left = journal._keyframes.pop(watch)  # type: ignore[call-overload]
    del journal._heads[watch]  # type: ignore[arg-type]
    assert not JournalSegment.objects.get(pk=left.segment).complete
    assert is_live(observed, watch)
    assert recorded_since(observed) == BEGAN
    JournalSegment.objects.filter(pk=left.segment).update(began_at=BEGAN)
    gate.set()
    assert left.ended.wait(60)
    passes(observed, watch, clock, 3)
    stored(watch)
    passes(observed, watch, clock, 4)
    assert not JournalSegment.objects.filter(pk=left.segment).exists()
    assert not JournalEntry.objects.filter(segment=left.segment).exists()
    assert is_live(observed, watch)


def test_a_keyframe_that_can_not_be_stored_is_tried_again(
    observed: Cluster, watch: Watch, clock: time_machine.Traveller, gate: Event
) -> None:
    """Passes go on meanwhile where they were."""
    started(observed, watch, clock)
    clock.shift(timedelta(minutes=10))
    gate.clear()
    passes(observed, watch, clock, 2)
    JournalSegment.objects.filter(complete=False).delete()
    gate.set()
    stored(watch)
    passes(observed, watch, clock, 3)
    assert is_live(observed, watch)
    stored(watch)
    passes(observed, watch, clock, 4)
    assert is_live(observed, watch)
    assert JournalSegment.objects.filter(complete=True).count() == 2


def test_a_small_cluster_has_no_thread(observed: Cluster, watch: Watch) -> None:
    """Its keyframe is one entry, which the pass stores."""
    assert len(watch.state.pods) < keyframes.LARGE
    run(observed, watch)
    assert watch not in journal._keyframes
    assert is_live(observed, watch)
