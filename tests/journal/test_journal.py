"""What passes saw is kept as long as there is room for it, and costs nothing where nothing happens."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.planning.journal import read, same_state
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay import replay
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.journal.selectors.journal import chain, live
from scheduler_admin.journal.services import journal
from scheduler_admin.worker import tasks
from tests.builders import node, pod
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as moving:
        yield moving


@pytest.fixture
def observed(db: None) -> Cluster:
    """Decides without acting, so that only the test moves anything."""
    return add_cluster(mode="observe")


def offsets() -> list[list[int]]:
    """The entries of each segment, oldest first."""
    segments = JournalSegment.objects.order_by("pk")
    assert all(segment.entries == segment.written.count() for segment in segments)
    assert all(segment.size == sum(len(one.blob) for one in segment.written.all()) for segment in segments)
    return [list(segment.written.order_by("offset").values_list("offset", flat=True)) for segment in segments]


def reads_as(watch: Watch) -> bool:
    """Whether the newest entry gives back what is there now."""
    entry = JournalEntry.objects.order_by("-pk")[0]
    return same_state(read(chain(entry.segment_id, entry.offset))[0], watch.state)


def test_a_quiet_cluster_writes_nothing_more(observed: Cluster, watch: Watch, clock: time_machine.Traveller) -> None:
    """Not in an hour, keyframes included."""
    for _ in range(12):
        run(observed, watch)
        clock.shift(timedelta(minutes=5))
    assert offsets() == [[0]]


def test_a_scheduler_that_says_it_in_other_words_each_second_is_heard_once_a_minute(
    observed: Cluster, watch: Watch, clock: time_machine.Traveller
) -> None:
    """kube-scheduler counts nodes in its words; pages, rows and journal don't change with each of its tries."""
    news = set()
    for second in range(0, 150, 3):
        waiting = watch.state.pods["uid-prod-0"]
        watch.put(msgspec.structs.replace(waiting, unschedulable_message=f"{second} of 900 nodes have too little cpu"))
        run(observed, watch)
        news.add(ClusterStatus.objects.get().news)
        clock.shift(timedelta(seconds=3))
    assert (offsets(), len(news)) == ([[0, 1, 2]], 3)
    row = Decision.objects.get()
    assert "120 of 900 nodes" in row.document
    assert replay.same(row)


def test_what_else_changes_of_a_pod_is_seen_at_once(observed: Cluster, watch: Watch) -> None:
    """Also the first words, and that there are none any more."""
    for words in ("", "too little cpu", ""):
        waiting = watch.state.pods["uid-prod-0"]
        watch.put(msgspec.structs.replace(waiting, unschedulable_message=words))
        run(observed, watch)
        assert reads_as(watch)


def test_a_change_is_one_entry(observed: Cluster, watch: Watch) -> None:
    """And each of them gives back the cluster of then."""
    run(observed, watch)
    for number in range(3):
        watch.put(pod(f"new-{number}", queue="test", node="n1"))
        run(observed, watch, times=2)
        assert reads_as(watch)
    assert offsets() == [[0, 1, 2, 3]]


def test_after_ten_minutes_a_new_segment_begins(observed: Cluster, watch: Watch, clock: time_machine.Traveller) -> None:
    """So that no moment is long in reading."""
    watch.put([pod(f"other-{number}", queue="test", node="n1") for number in range(50)])
    for number in range(25):
        watch.put(node("n1", 4, labels={"turn": str(number)}))
        run(observed, watch)
        clock.shift(timedelta(minutes=1))
    assert offsets() == [list(range(10)), list(range(10)), list(range(5))]


def test_changes_that_outweigh_the_cluster_begin_a_new_segment(observed: Cluster, watch: Watch) -> None:
    """A few busy pods don't make their moments long in reading either."""
    for number in range(40):
        watch.put([pod(f"p-{number}-{one}", queue="test", node="n1") for one in range(3)])
        watch.gone(*(f"p-{number - 1}-{one}" for one in range(3) if number))
        run(observed, watch)
    assert 2 < len(offsets()) < 10
    assert reads_as(watch)


