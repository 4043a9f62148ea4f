"""Pauses and windows: where they hold, and who wins."""

from datetime import datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import Interlock
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause, Window
from scheduler_admin.clusters.safeguards.holds import holds_of
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.pauses import pause, resume
from scheduler_admin.clusters.safeguards.stops import Stops

NOON = datetime.fromisoformat("2026-01-05T12:00:00+00:00")
HERE = Cluster(pk=1, name="east")
PATHS = ("root.a", "root.a.b", "root.ab", "root.c")


def window(kind: str, begins: int = 9, ends: int = 17, **settings: Any) -> Window:
    """Daily hours in UTC that hold noon unless said otherwise."""
    defaults = {"cluster": HERE, "weekdays": list(WEEKDAYS), "zone": "UTC", "reason": "peak", "by": "olga"}
    return Window(kind=kind, begins=time(begins), ends=time(ends), **{**defaults, **settings})


def closed(*queues: str, pauses: Any = (), windows: Any = ()) -> Interlock | None:
    """What stops an eviction that concerns these queues at noon."""
    return Stops(pauses, windows, NOON).interlock(queues)


def test_a_pause_of_a_queue_holds_for_what_lies_below_whether_it_asks_or_gives() -> None:
    """Not for a queue whose name merely begins alike."""
    pauses = [Pause(cluster=HERE, queue="root.a", at=NOON)]
    assert closed("root.a.b", "root.c", pauses=pauses) is Interlock.QUEUE_PAUSED
    assert closed("root.c", "root.a", pauses=pauses) is Interlock.QUEUE_PAUSED
    assert closed("root.ab", "root.c", pauses=pauses) is None


@pytest.mark.parametrize("cluster", [HERE, None])
def test_a_pause_of_the_cluster_or_of_all_holds_for_every_queue(cluster: Cluster | None) -> None:
    """And for asks of no queue at all."""
    assert closed("", pauses=[Pause(cluster=cluster, at=NOON)]) is Interlock.PAUSED


def test_a_pause_ends_at_its_time() -> None:
    """By itself, to the moment."""
    assert closed("root.a", pauses=[Pause(cluster=HERE, at=NOON, until=NOON)]) is None
    assert closed("root.a", pauses=[Pause(cluster=HERE, at=NOON, until=NOON + timedelta(seconds=1))])


def test_deny_beats_allow() -> None:
    """Within both, nothing is evicted."""
    assert closed("root.a", windows=[window("allow"), window("deny")]) is Interlock.DENY_WINDOW


def test_where_there_are_allow_windows_evictions_are_only_within_one() -> None:
    """Any one that holds for the queue is enough; queues without one are free."""
    closed_now = window("allow", 1, 2, queue="root.a")
    assert closed("root.a.b", windows=[closed_now]) is Interlock.ALLOW_WINDOW
    assert closed("root.c", windows=[closed_now]) is None
    assert closed("root.c", "root.a", windows=[closed_now]) is Interlock.ALLOW_WINDOW
    assert closed("root.a.b", windows=[closed_now, window("allow")]) is None


@given(
    st.lists(
        st.builds(
            window,
            st.sampled_from(["deny", "allow"]),
            st.integers(0, 23),
            st.integers(0, 23),
            queue=st.sampled_from(["", *PATHS]),
        ),
        max_size=4,
    ),
    st.sets(st.sampled_from(PATHS), min_size=1),
    st.integers(0, 23),
)
def test_windows_as_the_rule_says_them(windows: list[Window], queues: set[str], hour: int) -> None:
    """Held back just when a deny window of a queue is open, or a queue has allow windows and none is open."""
    now = NOON.replace(hour=hour)

    def of(kind: str, queue: str) -> list[bool]:
        mine = [one for one in windows if one.kind == kind]
        mine = [one for one in mine if not one.queue or f"{queue}.".startswith(f"{one.queue}.")]
        return [
            one.begins.hour <= hour < one.ends.hour
            if one.begins < one.ends
            else hour >= one.begins.hour or hour < one.ends.hour
            for one in mine
        ]

    denied = any(any(of("deny", queue)) for queue in queues)
    not_allowed = any(of("allow", queue) and not any(of("allow", queue)) for queue in queues)
    want = Interlock.DENY_WINDOW if denied else Interlock.ALLOW_WINDOW if not_allowed else None
    assert Stops([], windows, now).interlock(queues) is want


@pytest.fixture
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(name="east")


def shown(cluster: Cluster) -> list[tuple[str, str]]:
    """What pages of the cluster show: interlock and reason."""
    return [(hold.interlock.value, hold.reason) for hold in holds_of(ClusterStatus.objects.get(cluster=cluster))]


def test_pauses_of_all_of_one_and_of_a_queue_are_apart(cluster: Cluster) -> None:
    """Who lets all clusters go on lets none go on that was paused for another reason."""
    pause(cluster=cluster, actor=None, reason="disks")
    pause(cluster=None, actor=None, reason="incident")
    assert shown(cluster) == [("paused", "disks"), ("paused", "incident")]
    resume(cluster=None, actor=None, reason="over")
    assert shown(cluster) == [("paused", "disks")]
    assert [event.verb for event in AuditEvent.objects.filter(target="*")] == ["cluster.resume", "cluster.pause"]


def test_pausing_twice_keeps_the_first_and_resuming_twice_does_nothing(cluster: Cluster) -> None:
    """One event each."""
    for reason in ("first", "second"):
        pause(cluster=cluster, actor=None, reason=reason)
    assert Pause.objects.get().reason == "first"
    for _ in range(2):
        resume(cluster=cluster, actor=None, reason="")
    assert AuditEvent.objects.count() == 2


def test_a_pause_that_has_ended_makes_room_for_another(cluster: Cluster) -> None:
    """It need not be resumed first."""
    with time_machine.travel(NOON, tick=False) as clock:
        pause(cluster=cluster, actor=None, reason="lunch", until=NOON + timedelta(hours=1))
        clock.shift(timedelta(hours=2))
        pause(cluster=cluster, actor=None, reason="dinner")
    assert Pause.objects.get().reason == "dinner"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"reason": "  "}, "reason"),
        ({"queue": "root.nowhere"}, "queue"),
        ({"until": timezone.now() - timedelta(days=1)}, "until"),
    ],
)
def test_a_pause_says_why_where_and_until_when(cluster: Cluster, wrong: dict[str, Any], field: str) -> None:
    """What can't be is refused at its field, and nothing is paused."""
    with pytest.raises(ValidationError) as caught:
        pause(**{"cluster": cluster, "actor": None, "reason": "x", **wrong})
    assert list(caught.value.message_dict) == [field]
    assert not Pause.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": ""}, "zone"),
        ({"weekdays": []}, "weekdays"),
        ({"weekdays": ["monday"]}, "weekdays"),
        ({"weekdays": "mon"}, "weekdays"),
        ({"first_day": NOON.date(), "last_day": NOON.date() - timedelta(days=1)}, "last_day"),
        ({"kind": "perhaps"}, "kind"),
        ({"reason": ""}, "reason"),
    ],
)
def test_a_window_that_could_not_be_is_refused_at_its_field(wrong: dict[str, Any], field: str, db: None) -> None:
    """Nothing is guessed."""
    bad = window("deny", **{"cluster": None, **wrong}) if "kind" not in wrong else window("perhaps", cluster=None)
    with pytest.raises(ValidationError) as caught:
        bad.full_clean()
    assert field in caught.value.message_dict
