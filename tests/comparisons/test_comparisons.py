"""A comparison is begun by a person, run by a worker, and stops when it is told to; what went wrong is said."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
import time_machine
from celery.exceptions import SoftTimeLimitExceeded
from django.core.exceptions import ValidationError
from django.utils import timezone

from engine.planning.comparison import SideFigures
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons import runs, services, tasks
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.sides import Chosen, ways
from scheduler_admin.journal.models import JournalEntry, JournalSegment
from scheduler_admin.journal.services.snapshots import save_snapshot
from scheduler_admin.queues.models import Draft
from tests.comparisons.conftest import NOON

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(minutes=2)
OWN = Chosen("current")


def begin(
    cluster: Cluster,
    author: User,
    *sides: Chosen,
    since: datetime | None = NOON,
    until: datetime | None = LATER,
) -> Comparison:
    """Two minutes under the tree in force, unless it is said otherwise."""
    return services.start(cluster=cluster, author=author, since=since, until=until, sides=sides or [OWN])


def done(comparison: Comparison) -> Comparison:
    """Once its worker has run it."""
    runs.run(pk=comparison.pk)
    comparison.refresh_from_db()
    return comparison


def figures(found: dict[str, Any]) -> SideFigures:
    return msgspec.convert(found, SideFigures)


def test_a_recorded_time_is_run_under_every_side(cluster: Cluster, admin: User) -> None:
    """Nobody was preempted in the record; by the tree's own policy one would have been, by priority nobody."""
    one = done(begin(cluster, admin, OWN, Chosen("current", "priority/kube-scheduler")))
    assert (one.state, one.trouble, one.steps) == (Comparison.State.DONE, "", 3 * 120)
    assert one.result is not None
    happened, own, priority = (figures(each) for each in (one.result["record"], *one.result["sides"]))
    assert (happened.preempted, own.preempted, priority.preempted) == (0, 1, 0)
    assert happened.below_ms == 90_000
    assert own.below_ms is not None
    assert own.below_ms < happened.below_ms
    assert own.work == {"cpu": 91 * 1000}
    assert (one.result["since_ms"], one.result["step_ms"]) == (int(NOON.timestamp() * 1000), 1000)


def test_a_moment_is_the_newest_or_any_before(cluster: Cluster, admin: User) -> None:
    """At noon nobody asked yet."""
    newest, noon = (done(begin(cluster, admin, since=at, until=None)) for at in (None, NOON))
    for one, preempted in ((newest, 1), (noon, 0)):
        assert one.result is not None
        assert figures(one.result["sides"][0]).preempted == preempted
        assert one.result["record"] is None


def test_a_saved_snapshot_is_compared_whatever_became_of_the_journal(cluster: Cluster, admin: User) -> None:
    """Also where it is older than all that is still recorded; once it is deleted, that is said."""
    kept = save_snapshot(cluster=cluster, name="before", actor=admin)
    JournalSegment.objects.all().delete()
    one, gone = (
        services.start(cluster=cluster, author=admin, since=None, until=None, sides=[OWN], snapshot=kept) for _ in "12"
    )
    assert (one.since, one.of_snapshot) == (kept.at, "before")
    result = done(one).result
    assert result is not None
    assert figures(result["sides"][0]).preempted == 1
    kept.delete()
    assert done(gone).trouble == "The snapshot was deleted."


def test_a_draft_is_compared_as_it_was(cluster: Cluster, admin: User, draft: Draft) -> None:
    """What happens to it afterwards changes nothing."""
    one = begin(cluster, admin, Chosen(f"draft:{draft.pk}"), Chosen("revision:1"))
    assert [side.get("draft") or side.get("revision") for side in one.sides] == ["next", 1]
    assert one.sides[0]["version"] == draft.version
    draft.delete()
    assert done(one).state == Comparison.State.DONE


def test_of_another_policy_the_trees_parameters_say_nothing(cluster: Cluster, admin: User) -> None:
    """Every policy that there is can be chosen, with nothing set."""
    one = begin(cluster, admin, *[Chosen("current", way) for way in ways()])
    assert [f"{side['policy']}/{side['dialect']}" for side in one.sides] == ways()
    assert [side["parameters"] for side in one.sides] == [{}] * len(ways())


@pytest.mark.parametrize(
    "side",
    [
        Chosen("revision:7"),
        Chosen("draft:7"),
        Chosen("draft:x"),
        Chosen("revision:" + "9" * 40),
        Chosen(""),
        Chosen("current", "later"),
        Chosen("current", "fence/nothing"),
    ],
)
def test_a_side_that_is_not_there_is_told(cluster: Cluster, admin: User, side: Chosen) -> None:
    """And nothing is begun."""
    with pytest.raises(ValidationError) as refused:
        begin(cluster, admin, OWN, side)
    assert list(refused.value.message_dict) == ["sides"]
    assert not Comparison.objects.exists()


def test_there_are_as_many_sides_as_can_be_read(cluster: Cluster, admin: User) -> None:
    """And one at least; the same twice is one."""
    with pytest.raises(ValidationError, match="Choose at least one queue tree"):
        services.start(cluster=cluster, author=admin, since=NOON, until=LATER, sides=[])
    with pytest.raises(ValidationError, match="at most 8 configurations"):
        begin(cluster, admin, *[Chosen(f"revision:{number}") for number in range(9)])
    assert len(begin(cluster, admin, OWN, OWN).sides) == 1