def test_a_worker_that_starts_anew_begins_a_segment_of_its_own(observed: Cluster, watch: Watch) -> None:
    """It knows nothing of what was written before; nor does one that gets the cluster back from another."""
    run(observed, watch)
    other = Watch()
    other.state = other.watcher.now = watch.state
    run(observed, other)
    watch.put(node("n2"))
    run(observed, watch)
    assert offsets() == [[0], [0], [0]]
    assert reads_as(watch)


def test_a_pass_that_comes_to_nothing_is_not_built_upon(
    observed: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its transaction took back was never seen."""
    run(observed, watch)
    watch.put(node("n2"))
    with monkeypatch.context() as failing:
        failing.setattr("scheduler_admin.worker.passes.store_status", lambda **_settings: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            run(observed, watch)
    assert offsets() == [[0]]
    run(observed, watch)
    assert offsets() == [[0], [0]]
    assert reads_as(watch)


def test_the_oldest_segments_go_first_and_the_newest_stays(
    observed: Cluster, watch: Watch, settings: LazySettings
) -> None:
    """However small the limit; the decisions stay, and say that they can't be replayed."""
    for number in range(4):
        watch.put(node("n1", 4, labels={"turn": str(number)}))
        run(observed, Watch(*vars(watch.state)["nodes"].values(), list(watch.state.pods.values())))
    row = Decision.objects.get(outcome="preempt")
    sizes = list(JournalSegment.objects.order_by("-pk").values_list("size", flat=True))
    assert journal.drop_beyond(limit=sum(sizes)) == 0
    assert journal.drop_beyond(limit=sum(sizes) - 1) == 1
    row.refresh_from_db()
    assert row.entry is None
    settings.JOURNAL_MB = 0
    tasks.prune()
    assert list(JournalSegment.objects.values_list("size", flat=True)) == sizes[:1]
    assert live(observed) is not None


def test_every_cluster_has_a_limit_of_its_own(observed: Cluster, watch: Watch) -> None:
    """A busy one takes nothing from a quiet one."""
    west = Cluster.objects.create(name="west", hierarchy=observed.hierarchy, mode="observe")
    run(west, Watch(node("n1")))
    for _ in range(3):
        run(observed, Watch(node("n1"), [pod(f"p{one}") for one in range(50)]))
    assert journal.drop_beyond(limit=1) == 2
    assert list(JournalSegment.objects.values_list("cluster__name", flat=True)) == ["east", "west"]


def test_a_segment_that_was_dropped_is_not_written_on(observed: Cluster, watch: Watch) -> None:
    """The next entry begins a new one."""
    run(observed, watch)
    JournalSegment.objects.all().delete()
    run(observed, watch)
    assert offsets() == [[0]]
    assert reads_as(watch)


def test_a_decision_points_at_the_pass_that_made_its_document(observed: Cluster, watch: Watch) -> None:
    """It stays with its entry while the document is the same, and moves on with new figures."""
    run(observed, watch)
    row = Decision.objects.get()
    first = row.entry
    assert first is not None
    watch.put(node("n9", 1, unschedulable=True, labels={"far": "away"}))
    run(observed, watch)
    row.refresh_from_db()
    figures = row.entry
    assert figures is not None
    assert figures.offset == 1, "the trace counts the new node"
    watch.put(node("n9", 1, unschedulable=True, labels={"far": "still"}))
    run(observed, watch)
    row.refresh_from_db()
    assert row.entry == figures
    assert offsets() == [[0, 1, 2]]


def test_a_pass_over_a_quiet_cluster_asks_one_thing_of_the_journal(observed: Cluster, watch: Watch) -> None:
    """Whether it still is as this worker left it."""
    run(observed, watch)
    with CaptureQueriesContext(connection) as queries:
        run(observed, watch)
    asked = [one["sql"] for one in queries if "history_journal" in one["sql"]]
    assert len(asked) == 1
    assert asked[0].startswith("SELECT")