@pytest.mark.parametrize(
    ("since", "until", "field"),
    [
        (None, NOON, "since"),
        (NOON, NOON + timedelta(seconds=59), "until"),
        (NOON - timedelta(hours=25), LATER, "until"),
        (NOON, LATER + timedelta(hours=1), "until"),
        (LATER + timedelta(hours=1), None, "since"),
        (NOON - timedelta(seconds=1), None, "since"),
        (NOON - timedelta(hours=2), NOON - timedelta(hours=1), "until"),
    ],
)
def test_a_time_that_was_not_recorded_is_told(
    cluster: Cluster, admin: User, since: datetime | None, until: datetime | None, field: str
) -> None:
    """At the field that is wrong."""
    with pytest.raises(ValidationError) as refused:
        begin(cluster, admin, since=since, until=until)
    assert list(refused.value.message_dict) == [field]


def test_a_cluster_that_was_never_read_has_nothing_to_compare(cluster: Cluster, admin: User) -> None:
    """It says so."""
    JournalSegment.objects.all().delete()
    with pytest.raises(ValidationError, match="Nothing has been recorded for this cluster yet"):
        begin(cluster, admin)


def test_two_may_be_open_of_one_person_and_ten_of_all(cluster: Cluster, admin: User) -> None:
    """Of others they are not counted; what has ended is not either."""
    begin(cluster, admin)
    done(begin(cluster, admin))
    begin(cluster, admin)
    with pytest.raises(ValidationError, match="You already have two comparisons"):
        begin(cluster, admin)
    for number in range(4):
        other = create_user(username=f"other-{number}", role=User.Role.AUDITOR)
        begin(cluster, other)
        begin(cluster, other)
    with pytest.raises(ValidationError, match="Too many comparisons are waiting"):
        begin(cluster, create_user(username="last", role=User.Role.AUDITOR))


def test_one_that_waits_is_stopped_before_it_runs(cluster: Cluster, admin: User) -> None:
    """And stays so; who did it is written down."""
    one = begin(cluster, admin)
    assert services.stop(comparison=one, actor=admin)
    assert not services.stop(comparison=one, actor=admin)
    assert (done(one).state, one.result) == (Comparison.State.STOPPED, None)
    verbs = AuditEvent.objects.filter(target=str(one)).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["comparison.start", "comparison.stop"]


def test_one_that_runs_hears_within_a_second(cluster: Cluster, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at every step and at every decision, once a second at most."""
    one, looks = begin(cluster, admin), []

    def seconds() -> float:
        looks.append(len(looks))
        if len(looks) == 60:
            services.stop(comparison=one, actor=admin)
        return float(len(looks)) / 2

    monkeypatch.setattr(runs, "monotonic", seconds)
    assert (done(one).state, one.result) == (Comparison.State.STOPPED, None)
    assert len(looks) < 66
    assert 0 < one.done < one.steps


def test_one_whose_worker_is_gone_is_told(cluster: Cluster, admin: User, clock: time_machine.Traveller) -> None:
    """After a minute of silence; a worker that comes back too late keeps nothing."""
    one = begin(cluster, admin)
    Comparison.objects.update(state=Comparison.State.RUNNING, seen_at=timezone.now())
    services.tidy(now=timezone.now() + timedelta(seconds=59))
    assert Comparison.objects.get().state == Comparison.State.RUNNING
    services.tidy(now=timezone.now() + timedelta(seconds=61))
    one.refresh_from_db()
    assert (one.state, one.trouble) == (Comparison.State.FAILED, services.KILLED)
    assert done(one).state == Comparison.State.FAILED


@pytest.mark.parametrize(
    ("error", "trouble"), [(SoftTimeLimitExceeded(), runs.TOO_LONG), (RuntimeError("secret"), runs.BROKEN)]
)
def test_what_goes_wrong_is_said(
    cluster: Cluster, admin: User, monkeypatch: pytest.MonkeyPatch, error: Exception, trouble: str
) -> None:
    """In a sentence; the details are in the log."""

    def fail(*_args: Any, **_more: Any) -> None:
        raise error

    monkeypatch.setattr(runs, "record", fail)
    one = done(begin(cluster, admin))
    assert (one.state, one.trouble) == (Comparison.State.FAILED, trouble)


def test_a_journal_that_is_gone_or_torn_is_said(cluster: Cluster, admin: User) -> None:
    """By then."""
    first, second = begin(cluster, admin), begin(cluster, admin, since=NOON, until=None)
    JournalEntry.objects.update(blob=b"\x03torn")
    assert done(first).trouble.startswith("The journal is torn")
    JournalSegment.objects.all().delete()
    assert done(second).state == Comparison.State.FAILED


def test_the_one_that_waited_longest_is_sent(cluster: Cluster, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Again and again, until somebody takes it; with nothing to do nothing is sent."""
    sent: list[tuple[int]] = []
    monkeypatch.setattr(tasks.run_comparison, "apply_async", lambda args, **_more: sent.append(args))
    tasks.send_comparisons()
    first, second = begin(cluster, admin), begin(cluster, admin)
    tasks.send_comparisons()
    tasks.send_comparisons()
    tasks.run_comparison(first.pk)
    tasks.send_comparisons()
    assert sent == [(first.pk,), (first.pk,), (second.pk,)]


def test_old_ones_go(cluster: Cluster, admin: User, clock: time_machine.Traveller) -> None:
    """After a month, and beyond two hundred; those that are open stay."""
    old, waits = done(begin(cluster, admin)), begin(cluster, admin)
    services.tidy(now=timezone.now() + timedelta(days=30))
    assert Comparison.objects.filter(pk=old.pk).exists()
    services.tidy(now=timezone.now() + timedelta(days=31))
    assert list(Comparison.objects.all()) == [waits]
